//! sux: `VFilter`, a static filter of sharded fuse graphs with fingerprints of any width.

use std::fmt::Debug;

use dsi_progress_logger::no_logging;
use sux::bits::BitFieldVec;
use sux::dict::VFilter;
use sux::func::VBuilder;
use sux::traits::{TryIntoUnaligned, Unaligned};
use sux::utils::ToSig;

use super::{Ask, Build, DEFAULT, FUSE, Lookup, Row};

/// Keys that the crate can hash.
pub(crate) trait Signed: ToSig<[u64; 2]> + Debug + Sync {}

impl<K: ToSig<[u64; 2]> + Debug + Sync> Signed for K {}

type Packed<K> = VFilter<K, BitFieldVec<Box<[usize]>>>;

/// Unaligned reads are the crate's fastest.
struct Static<K>(Unaligned<Packed<K>>);

impl<K: Signed> Lookup<K> for Static<K> {
    fn may_contain(&self, key: &K) -> bool {
        self.0.contains(key)
    }
}

impl<K: Signed> Build<K> for Static<K> {
    fn build(ask: Ask, keys: &[K]) -> Self {
        let width = ask.fpp.recip().log2().ceil() as usize;
        let builder = VBuilder::default().expected_num_keys(ask.items).max_num_threads(1);
        let packed = Packed::try_par_new_with_builder(keys, width, builder, no_logging![]);
        let packed = packed.expect("distinct keys can be peeled");
        Self(packed.try_into_unaligned().expect("narrow fingerprints can be read unaligned"))
    }
}

pub(super) fn rows<'k, K: Signed + 'k>() -> Vec<Row<'k, K>> {
    vec![
        Row::built::<Static<K>>("sux VFilter")
            .against(&[FUSE, DEFAULT])
            .up_to(10_000_000, "too large: 4 GB to build"),
    ]
}
