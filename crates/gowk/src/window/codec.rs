//! The window as a file, its time included. `docs/format.md`, family 8.

use super::{
    clock::{Clock, Pace},
    filter::Window,
    sizing::WindowParams,
};
use crate::{
    bloom::blocked::Span,
    filter::Filter,
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    stats::Family,
    store::Line,
};
use alloc::{vec, vec::Vec};

impl<S: Body> Persist for Window<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::Window,
            promise: self.params.promise(),
            keys: libm::round(self.estimated_items()) as u64,
            hasher: *self.hasher(),
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        let shape = &self.params;
        params.u64(shape.blocks()).u8(shape.span() as u8).u8(shape.lanes() as u8);
        params.u8(shape.generations() as u8).u8(self.pace() as u8).bytes(&[0; 4]);
        params.u64(self.remembers()).u64(self.now());
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::Window)?;
        let blocks = fields.u64("the number of blocks")?;
        let lines = fields.u8("the lines of a generation")?;
        let span = Span::from_lines(lines)
            .ok_or_else(|| fields.wrong("the lines of a generation", 1, "are not 1, 2 or 4"))?;
        let lanes = fields.u8("the lanes of a line")?;
        let generations = fields.u8("the generations")?;
        let pace = fields.u8("the pace")?;
        let pace = Pace::from_tag(pace).ok_or_else(|| fields.wrong("the pace", 1, "is not 1 or 2"))?;
        fields.zeros::<4>("the reserved bytes after the pace")?;
        let window = fields.u64("the length of the window")?;
        if window == 0 {
            return Err(fields.wrong("the length of the window", 8, "is 0"));
        }
        if pace == Pace::Inserts && window != head.promise.items {
            return Err(fields.wrong("the length of the window", 8, "is not the number of items promised"));
        }
        let now = fields.u64("the time")?;
        fields.end()?;
        let items = head.promise.items;
        let params = WindowParams::with_shape(blocks, span, lanes.into(), generations.into(), items)?
            .with_promise(head.promise);
        head.expect_lines(params.lines(), body.lines().len())?;
        let clock = Clock::new(pace, window, params.generations(), params.blocks(), now);
        Ok(Self::over(params, clock, head.hasher, body))
    }
}
