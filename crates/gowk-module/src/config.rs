//! The settings, under RedisBloom's names, and a few of our own.
//!
//! | setting | default | |
//! |---|---|---|
//! | `bf-error-rate` | 0.01 | of filters that a `BF.ADD` creates |
//! | `bf-initial-size` | 100 | items of such a filter, to begin with |
//! | `bf-expansion-factor` | 2 | how many times what it holds a filter holds once it has grown |
//! | `cf-initial-size` | 1024 | items of a cuckoo filter that a `CF.ADD` creates |
//! | `cf-error-rate` | 0.01 | of cuckoo filters that were not told one |
//! | `cf-expansion-factor` | 1 | 0: cuckoo filters do not grow |
//! | `cf-bucket-size`, `cf-max-iterations`, `cf-max-expansions` | 2, 20, 32 | kept for RedisBloom's sake |
//! | `bf-compat` | 0 | 1: new filters have RedisBloom's layout, so that their dumps can go back |
//! | `bf-memory-limit` | 0 | bytes that one key may take; 0: no limit |
//!
//! Redis before 8 and Valkey before 9 take names with the module's before them only: `bf.bf-error-rate`. Everywhere they can be given when the module
//! is loaded: `loadmodule libgowk.so bf-error-rate 0.001`, or RedisBloom's `ERROR_RATE`, `INITIAL_SIZE`, `CF_MAX_EXPANSIONS`.

use crate::{callbacks::Args, error::CommandError, words};
use std::{
    ffi::CStr,
    sync::atomic::{AtomicU64, Ordering},
};

/// A setting and its value.
pub(crate) struct Setting {
    pub(crate) name: &'static CStr,
    /// From and to, of whole numbers; rates have none.
    pub(crate) range: Option<(i64, i64)>,
    /// Whether it is a number of bytes, which may be written as `64mb`.
    pub(crate) memory: bool,
    /// The number, or the bits of the rate.
    value: AtomicU64,
}

const fn number(name: &'static CStr, default: u64, least: i64, most: i64) -> Setting {
    Setting { name, range: Some((least, most)), memory: false, value: AtomicU64::new(default) }
}

const fn rate(name: &'static CStr, default: f64) -> Setting {
    Setting { name, range: None, memory: false, value: AtomicU64::new(default.to_bits()) }
}

/// The largest rate there is; above it RedisBloom takes this one.
pub(crate) const MOST_ERROR: f64 = 0.25;
/// The most items of one filter.
pub(crate) const MOST_CAPACITY: i64 = 1 << 30;

pub(crate) static BF_ERROR_RATE: Setting = rate(c"bf-error-rate", 0.01);
pub(crate) static BF_INITIAL_SIZE: Setting = number(c"bf-initial-size", 100, 1, MOST_CAPACITY);
pub(crate) static BF_EXPANSION_FACTOR: Setting = number(c"bf-expansion-factor", 2, 0, 32_768);
pub(crate) static CF_BUCKET_SIZE: Setting = number(c"cf-bucket-size", 2, 1, 255);
pub(crate) static CF_INITIAL_SIZE: Setting = number(c"cf-initial-size", 1024, 2, MOST_CAPACITY);
pub(crate) static CF_MAX_ITERATIONS: Setting = number(c"cf-max-iterations", 20, 1, 65_535);
pub(crate) static CF_EXPANSION_FACTOR: Setting = number(c"cf-expansion-factor", 1, 0, 32_768);
pub(crate) static CF_MAX_EXPANSIONS: Setting = number(c"cf-max-expansions", 32, 1, 65_536);
pub(crate) static CF_ERROR_RATE: Setting = rate(c"cf-error-rate", 0.01);
pub(crate) static BF_MEMORY_LIMIT: Setting =
    Setting { memory: true, ..number(c"bf-memory-limit", 0, 0, i64::MAX) };

pub(crate) static BF_COMPAT: Setting = number(c"bf-compat", 0, 0, 1);

pub(crate) fn settings() -> &'static [&'static Setting] {
    static ALL: [&Setting; 11] = [
        &BF_ERROR_RATE,
        &BF_INITIAL_SIZE,
        &BF_EXPANSION_FACTOR,
        &CF_BUCKET_SIZE,
        &CF_INITIAL_SIZE,
        &CF_MAX_ITERATIONS,
        &CF_EXPANSION_FACTOR,
        &CF_MAX_EXPANSIONS,
        &CF_ERROR_RATE,
        &BF_MEMORY_LIMIT,
        &BF_COMPAT,
    ];
    &ALL
}

impl Setting {
    fn bits(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&self) -> u64 {
        self.bits()
    }

    pub(crate) fn get_rate(&self) -> f64 {
        f64::from_bits(self.bits())
    }

    pub(crate) fn get_integer(&self) -> i64 {
        self.bits() as i64
    }

    pub(crate) fn get_text(&self) -> String {
        match self.range {
            Some(_) => self.get_integer().to_string(),
            None => self.get_rate().to_string(),
        }
    }

    fn refused(&self, why: &str) -> CommandError {
        CommandError::Said(format!("{} {why}", self.name.to_string_lossy()))
    }

    pub(crate) fn set_integer(&self, value: i64) -> Result<(), CommandError> {
        let (least, most) = self.range.unwrap_or((0, 0));
        if !(least..=most).contains(&value) {
            return Err(self.refused(&format!("must be in the range [{least}, {most}], not {value}")));
        }
        self.value.store(value as u64, Ordering::Relaxed);
        Ok(())
    }

    /// From a text, whatever kind of setting it is.
    pub(crate) fn set_text(&self, text: &[u8]) -> Result<(), CommandError> {
        if self.range.is_some() {
            let value = words::integer(text).ok_or_else(|| self.refused("must be a whole number"))?;
            return self.set_integer(value);
        }
        match words::double(text) {
            Some(rate) if rate > 0.0 && rate < 1.0 => {
                self.value.store(rate.min(MOST_ERROR).to_bits(), Ordering::Relaxed);
                Ok(())
            }
            _ => Err(self.refused("must be above 0 and below 1; 0.01 stands for 1 %")),
        }
    }
}

/// Takes the words behind `loadmodule libgowk.so`: names and values.
pub(crate) fn from_arguments(args: &Args<'_>) -> Result<(), CommandError> {
    let mut words = args.from(0);
    while let Some(name) = words.next() {
        let text = String::from_utf8_lossy(name).to_lowercase();
        let plain = match text.as_str() {
            "error_rate" => "bf-error-rate",
            "initial_size" => "bf-initial-size",
            "cf_max_expansions" => "cf-max-expansions",
            other => other.strip_prefix("bf.").unwrap_or(other),
        };
        let known = settings().iter().find(|setting| setting.name.to_bytes() == plain.as_bytes());
        let setting = known.ok_or_else(|| CommandError::Said(format!("there is no setting '{text}'")))?;
        let value = words.next().ok_or_else(|| setting.refused("has no value"))?;
        setting.set_text(value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_values_are_refused_with_a_reason_and_change_nothing() {
        let setting = number(c"n", 5, 1, 10);
        for bad in [&b"0"[..], b"11", b"x", b"", b"1.5", b"99999999999999999999"] {
            let why = setting.set_text(bad).unwrap_err().to_string();
            assert!(why.starts_with("n must be"), "{why}");
        }
        assert_eq!(setting.get(), 5);
        let setting = rate(c"r", 0.01);
        for bad in [&b"0"[..], b"1", b"-0.5", b"nan", b"x", b"inf"] {
            assert!(setting.set_text(bad).is_err(), "{bad:?}");
        }
        setting.set_text(b"0.5").unwrap();
        assert!((setting.get_rate() - MOST_ERROR).abs() < 1e-12);
        assert_eq!(setting.get_text(), "0.25");
    }
}
