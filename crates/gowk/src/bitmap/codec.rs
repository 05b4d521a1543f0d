//! The maps as files. `docs/format.md`, families 9 and 10.

use super::{flat::Bitmap, layout::Fields, set::IntegerSet, two_bit::TwoBitMap};
use crate::{
    format::{self, Body, Head, OpenError, ParamsWriter, Persist},
    hash::Hasher,
    params::Promise,
    stats::Family,
    store::{Line, words},
};
use alloc::{vec, vec::Vec};

/// An exact set has no false positives. The head asks for a rate above 0, so it gets the least there is.
const EXACT: f64 = f64::MIN_POSITIVE;

/// What the head says of a map. It hashes nothing: the hasher is the default one under seed 0.
fn head_of<const SHIFT: u32>(family: Family, fields: Fields<SHIFT>, keys: u64) -> Head {
    Head { family, promise: Promise { items: fields.ids(), fpp: EXACT }, keys, hasher: Hasher::new(0) }
}

fn write_fields<const SHIFT: u32>(fields: Fields<SHIFT>, params: &mut ParamsWriter) {
    params.u64(fields.range().start).u64(fields.range().end);
}

/// The range of a file, held against its head and its body.
fn read_fields<const SHIFT: u32>(
    head: &Head,
    mut params: format::Fields<'_>,
    body: &[Line],
) -> Result<Fields<SHIFT>, OpenError> {
    let start = params.u64("the start of the range")?;
    let end = params.u64("the end of the range")?;
    let fields = Fields::new(start..end)?;
    if head.promise.items != fields.ids() {
        return Err(params.wrong("the end of the range", 8, "does not make as many ids as the head says"));
    }
    if head.keys > fields.ids() {
        return Err(OpenError::Field {
            name: "the keys inside",
            offset: 40,
            why: "are more than the range has ids",
        });
    }
    params.end()?;
    head.expect_lines(fields.lines(), body.len())?;
    // Reading takes for granted that there is nothing outside the range. Only two lines reach beyond it, so that it is
    // asked of a mapped file as well.
    if !fields.edges_are_clear(words(body)) {
        return Err(OpenError::Field { name: "the body", offset: 16, why: "has bits set outside the range" });
    }
    Ok(fields)
}

impl<S: Body> Persist for Bitmap<S> {
    type Store = S;

    fn head(&self) -> Head {
        head_of(Family::Bitmap, self.fields, self.len())
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        write_fields(self.fields, params);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, params: format::Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::Bitmap)?;
        Ok(Self { fields: read_fields(head, params, body.lines())?, store: body })
    }
}

impl<S: Body> Persist for TwoBitMap<S> {
    type Store = S;

    fn head(&self) -> Head {
        let counts = self.counts();
        head_of(Family::TwoBitMap, self.fields, counts.once + counts.more)
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        write_fields(self.fields, params);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, params: format::Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::TwoBitMap)?;
        Ok(Self { fields: read_fields(head, params, body.lines())?, store: body })
    }
}
