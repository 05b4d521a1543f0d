//! What a filter tells about itself.

use core::fmt;

/// The kinds of filter, with the numbers that stand for them in files. Appended to, never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum Family {
    /// [`crate::BlockedBloom`]
    BlockedBloom = 1,
    /// [`crate::Bloom`]
    Bloom = 2,
    /// [`crate::SplitBlockBloom`]
    SplitBlockBloom = 3,
    /// [`crate::ScalableBloom`]
    ScalableBloom = 4,
    /// [`crate::Cuckoo`]
    Cuckoo = 5,
    /// [`crate::CountingBloom`]
    CountingBloom = 6,
    /// [`crate::BinaryFuse`]
    BinaryFuse = 7,
    /// [`crate::Window`]
    Window = 8,
    /// [`crate::Bitmap`]
    Bitmap = 9,
    /// [`crate::TwoBitMap`]
    TwoBitMap = 10,
    /// [`crate::CountMin`]
    CountMin = 11,
    /// [`crate::TopK`]
    TopK = 12,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::BlockedBloom,
        Self::Bloom,
        Self::SplitBlockBloom,
        Self::ScalableBloom,
        Self::Cuckoo,
        Self::CountingBloom,
        Self::BinaryFuse,
        Self::Window,
        Self::Bitmap,
        Self::TwoBitMap,
        Self::CountMin,
        Self::TopK,
    ];

    /// The family of this number, if this version knows it.
    pub fn from_tag(tag: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|family| *family as u16 == tag)
    }

    /// The name under which humans meet it.
    pub fn name(self) -> &'static str {
        match self {
            Self::BlockedBloom => "blocked bloom",
            Self::Bloom => "bloom",
            Self::SplitBlockBloom => "split-block bloom",
            Self::ScalableBloom => "scalable bloom",
            Self::Cuckoo => "cuckoo",
            Self::CountingBloom => "counting bloom",
            Self::BinaryFuse => "binary fuse",
            Self::Window => "window",
            Self::Bitmap => "bitmap",
            Self::TwoBitMap => "two-bit map",
            Self::CountMin => "count-min",
            Self::TopK => "top-k",
        }
    }
}

impl Family {
    /// The word by which it is asked for, as in `gowk build --family cuckoo`; none for what is not built so.
    pub fn option(self) -> Option<&'static str> {
        Some(match self {
            Self::BlockedBloom => "blocked",
            Self::Bloom => "bloom",
            Self::SplitBlockBloom => "split-block",
            Self::ScalableBloom => "scalable",
            Self::Cuckoo => "cuckoo",
            Self::CountingBloom => "counting",
            Self::BinaryFuse => "fuse",
            Self::Window => "window",
            Self::Bitmap => "bitmap",
            Self::TwoBitMap | Self::CountMin | Self::TopK => return None,
        })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was promised, and what is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// What kind of filter it is.
    pub family: Family,
    /// The keys that it was made for.
    pub items: u64,
    /// The false-positive rate that was promised for that many.
    pub fpp: f64,
    /// Its bits, or the bits of its slots.
    pub bits: u64,
    /// The part of its bits that are set, or of its slots that are used.
    pub fill: f64,
    /// How many different keys have come, as far as the bits tell.
    pub estimated_items: f64,
    /// The rate at which it now answers "maybe" for keys that are not in it.
    pub fpp_now: f64,
}

impl Stats {
    /// How many more keys may come before the promise is broken; 0 when it already is.
    pub fn room(&self) -> u64 {
        self.items.saturating_sub(libm::round(self.estimated_items) as u64)
    }

    /// Whether more keys have come than were promised, beyond what the estimate may be off by.
    pub fn is_overfull(&self) -> bool {
        self.fpp_now > self.fpp * 1.05 && self.estimated_items > self.items as f64
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} filter, {} bits, {:.1} % full: about {:.0} of {} keys, false positives {:.3} % now, {:.3} % promised",
            self.family,
            self.bits,
            100.0 * self.fill,
            self.estimated_items,
            self.items,
            100.0 * self.fpp_now,
            100.0 * self.fpp
        )?;
        match self.family {
            Family::Cuckoo => write!(
                f,
                "; removing a key that was never inserted takes another's away in {:.3} % of cases",
                100.0 * self.fpp_now
            ),
            _ => Ok(()),
        }
    }
}
