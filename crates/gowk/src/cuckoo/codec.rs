//! The filter as a file. `docs/format.md`, family 5.

use super::{
    extras::Extras,
    filter::{Counts, Cuckoo},
    sizing::{CuckooParams, Shape},
};
use crate::{
    filter::Filter,
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    stats::Family,
    store::Line,
};
use alloc::{vec, vec::Vec};

impl<S: Body> Persist for Cuckoo<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::Cuckoo,
            promise: self.params.promise(),
            keys: self.len(),
            hasher: *self.hasher(),
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        let shape = self.params.shape();
        params.u64(self.params.buckets()).u8(shape.candidates() as u8).u8(shape.slots() as u8);
        params.u8(self.params.print_bits() as u8).u8(self.params.spare_bits() as u8);
        params.u8(u8::from(self.counts.swept)).bytes(&[0; 3]);
        params
            .u64(self.counts.used)
            .u64(self.counts.stacked)
            .u64(self.extras.classes())
            .u64(self.extras.total());
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines(), self.extras.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::Cuckoo)?;
        let buckets = fields.u64("the number of buckets")?;
        let (candidates, slots) = (fields.u8("the candidate buckets")?, fields.u8("the slots of a bucket")?);
        let shape = Shape::from_numbers(candidates.into(), slots.into())
            .ok_or_else(|| fields.wrong("the candidate buckets", 2, "and slots are not of a known shape"))?;
        let (print_bits, spare_bits) = (fields.u8("the print bits")?, fields.u8("the spare bits")?);
        let params = CuckooParams::with_shape(
            shape,
            buckets,
            print_bits.into(),
            spare_bits.into(),
            head.promise.items,
        )?
        .with_promise(head.promise);
        let swept = match fields.u8("the flags")? {
            flags @ 0..=1 => flags == 1,
            _ => return Err(fields.wrong("the flags", 1, "has bits that this version does not know")),
        };
        fields.zeros::<3>("the reserved bytes after the flags")?;
        let used = fields.u64("the used slots")?;
        if used > params.slots() {
            return Err(fields.wrong("the used slots", 8, "are more than there are slots"));
        }
        let stacked = fields.u64("the stacked slots")?;
        if stacked > used {
            return Err(fields.wrong("the stacked slots", 8, "are more than there are used ones"));
        }
        let classes = fields.u64("the counted classes")?;
        let total = fields.u64("the counted keys")?;
        if used.checked_add(total) != Some(head.keys) {
            return Err(fields.wrong(
                "the counted keys",
                8,
                "and the used slots are not as many as the keys inside",
            ));
        }
        let unsound = fields.wrong("the counted classes", 16, "do not fit the table behind the slots");
        fields.end()?;
        let lines = body.lines().len();
        let table = params.lines() as usize;
        if lines < table {
            head.expect_lines(params.lines(), lines)?;
        }
        let extras = Extras::over(body.part(table..lines)?, classes, total).ok_or(unsound)?;
        let store = if lines == table { body } else { body.part(0..table)? };
        Ok(Self::over(params, head.hasher, store, extras, Counts { used, stacked, swept }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyFilter, Insert, Remove, store::Mapped, testing::members};

    /// With stacked and counted keys.
    fn sample() -> Cuckoo {
        let mut filter = Cuckoo::builder().items(3_000).fpp(0.01).seed(9).build().unwrap();
        for key in members(2_500) {
            filter.insert(&key).unwrap();
        }
        for (times, key) in members(40).enumerate() {
            for _ in 0..times {
                filter.insert(&key).unwrap();
            }
        }
        filter
    }

    #[test]
    fn what_is_written_is_read_back() {
        let filter = sample();
        let again = Cuckoo::from_bytes(&filter.to_bytes()).unwrap();
        assert_eq!(again, filter);
        assert_eq!(again.len(), filter.len());
        assert_eq!(again.to_bytes(), filter.to_bytes());
        let any = AnyFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert!(members(2_500).all(|key| any.may_contain(&key)));
        let empty = Cuckoo::builder().items(1).seed(1).build().unwrap();
        assert_eq!(Cuckoo::from_bytes(&empty.to_bytes()).unwrap(), empty);
    }

    #[test]
    fn a_mapped_filter_answers_like_the_heap() {
        let filter = sample();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("online.gowk");
        filter.save(&path).unwrap();
        let mapped: Cuckoo<Mapped> = Cuckoo::open(&path).unwrap();
        assert_eq!(mapped, filter);
        let keys: Vec<u64> = (0..20_000).map(crate::testing::key).collect();
        assert_eq!(mapped.may_contain_many(&keys), filter.may_contain_many(&keys));
        for key in &keys {
            assert_eq!(mapped.may_contain(key), filter.may_contain(key));
            assert_eq!(mapped.count(key), filter.count(key));
        }
        let mut heap = mapped.to_heap().unwrap();
        for (times, key) in members(40).enumerate() {
            for _ in 0..=times {
                assert_eq!(heap.remove(&key), crate::Removed::Gone);
            }
        }
        assert_eq!(heap.len(), 2_460);
    }

    /// The bytes of a file with a field of its parameters changed and the checksum of the head made right.
    fn forged(bytes: &[u8], offset: usize, value: u64, size: usize) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        let len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let mut sum = xxhash_rust::xxh3::Xxh3::new();
        sum.update(&bytes[..120]);
        sum.update(&bytes[128..128 + len]);
        bytes[120..128].copy_from_slice(&sum.digest().to_le_bytes());
        bytes
    }

    #[test]
    fn forged_parameters_are_refused() {
        let bytes = sample().to_bytes();
        assert!(Cuckoo::from_bytes(&forged(&bytes, 140, 0, 1)).is_ok(), "forged as it was");
        for (offset, value, size) in [
            (128, 0, 8), // buckets
            (128, 1 << 20, 8),
            (128, u64::MAX, 8),
            (136, 5, 1), // candidates
            (136, 3, 1),
            (137, 3, 1), // slots
            (137, 0, 1),
            (138, 0, 1), // print bits
            (138, 8, 1),
            (138, 17, 1),
            (139, 4, 1), // spare bits
            (139, 200, 1),
            (140, 2, 1),        // flags
            (141, 1, 1),        // zero
            (144, u64::MAX, 8), // used
            (144, 5, 8),
            (152, 1 << 40, 8), // stacked
            (160, 1 << 40, 8), // classes
            (160, u64::MAX, 8),
            (168, u64::MAX, 8), // keys counted
            (168, 0, 8),
            (40, 7, 8), // keys inside
        ] {
            let outcome = Cuckoo::from_bytes(&forged(&bytes, offset, value, size));
            assert!(outcome.is_err(), "{value} at {offset} gave {outcome:?}");
        }
    }

    #[test]
    fn a_cut_or_damaged_file_is_refused() {
        let bytes = sample().to_bytes();
        for len in (0..bytes.len()).step_by(61) {
            assert!(Cuckoo::from_bytes(&bytes[..len]).is_err(), "cut to {len}");
        }
        for at in (0..bytes.len()).step_by(13) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Cuckoo::from_bytes(&damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_forged_body_breaks_nothing_but_answers() {
        // Every slot full and every count at the top: no operation may panic or loop.
        let mut bytes = sample().to_bytes();
        let start = 192;
        bytes[start..].fill(0xff);
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[start..]);
        bytes[104..112].copy_from_slice(&sum.to_le_bytes());
        let bytes = forged(&bytes, 140, 0, 1);
        let mut filter = Cuckoo::from_bytes(&bytes).unwrap();
        for key in 0..1_000u64 {
            filter.insert(&key).ok();
            filter.remove(&key);
            filter.may_contain(&key);
            filter.count(&key);
        }
        filter.shrink_to_fit().ok();
        filter.grow().ok();
        filter.stats();
    }
}
