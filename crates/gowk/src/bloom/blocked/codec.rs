//! The filter as a file. `docs/format.md`, family 1.

use super::{
    filter::BlockedBloom,
    sizing::{BlockedParams, Span},
};
use crate::{
    filter::Filter,
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    stats::Family,
    store::Line,
};
use alloc::{vec, vec::Vec};

impl<S: Body> Persist for BlockedBloom<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::BlockedBloom,
            promise: self.params.promise(),
            keys: libm::round(self.estimated_items()) as u64,
            hasher: *self.hasher(),
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        write_shape(&self.params, params);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::BlockedBloom)?;
        let params = read_shape(&mut fields, head.promise.items)?.with_promise(head.promise);
        fields.end()?;
        head.expect_lines(params.lines(), body.lines().len())?;
        Ok(Self::over(params, head.hasher, body))
    }
}

/// Blocks, lines and lanes.
pub(crate) fn write_shape(shape: &BlockedParams, params: &mut ParamsWriter) {
    params.u64(shape.blocks()).u8(shape.span() as u8).u8(shape.lanes() as u8).bytes(&[0; 6]);
}

/// The inverse of [`write_shape`], for a filter that was made for so many items.
pub(crate) fn read_shape(fields: &mut Fields<'_>, items: u64) -> Result<BlockedParams, OpenError> {
    let blocks = fields.u64("the number of blocks")?;
    let lines = fields.u8("the lines of a block")?;
    let span = Span::from_lines(lines)
        .ok_or_else(|| fields.wrong("the lines of a block", 1, "are not 1, 2 or 4"))?;
    let lanes = fields.u8("the lanes of a line")?;
    fields.zeros::<6>("the reserved bytes after the lanes")?;
    Ok(BlockedParams::with_shape(blocks, span, lanes.into(), items)?)
}
