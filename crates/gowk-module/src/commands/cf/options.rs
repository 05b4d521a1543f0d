//! The options of `CF.RESERVE` and `CF.INSERT`. Pure; tested without a server.

use crate::{
    config::{
        CF_BUCKET_SIZE, CF_ERROR_RATE, CF_EXPANSION_FACTOR, CF_INITIAL_SIZE, CF_MAX_ITERATIONS,
        MOST_CAPACITY, MOST_ERROR,
    },
    error::CommandError,
    types::cuckoo::Spec,
    words,
};
use gowk::Seed;

/// What the words behind the key say.
#[derive(Debug, Default)]
pub(super) struct Options {
    capacity: Option<u64>,
    error: Option<f64>,
    bucket_size: Option<u32>,
    max_iterations: Option<u32>,
    expansion: Option<u32>,
    growing: bool,
    pub(super) seed: Option<Seed>,
    pub(super) nocreate: bool,
}

const BAD_CAPACITY: CommandError = CommandError::Refused("Bad capacity");

impl Options {
    /// `capacity [options]`.
    pub(super) fn reserve<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<Self, CommandError> {
        let capacity = words::integer(words.next().unwrap_or_default()).ok_or(BAD_CAPACITY)?;
        let mut options = Self::default();
        while let Some(word) = words.next() {
            options.take(word, &mut words)?;
        }
        let bucket = i64::from(options.bucket_size.unwrap_or_else(|| CF_BUCKET_SIZE.get() as u32));
        if !(2 * bucket..=MOST_CAPACITY).contains(&capacity) {
            return Err(CommandError::Refused("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"));
        }
        options.capacity = Some(capacity as u64);
        Ok(options)
    }

    fn take<'a>(
        &mut self,
        word: &[u8],
        rest: &mut impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), CommandError> {
        let mut number = |name: &str, least: i64, most: i64| {
            let parsed = words::integer(rest.next().unwrap_or_default());
            let value = parsed.ok_or_else(|| CommandError::Said(format!("Couldn't parse {name}")))?;
            if !(least..=most).contains(&value) {
                let why = format!("{name}: value must be in the range [{least}, {most}]");
                return Err(CommandError::Said(why));
            }
            Ok(value as u32)
        };
        if words::is(word, "BUCKETSIZE") {
            self.bucket_size = Some(number("BUCKETSIZE", 1, 255)?);
        } else if words::is(word, "MAXITERATIONS") {
            self.max_iterations = Some(number("MAXITERATIONS", 1, 65_535)?);
        } else if words::is(word, "EXPANSION") {
            self.expansion = Some(number("EXPANSION", 0, 32_768)?);
        } else if words::is(word, "GROWING") {
            self.growing = true;
        } else if words::is(word, "ERROR") {
            let error = words::double(rest.next().unwrap_or_default()).filter(|e| *e > 0.0 && *e < 1.0);
            let bad = CommandError::Refused("ERR error rate must be in the range (0.000000, 1.000000)");
            self.error = Some(error.ok_or(bad)?.min(MOST_ERROR));
        } else if words::is(word, "SEED") {
            let bad = CommandError::Refused("ERR bad seed: it has 32 hexadecimal digits");
            self.seed = Some(words::seed(rest.next().unwrap_or_default()).ok_or(bad)?);
        } else {
            let word = String::from_utf8_lossy(word);
            return Err(CommandError::Said(format!("ERR unknown argument '{}'", word.escape_default())));
        }
        Ok(())
    }

    /// `[CAPACITY n] [NOCREATE] ITEMS item...`, and how many words come before the first item.
    pub(super) fn insert<'a>(words: impl Iterator<Item = &'a [u8]>) -> Result<(Self, usize), CommandError> {
        let mut options = Self::default();
        let mut words = words.enumerate();
        while let Some((at, word)) = words.next() {
            if words::is(word, "ITEMS") {
                return Ok((options, at + 1));
            } else if words::is(word, "NOCREATE") {
                options.nocreate = true;
            } else if words::is(word, "CAPACITY") {
                let number = words.next().map(|(_, word)| word).unwrap_or_default();
                let number = words::integer(number).ok_or(BAD_CAPACITY)?;
                let least = 2 * CF_BUCKET_SIZE.get() as i64;
                if !(least..=MOST_CAPACITY).contains(&number) {
                    let why = format!("Capacity must be in the range [cf-bucket-size * 2, {MOST_CAPACITY}]");
                    return Err(CommandError::Said(why));
                }
                options.capacity = Some(number as u64);
            } else {
                return Err(CommandError::Refused("Unknown argument received"));
            }
        }
        Err(CommandError::Arity)
    }

    /// What to create: what was said, and the settings for what was not.
    pub(super) fn resolve(&self) -> Spec {
        Spec {
            capacity: self.capacity.unwrap_or_else(|| CF_INITIAL_SIZE.get()),
            error: self.error.unwrap_or_else(|| CF_ERROR_RATE.get_rate()),
            expansion: self.expansion.unwrap_or_else(|| CF_EXPANSION_FACTOR.get() as u32),
            growing: self.growing || self.capacity.is_none(),
            bucket_size: self.bucket_size.unwrap_or_else(|| CF_BUCKET_SIZE.get() as u32),
            max_iterations: self.max_iterations.unwrap_or_else(|| CF_MAX_ITERATIONS.get() as u32),
        }
    }
}

/// The words of a `CF.RESERVE` that creates the very same filter anywhere.
pub(super) fn resolved_words(spec: &Spec, seed: Seed) -> Vec<String> {
    let mut words = vec![spec.capacity.to_string()];
    let mut say = |name: &str, value: String| words.extend([name.to_owned(), value]);
    say("BUCKETSIZE", spec.bucket_size.to_string());
    say("MAXITERATIONS", spec.max_iterations.to_string());
    say("EXPANSION", spec.expansion.to_string());
    say("ERROR", spec.error.to_string());
    say("SEED", words::seed_word(seed));
    if spec.growing {
        words.push("GROWING".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserve(text: &str) -> Result<Spec, String> {
        Options::reserve(text.split(' ').map(str::as_bytes))
            .map(|options| options.resolve())
            .map_err(|why| why.to_string())
    }

    #[test]
    fn resolved_words_say_the_same() {
        for text in
            ["1000", "1000 BUCKETSIZE 4 EXPANSION 0", "64 error 0.001 MAXITERATIONS 500", "64 GROWING"]
        {
            let asked = reserve(text).unwrap();
            let words = resolved_words(&asked, Seed::from(7u64)).join(" ");
            assert_eq!(reserve(&words), Ok(asked), "{text} became {words}");
        }
    }

    #[test]
    fn the_texts_are_those_that_clients_know() {
        for (text, error) in [
            ("x", "Bad capacity"),
            ("3", "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
            ("100 BUCKETSIZE x", "Couldn't parse BUCKETSIZE"),
            ("100 BUCKETSIZE 0", "BUCKETSIZE: value must be in the range [1, 255]"),
            ("100 MAXITERATIONS 0", "MAXITERATIONS: value must be in the range [1, 65535]"),
            ("100 EXPANSION 40000", "EXPANSION: value must be in the range [0, 32768]"),
            ("100 FOO", "ERR unknown argument 'FOO'"),
        ] {
            assert_eq!(reserve(text), Err(error.to_owned()), "{text}");
        }
    }
}
