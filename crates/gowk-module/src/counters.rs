//! What the module has done, for `INFO`.

use crate::callbacks::Section;
use std::{
    ffi::CStr,
    sync::atomic::{AtomicU64, Ordering},
};

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident $text:literal,)*) => {
        $($(#[doc = $doc])* pub(crate) static $name: Counter = Counter::new();)*

        const ALL: &[(&CStr, &Counter)] = &[$(($text, &$name)),*];
    };
}

counters! {
    /// Filters and sketches made by commands.
    CREATED c"created",
    /// Items that were asked for.
    ASKED c"items_asked",
    /// Items that were surely new.
    ADDED c"items_added",
    /// Items that were there, or seemed to be.
    SEEN c"items_seen_before",
    /// Items that found no place.
    REFUSED c"items_refused",
    /// Items taken out.
    REMOVED c"items_removed",
    /// Chunks and files taken in.
    LOADED c"chunks_loaded",
}

/// A number that only grows.
pub(crate) struct Counter(AtomicU64);

impl Counter {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Commands run one at a time, so a load and a store do.
    #[inline(always)]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }
}

pub(crate) fn write(section: &mut Section<'_>) {
    for (name, counter) in ALL {
        section.field(name, counter.0.load(Ordering::Relaxed));
    }
}
