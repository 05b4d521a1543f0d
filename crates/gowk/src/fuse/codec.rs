//! The filter as a file. `docs/format.md`, family 7.

use super::{
    filter::BinaryFuse,
    sizing::{Arity, FuseParams},
};
use crate::{
    filter::Filter,
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    stats::Family,
    store::Line,
};
use alloc::{vec, vec::Vec};

impl<S: Body> Persist for BinaryFuse<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::BinaryFuse,
            promise: self.params().promise(),
            keys: self.len(),
            hasher: *self.hasher(),
        }
    }

    fn write_params(&self, fields: &mut ParamsWriter) {
        let params = self.params();
        fields.u64(params.range()).u64(self.layout.multiplier);
        fields
            .u8(params.arity() as u8)
            .u8(params.width() as u8)
            .u8(params.segment_log() as u8)
            .bytes(&[0; 5]);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::BinaryFuse)?;
        let range = fields.u64("the range of the chain")?;
        let multiplier = fields.u64("the multiplier")?;
        if multiplier.is_multiple_of(2) {
            return Err(fields.wrong("the multiplier", 8, "is even"));
        }
        let arity = fields.u8("the slots of a key")?;
        let arity = Arity::from_slots(arity)
            .ok_or_else(|| fields.wrong("the slots of a key", 1, "are not 3 or 4"))?;
        let width = fields.u8("the width of a fingerprint")?;
        let log = fields.u8("the size of a segment")?;
        fields.zeros::<5>("the reserved bytes after the size of a segment")?;
        fields.end()?;
        let params = FuseParams::with_shape(arity, width.into(), range, log.into(), head.promise.items)?;
        head.expect_lines(params.lines(), body.lines().len())?;
        let params = params.with_promise(head.promise);
        Ok(Self::over(params, params.layout(multiplier), head.keys, head.hasher, body))
    }
}
