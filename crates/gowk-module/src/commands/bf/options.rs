//! The options of `BF.RESERVE` and `BF.INSERT`. Pure; tested without a server.

use crate::{
    config::{BF_COMPAT, BF_ERROR_RATE, BF_EXPANSION_FACTOR, BF_INITIAL_SIZE, MOST_CAPACITY, MOST_ERROR},
    error::CommandError,
    types::bloom::{Form, Reserve, Spec},
    words::{self, Length},
};
use gowk::Seed;

/// What the words behind the key say.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "words that are there or not")]
pub(super) struct Options {
    capacity: Option<u64>,
    error: Option<f64>,
    expansion: Option<u32>,
    nonscaling: bool,
    growing: bool,
    compat: bool,
    window: Option<Length>,
    generations: Option<u32>,
    pub(super) seed: Option<Seed>,
    pub(super) nocreate: bool,
    /// The time of an insert that a master has decided on.
    pub(super) at: Option<u64>,
}

const NO_EXPANSION: CommandError = CommandError::Refused("ERR no expansion");
const BAD_EXPANSION: CommandError = CommandError::Refused("ERR bad expansion");

/// The texts of the two commands differ.
struct Texts {
    error: &'static str,
    capacity: &'static str,
}

const RESERVE: Texts = Texts { error: "ERR bad error rate", capacity: "ERR bad capacity" };
const INSERT: Texts = Texts { error: "Bad error rate", capacity: "Bad capacity" };

impl Options {
    /// `error capacity [options]`.
    pub(super) fn reserve<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<Self, CommandError> {
        let mut options = Self::default();
        options.take_error(words.next().unwrap_or_default(), &RESERVE)?;
        options.take_capacity(words.next().unwrap_or_default(), &RESERVE)?;
        while let Some(word) = words.next() {
            if !options.take(word, &mut words, &RESERVE)? {
                return Err(unknown(word));
            }
        }
        options.checked()
    }

    /// `[options] ITEMS item...`, and how many words come before the first item.
    pub(super) fn insert<'a>(words: impl Iterator<Item = &'a [u8]>) -> Result<(Self, usize), CommandError> {
        let mut options = Self::default();
        let mut taken = 0;
        let mut words = words.inspect(|_| taken += 1);
        let found = loop {
            let Some(word) = words.next() else { break false };
            if words::is(word, "ITEMS") {
                break true;
            }
            if !options.take(word, &mut words, &INSERT)? {
                return Err(CommandError::Refused("Unknown argument received"));
            }
        };
        drop(words);
        if !found {
            return Err(CommandError::Arity);
        }
        Ok((options.checked()?, taken))
    }

    /// Takes an option with its value; false if the word is none.
    fn take<'a>(
        &mut self,
        word: &[u8],
        rest: &mut impl Iterator<Item = &'a [u8]>,
        texts: &Texts,
    ) -> Result<bool, CommandError> {
        let is = |name| words::is(word, name);
        if is("NONSCALING") {
            self.nonscaling = true;
        } else if is("NOCREATE") {
            self.nocreate = true;
        } else if is("COMPAT") {
            self.compat = true;
        } else if is("GROWING") {
            self.growing = true;
        } else if is("EXPANSION") {
            let number = rest.next().ok_or(NO_EXPANSION)?;
            let number = words::integer(number).ok_or(BAD_EXPANSION)?;
            let range = CommandError::Refused("ERR expansion must be in the range [0, 32768]");
            self.expansion = Some(u32::try_from(number).ok().filter(|n| *n <= 32_768).ok_or(range)?);
        } else if is("CAPACITY") {
            self.take_capacity(rest.next().unwrap_or_default(), texts)?;
        } else if is("ERROR") {
            self.take_error(rest.next().unwrap_or_default(), texts)?;
        } else if is("SEED") {
            let bad = CommandError::Refused("ERR bad seed: it has 32 hexadecimal digits");
            self.seed = Some(words::seed(rest.next().unwrap_or_default()).ok_or(bad)?);
        } else if is("WINDOW") {
            let bad = CommandError::Refused(
                "ERR bad window: a number of inserts, or a time as 1500ms, 30s, 10m, 1h, 7d",
            );
            self.window = Some(words::length(rest.next().unwrap_or_default()).ok_or(bad)?);
        } else if is("GENERATIONS") {
            let bad = CommandError::Refused("ERR generations must be in the range [2, 32]");
            let number = words::integer(rest.next().unwrap_or_default()).filter(|n| (2..=32).contains(n));
            self.generations = Some(number.ok_or(bad)? as u32);
        } else if is("AT") {
            let bad = CommandError::Refused("ERR bad time");
            let number = words::integer(rest.next().unwrap_or_default());
            self.at = Some(number.and_then(|n| u64::try_from(n).ok()).ok_or(bad)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn take_error(&mut self, word: &[u8], texts: &Texts) -> Result<(), CommandError> {
        let error = words::double(word).ok_or(CommandError::Refused(texts.error))?;
        if !(error > 0.0 && error < 1.0) {
            return Err(CommandError::Refused("ERR error rate must be in the range (0.000000, 1.000000)"));
        }
        self.error = Some(error.min(MOST_ERROR));
        Ok(())
    }

    fn take_capacity(&mut self, word: &[u8], texts: &Texts) -> Result<(), CommandError> {
        let capacity = words::integer(word).ok_or(CommandError::Refused(texts.capacity))?;
        if !(1..=MOST_CAPACITY).contains(&capacity) {
            return Err(CommandError::Refused("ERR capacity must be in the range [1, 1073741824]"));
        }
        self.capacity = Some(capacity as u64);
        Ok(())
    }

    fn checked(self) -> Result<Self, CommandError> {
        if self.nonscaling && self.expansion.is_some_and(|expansion| expansion > 0) {
            return Err(CommandError::Refused("Nonscaling filters cannot expand"));
        }
        if self.generations.is_some() && self.window.is_none() {
            return Err(CommandError::Refused("ERR GENERATIONS belongs to a WINDOW"));
        }
        if self.compat && (self.seed.is_some() || self.window.is_some()) {
            return Err(CommandError::Refused("ERR a COMPAT filter has neither SEED nor WINDOW"));
        }
        if self.window.is_some() && (self.expansion.is_some() || self.nonscaling || self.growing) {
            return Err(CommandError::Refused("ERR a WINDOW forgets, so it neither expands nor gets full"));
        }
        Ok(self)
    }

    /// What to create: what was said, and the settings for what was not.
    pub(super) fn resolve(&self) -> Reserve {
        let generations = self.generations.unwrap_or(Form::DEFAULT_GENERATIONS);
        let (form, inserts) = match self.window {
            None if self.compat || BF_COMPAT.get() > 0 && self.seed.is_none() => (Form::Compat, None),
            None => (Form::Keeping, None),
            Some(Length::Inserts(n)) => (Form::Last { generations }, Some(n)),
            Some(Length::Milliseconds(milliseconds)) => (Form::Lasting { milliseconds, generations }, None),
        };
        let expansion = self.expansion.unwrap_or_else(|| BF_EXPANSION_FACTOR.get() as u32);
        let capacity = inserts.or(self.capacity);
        let spec = Spec {
            capacity: capacity.unwrap_or_else(|| BF_INITIAL_SIZE.get()),
            error: self.error.unwrap_or_else(|| BF_ERROR_RATE.get_rate()),
            expansion: if self.nonscaling { 0 } else { expansion },
            growing: form == Form::Keeping && (self.growing || capacity.is_none()),
        };
        Reserve { spec, form }
    }
}

fn unknown(word: &[u8]) -> CommandError {
    CommandError::Said(format!("ERR unknown argument '{}'", String::from_utf8_lossy(word).escape_default()))
}

/// The words of a `BF.RESERVE` that creates the very same filter anywhere.
pub(super) fn resolved_words(reserve: &Reserve, seed: Seed) -> Vec<String> {
    let Spec { capacity, error, expansion, growing } = reserve.spec;
    // The shortest text that is read as the same number.
    let mut words = vec![error.to_string(), capacity.to_string()];
    let mut say = |name: &str, value: String| words.extend([name.to_owned(), value]);
    match reserve.form {
        Form::Keeping | Form::Compat => say("EXPANSION", expansion.to_string()),
        Form::Last { generations } => {
            say("WINDOW", capacity.to_string());
            say("GENERATIONS", generations.to_string());
        }
        Form::Lasting { milliseconds, generations } => {
            say("WINDOW", format!("{milliseconds}ms"));
            say("GENERATIONS", generations.to_string());
        }
    }
    if reserve.form == Form::Compat {
        // RedisBloom's hash has no secret.
        words.push("COMPAT".to_owned());
        return words;
    }
    say("SEED", words::seed_word(seed));
    if growing && reserve.form == Form::Keeping {
        words.push("GROWING".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserve(text: &str) -> Result<Reserve, String> {
        Options::reserve(text.split(' ').map(str::as_bytes))
            .map(|options| options.resolve())
            .map_err(|why| why.to_string())
    }

    #[test]
    fn resolved_words_say_the_same() {
        for text in [
            "0.01 1000",
            "0.3 5 expansion 4",
            "0.001 100 NONSCALING",
            "0.00123456789 100 EXPANSION 0",
            "0.01 1000 GROWING",
            "0.01 1000 WINDOW 5000 GENERATIONS 3",
            "0.01 1000 WINDOW 1h",
            "0.01 1000 COMPAT",
            "0.01 1000 NONSCALING COMPAT",
        ] {
            let asked = reserve(text).unwrap();
            let words = resolved_words(&asked, Seed::from(7u64)).join(" ");
            assert_eq!(reserve(&words), Ok(asked), "{text} became {words}");
        }
    }

    #[test]
    fn the_texts_are_those_that_clients_know() {
        for (text, error) in [
            ("x 100", "ERR bad error rate"),
            ("0 100", "ERR error rate must be in the range (0.000000, 1.000000)"),
            ("1 100", "ERR error rate must be in the range (0.000000, 1.000000)"),
            ("0.1 x", "ERR bad capacity"),
            ("0.1 0", "ERR capacity must be in the range [1, 1073741824]"),
            ("0.1 1073741825", "ERR capacity must be in the range [1, 1073741824]"),
            ("0.1 10 EXPANSION", "ERR no expansion"),
            ("0.1 10 EXPANSION x", "ERR bad expansion"),
            ("0.1 10 EXPANSION 32769", "ERR expansion must be in the range [0, 32768]"),
            ("0.1 10 EXPANSION 2 NONSCALING", "Nonscaling filters cannot expand"),
            ("0.1 10 FOO", "ERR unknown argument 'FOO'"),
            ("0.1 10 GENERATIONS 3", "ERR GENERATIONS belongs to a WINDOW"),
        ] {
            assert_eq!(reserve(text), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn items_come_behind_their_word_whatever_they_are() {
        let insert = |text: &str| Options::insert(text.split(' ').map(str::as_bytes)).map(|(_, at)| at);
        assert_eq!(insert("ITEMS a b"), Ok(1));
        assert_eq!(insert("NOCREATE capacity 10 items ITEMS"), Ok(4));
        assert_eq!(insert("NOCREATE"), Err(CommandError::Arity));
        assert_eq!(insert("FOO ITEMS a"), Err(CommandError::Refused("Unknown argument received")));
    }
}
