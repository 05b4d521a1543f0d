//! Text into words: 64 bytes at a time where it is ASCII, by characters where it is not.

use gowk::bytes::words_in;

/// Whether `Gowk` and `gowk` are one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Folding {
    #[default]
    Exact,
    /// Words are handed over in lower case.
    Lower,
}

/// Calls `each` with every word, until it says false; whether it never did. `scratch` is memory to work in.
pub(crate) fn each_word(
    bytes: &[u8],
    folding: Folding,
    scratch: &mut Vec<u8>,
    mut each: impl FnMut(&[u8]) -> bool,
) -> bool {
    match folding {
        Folding::Exact => {
            runs(bytes, |run, ascii| if ascii { each(run) } else { by_characters(run, &mut each) })
        }
        Folding::Lower => {
            let mut lower = std::mem::take(scratch);
            lower.clear();
            lower.extend_from_slice(bytes);
            lower.make_ascii_lowercase();
            let all = runs(&lower, |run, ascii| match ascii {
                true => each(run),
                false => by_characters(run, &mut |word: &[u8]| match std::str::from_utf8(word) {
                    Ok(text) => each(text.to_lowercase().as_bytes()),
                    Err(_) => each(word),
                }),
            });
            *scratch = lower;
            all
        }
    }
}

/// The longest runs of ASCII word bytes and bytes that are not ASCII, and whether there are none of the latter.
#[inline(always)]
fn runs(bytes: &[u8], mut each: impl FnMut(&[u8], bool) -> bool) -> bool {
    let (mut start, mut inside, mut foreign) = (0, 0u64, false);
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut last = [b' '; 64];
    last[..rest.len()].copy_from_slice(rest);
    for (i, block) in blocks.iter().chain([&last]).enumerate() {
        let (word, other) = words_in(block);
        let bits = word | other;
        // A bit where a run begins, and one behind where it ends.
        let mut edges = bits ^ (bits << 1 | inside);
        while edges != 0 {
            let place = edges.trailing_zeros();
            let at = i * 64 + place as usize;
            edges &= edges - 1;
            if inside == 0 {
                (start, inside, foreign) = (at, 1, false);
            } else {
                // What lies in this block of the run; blocks before have told theirs.
                let from = start.saturating_sub(i * 64) as u32;
                foreign |= other & !(!0 << place) & (!0 << from) != 0;
                inside = 0;
                if !each(&bytes[start..at], !foreign) {
                    return false;
                }
            }
        }
        if inside == 1 {
            let from = start.saturating_sub(i * 64) as u32;
            foreign |= other & (!0 << from) != 0;
        }
    }
    inside == 0 || each(&bytes[start..], !foreign)
}

/// The words of a run that is not all ASCII. Bytes that are no UTF-8 end a word.
#[cold]
fn by_characters(run: &[u8], each: &mut impl FnMut(&[u8]) -> bool) -> bool {
    let word = |c: char| regex_syntax::try_is_word_character(c).unwrap_or(false);
    for chunk in run.utf8_chunks() {
        for part in chunk.valid().split(|c: char| !word(c)).filter(|part| !part.is_empty()) {
            if !each(part.as_bytes()) {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &[u8], folding: Folding) -> Vec<Vec<u8>> {
        let mut words = Vec::new();
        assert!(each_word(text, folding, &mut Vec::new(), |word| {
            words.push(word.to_vec());
            true
        }));
        words
    }

    proptest! {
        #[test]
        fn words_are_what_a_regular_expression_finds(text in "[a-cA-C_0-9 .,\u{e4}\u{3b1}\u{301}\u{2014}\u{5d0}]{0,300}") {
            let regex = regex::bytes::Regex::new(r"\w+").unwrap();
            let expected: Vec<Vec<u8>> = regex.find_iter(text.as_bytes()).map(|m| m.as_bytes().to_vec()).collect();
            prop_assert_eq!(words(text.as_bytes(), Folding::Exact), expected);
        }

        #[test]
        fn any_bytes_have_words_or_none(bytes: Vec<u8>) {
            let text = String::from_utf8_lossy(&bytes).replace('\u{fffd}', " ");
            if String::from_utf8(bytes.clone()).is_ok() {
                prop_assert_eq!(words(&bytes, Folding::Exact), words(text.as_bytes(), Folding::Exact));
            }
            words(&bytes, Folding::Lower);
        }
    }

    #[test]
    fn folding_makes_words_of_all_scripts_lower() {
        assert_eq!(
            words("Gowk ÄRGER Ωmega".as_bytes(), Folding::Lower),
            ["gowk", "ärger", "ωmega"].map(str::as_bytes)
        );
    }

    #[test]
    fn a_long_word_over_many_blocks_is_one() {
        let text = ["x".repeat(200), "ä".repeat(100), "y".repeat(64)].join(" ");
        let lens: Vec<usize> = words(text.as_bytes(), Folding::Exact).iter().map(Vec::len).collect();
        assert_eq!(lens, [200, 200, 64]);
    }
}
