//! A false positive, found on purpose.

use super::story::Story;
use crate::error::ApiError;
use serde_json::{Value, json};

/// The words that are tried: at a rate of one in a hundred thousand most searches still end well.
const TRIES: u64 = 300_000;

pub(super) fn find(story: &Story) -> Result<Value, ApiError> {
    let mut lab = story.checked()?.lab()?;
    for event in story.events() {
        lab.frame(event);
    }
    // Where the story is longer the search begins elsewhere, so that a second one finds another word.
    let start = story.events().count() as u64 * TRIES;
    let wrong = (0..TRIES).find_map(|i| {
        let word = word(start + i);
        (lab.may_contain(&word) && !lab.holds(&word)).then_some((word, i + 1))
    });
    match wrong {
        Some((key, tries)) => Ok(json!({ "key": key, "tries": tries })),
        None => Err(ApiError::not_found(format!(
            "none of {TRIES} words is a false positive; put more keys in, or make the filter smaller"
        ))),
    }
}

/// A word that can be spoken, another for each number.
fn word(number: u64) -> String {
    const HEADS: [&str; 16] =
        ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z"];
    const VOWELS: [&str; 4] = ["a", "e", "i", "o"];
    // Mixed, so that neighbours do not look alike; an odd multiplier keeps them apart.
    let mut rest = number.wrapping_mul(0x9e37_79b1) & 0xffff_ffff;
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(HEADS[(rest & 15) as usize]);
        word.push_str(VOWELS[(rest >> 4 & 3) as usize]);
        rest >>= 6;
    }
    // What is left of the 32 bits.
    word.push(char::from(b'a' + (rest & 15) as u8));
    word.push(char::from(b'a' + (rest >> 4 & 15) as u8));
    word
}
