//! The filter as a file. `docs/format.md`, family 6.

use super::{filter::CountingBloom, sizing::CountingParams};
use crate::{
    bloom::blocked::Span,
    filter::Filter,
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    stats::Family,
    store::Line,
};
use alloc::{vec, vec::Vec};

impl<S: Body> Persist for CountingBloom<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::CountingBloom,
            promise: self.params.promise(),
            keys: libm::round(self.estimated_items()) as u64,
            hasher: *self.hasher(),
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        params
            .u64(self.params.blocks())
            .u8(self.params.span() as u8)
            .u8(self.params.lanes() as u8)
            .bytes(&[0; 6]);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::CountingBloom)?;
        let blocks = fields.u64("the number of blocks")?;
        let lines = fields.u8("the lines of a block")?;
        let span = Span::from_lines(lines)
            .ok_or_else(|| fields.wrong("the lines of a block", 1, "are not 1, 2 or 4"))?;
        let lanes = fields.u8("the lanes of a line")?;
        fields.zeros::<6>("the reserved bytes after the lanes")?;
        fields.end()?;
        let params = CountingParams::with_shape(blocks, span, lanes.into(), head.promise.items)?
            .with_promise(head.promise);
        head.expect_lines(params.lines(), body.lines().len())?;
        Ok(Self::over(params, head.hasher, body))
    }
}
