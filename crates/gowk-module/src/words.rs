//! Numbers and names among the words of a command. Pure; tested without a server.

/// A whole number.
pub(crate) fn integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A number with a fraction. Not a number is none.
pub(crate) fn double(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok().filter(|number: &f64| !number.is_nan())
}

/// Whether the word is this name, in whatever case.
pub(crate) fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// How long a window is: the last so many inserts, or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Inserts(u64),
    Milliseconds(u64),
}

/// `1000000` inserts, `1500ms`, `30s`, `10m`, `1h`, `7d`.
pub(crate) fn length(word: &[u8]) -> Option<Length> {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = word.split_at(digits);
    let number: u64 = std::str::from_utf8(number).ok()?.parse().ok().filter(|number| *number > 0)?;
    let scale = match unit.to_ascii_lowercase().as_slice() {
        b"" => return Some(Length::Inserts(number)),
        b"ms" => 1,
        b"s" => 1_000,
        b"m" => 60_000,
        b"h" => 3_600_000,
        b"d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(scale).map(Length::Milliseconds)
}

/// A seed: 32 hexadecimal digits.
pub(crate) fn seed(word: &[u8]) -> Option<gowk::Seed> {
    let text = std::str::from_utf8(word).ok().filter(|text| text.len() == 32 && text.is_ascii())?;
    let mut bytes = [0; 16];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(gowk::Seed::from_bytes(bytes))
}

/// The word of a seed.
pub(crate) fn seed_word(seed: gowk::Seed) -> String {
    seed.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        assert_eq!(length(b"1000"), Some(Length::Inserts(1000)));
        assert_eq!(length(b"1500ms"), Some(Length::Milliseconds(1500)));
        assert_eq!(length(b"2H"), Some(Length::Milliseconds(7_200_000)));
        assert_eq!(length(b"7d"), Some(Length::Milliseconds(604_800_000)));
        for bad in
            [&b""[..], b"0", b"0s", b"-1", b"1w", b"s", b"99999999999999999999", b"300000000000000000d"]
        {
            assert_eq!(length(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_seed_is_its_word() {
        let word = "000102030405060708090a0b0c0d0eff";
        assert_eq!(seed_word(seed(word.as_bytes()).unwrap()), word);
        for bad in [
            &b""[..],
            b"00",
            b"g00102030405060708090a0b0c0d0eff",
            "é00102030405060708090a0b0c0d0ef".as_bytes(),
        ] {
            assert!(seed(bad).is_none(), "{bad:?}");
        }
    }
}
