//! The sketch as a file. `docs/format.md`, family 11.

use super::{sizing::CountMinParams, table::CountMin};
use crate::{
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    params::Promise,
    stats::Family,
    store::Line,
};
use alloc::{vec, vec::Vec};

/// What the head promises: the width, and the error as a part of all occurrences.
fn promise(params: &CountMinParams) -> Promise {
    Promise { items: params.width(), fpp: params.error().min(1.0) }
}

impl<S: Body> Persist for CountMin<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::CountMin,
            promise: promise(&self.params),
            keys: self.total,
            hasher: self.hasher,
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        params
            .u64(self.params.width())
            .u32(self.params.depth())
            .u8(self.params.is_conservative().into())
            .bytes(&[0; 3]);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::CountMin)?;
        let width = fields.u64("the width")?;
        let depth = fields.u32("the depth")?;
        let shape = CountMinParams::with_shape(width, depth)?;
        let params = match fields.u8("the way of updating")? {
            0 => shape.plain(),
            1 => shape,
            _ => return Err(fields.wrong("the way of updating", 1, "is neither 0 nor 1")),
        };
        fields.zeros::<3>("the reserved bytes after the way of updating")?;
        fields.end()?;
        if head.promise != promise(&params) {
            return Err(OpenError::Field {
                name: "the promise",
                offset: 24,
                why: "is not that of the width",
            });
        }
        head.expect_lines(params.lines(), body.lines().len())?;
        Ok(Self { params, hasher: head.hasher, total: head.keys, store: body })
    }
}
