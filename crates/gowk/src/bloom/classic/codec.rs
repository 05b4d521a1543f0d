//! The filter as a file. `docs/format.md`, family 2.

use super::{filter::Bloom, layout::Scheme, sizing::BloomParams};
use crate::{
    filter::Filter,
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    stats::Family,
    store::Line,
};
use alloc::{vec, vec::Vec};

impl<S: Body> Persist for Bloom<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::Bloom,
            promise: self.params().promise(),
            keys: libm::round(self.estimated_items()) as u64,
            hasher: *self.hasher(),
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        let shape = self.params();
        params.u64(shape.bits()).u32(shape.probes()).u8(shape.scheme() as u8).bytes(&[0; 3]);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::Bloom)?;
        let bits = fields.u64("the number of bits")?;
        let probes = fields.u32("the number of probes")?;
        let scheme = fields.u8("the index scheme")?;
        let scheme = Scheme::from_tag(scheme).ok_or_else(|| {
            fields.wrong("the index scheme", 1, "is not one that this build knows; upgrade gowk")
        })?;
        fields.zeros::<3>("the reserved bytes after the scheme")?;
        fields.end()?;
        let params =
            BloomParams::with_shape(bits, probes, scheme, head.promise.items)?.with_promise(head.promise);
        head.expect_lines(params.lines(), body.lines().len())?;
        head.expect_no_bits_beyond(params.bits(), body.lines())?;
        Ok(Self::over(params, head.hasher, body))
    }
}
