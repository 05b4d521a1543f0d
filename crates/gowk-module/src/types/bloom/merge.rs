//! The union of filters.
//!
//! Links that hash alike and fit each other are or-ed into one, the larger folded to the smaller, as long as their keys fit into it
//! together. Others are put side by side: that keeps each one's rate, where or-ing would fill one filter with the keys of two. So a
//! union is always possible, also of filters with different seeds, and its rate is the sum of the rates at most.

use super::chain::{Chain, Link};
use gowk::{Merge, ParamsError};

/// Takes all keys of the other chain into this one.
pub(crate) fn merge(into: &mut Chain, from: &Chain) -> Result<(), ParamsError> {
    for link in &from.links {
        if !into.links.iter_mut().any(|to| absorb(to, link)) {
            into.links.push(link.copy()?);
        }
    }
    // The one with the most room takes the next keys.
    into.links.sort_by_key(|link| link.capacity.saturating_sub(link.keys));
    Ok(())
}

/// Ors a link into another if both fit into the smaller.
fn absorb(to: &mut Link, from: &Link) -> bool {
    let keys = to.keys.saturating_add(from.keys);
    let capacity = to.capacity.min(from.capacity);
    if keys > capacity || to.filter.union(&from.filter).is_err() {
        return false;
    }
    // Keys that were in both are counted once, as far as the bits tell.
    let told = to.filter.estimated_items().round() as u64;
    to.keys = told.clamp(to.keys.max(from.keys), keys);
    (to.capacity, to.rate) = (capacity, to.rate.max(from.rate));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::bloom::Spec;
    use gowk::Hasher;

    fn chain(seed: u64, capacity: u64, keys: std::ops::Range<u32>) -> Chain {
        let spec = Spec { capacity, error: 0.01, expansion: 2, growing: false };
        let mut chain = Chain::new(spec, Hasher::new(seed), None).unwrap();
        let keys: Vec<String> = keys.map(|i| i.to_string()).collect();
        chain.add(keys.iter().map(String::as_bytes), None, |added| assert!(added.is_ok()));
        chain
    }

    fn holds(chain: &Chain, mut keys: std::ops::Range<u32>) -> bool {
        keys.all(|i| chain.may_contain(i.to_string().as_bytes()))
    }

    #[test]
    fn chains_that_fit_into_one_become_one() {
        let mut union = chain(1, 10_000, 0..3_000);
        merge(&mut union, &chain(1, 10_000, 2_000..5_000)).unwrap();
        assert_eq!(union.links.len(), 1);
        assert!(holds(&union, 0..5_000));
        // 5000 different ones, as far as the bits tell.
        assert!((4_800..5_200).contains(&union.keys()), "{}", union.keys());
    }

    #[test]
    fn chains_that_hash_differently_or_are_full_are_put_side_by_side() {
        for (mut union, other) in [
            (chain(1, 10_000, 0..3_000), chain(2, 10_000, 3_000..6_000)),
            (chain(1, 3_000, 0..3_000), chain(1, 3_000, 3_000..6_000)),
        ] {
            merge(&mut union, &other).unwrap();
            assert_eq!(union.links.len(), 2);
            assert!(holds(&union, 0..6_000));
            let wrong = (100_000..200_000u32).filter(|i| union.may_contain(i.to_string().as_bytes())).count();
            assert!(wrong < 2_200, "{wrong} of 100,000");
        }
    }

    #[test]
    fn a_union_takes_more_keys() {
        let mut union = chain(1, 1_000, 0..1_000);
        merge(&mut union, &chain(2, 10_000, 1_000..2_000)).unwrap();
        let keys: Vec<String> = (2_000..30_000).map(|i| i.to_string()).collect();
        union.add(keys.iter().map(String::as_bytes), None, |added| assert!(added.is_ok()));
        assert!(holds(&union, 0..30_000));
    }
}
