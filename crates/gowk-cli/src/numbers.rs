//! Numbers as people write and read them.

/// A rate: 1%, 0.01, 1e-2.
pub(crate) fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim(), 0.01),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(number) if number * unit > 0.0 && number * unit < 1.0 => Ok(number * unit),
        _ => Err("a rate is above 0 and below 1, as in 1%, 0.01 or 1e-2".into()),
    }
}

/// A share: a rate, or all or nothing.
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    match text {
        "0" | "0%" => Ok(0.0),
        "1" | "100%" => Ok(1.0),
        _ => parse_rate(text).map_err(|_| "a share is from 0 to 1, as in 50%, 0.5 or 1".into()),
    }
}

/// A count: 1000, 10k, 5M, 2G, 1e6. The units are powers of ten.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let units = [('k', 1e3), ('m', 1e6), ('g', 1e9), ('b', 1e9), ('t', 1e12)];
    match scaled(text, &units) {
        Some(count) if (1.0..1e18).contains(&count) => Ok(count as u64),
        _ => Err("a count is a whole number from 1 on, as in 1000, 10k, 5M or 2G".into()),
    }
}

/// A size in bytes: 100K, 64M, 1G, 1.5GiB. The units are powers of two.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let plain = lower.strip_suffix("ib").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
    let step = |power: i32| 2f64.powi(10 * power);
    let units = [('k', step(1)), ('m', step(2)), ('g', step(3)), ('t', step(4))];
    match scaled(plain, &units) {
        Some(bytes) if (1.0..1e18).contains(&bytes) => Ok(bytes as u64),
        _ => Err("a size is a number of bytes from 1 on, as in 100K, 64M or 1G".into()),
    }
}

/// A time in seconds: 100ns, 5us, 5ms, 2s.
pub(crate) fn parse_time(text: &str) -> Result<f64, String> {
    let units = [("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let time = units
        .iter()
        .find_map(|(name, unit)| Some(text.strip_suffix(name)?.trim().parse::<f64>().ok()? * unit));
    match time {
        Some(time) if time > 0.0 && time < 1e6 => Ok(time),
        _ => Err("a time has a unit, as in 100ns, 5us, 5ms or 2s".into()),
    }
}

fn scaled(text: &str, units: &[(char, f64)]) -> Option<f64> {
    let last = text.chars().next_back()?.to_ascii_lowercase();
    let (digits, unit) = match units.iter().find(|(name, _)| *name == last) {
        Some((_, unit)) => (&text[..text.len() - 1], *unit),
        None => (text, 1.0),
    };
    Some(digits.trim().parse::<f64>().ok()? * unit)
}

/// 1,234,567: exact, and easy on the eye.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// 12.5 MB: three digits and a unit, powers of ten as on a disk.
pub(crate) fn bytes(bytes: f64) -> String {
    with_unit(bytes, &["bytes", "kB", "MB", "GB", "TB", "PB"])
}

/// 12.5 million.
pub(crate) fn count(count: f64) -> String {
    if count < 999_999.5 {
        grouped(count.round() as u64)
    } else {
        with_unit(count / 1e6, &["million", "billion", "trillion"])
    }
}

fn with_unit(mut number: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while number >= 999.5 && unit + 1 < units.len() {
        number /= 1e3;
        unit += 1;
    }
    format!("{} {}", three_digits(number), units[unit])
}

/// Three digits that matter, without zeros behind the point.
pub(crate) fn three_digits(number: f64) -> String {
    let decimals = match number.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// 0.1 %, and for small rates one in so many would be unreadable, so 3e-7.
pub(crate) fn rate(rate: f64) -> String {
    match 100.0 * rate {
        0.0 => "0 %".into(),
        percent if percent >= 0.995 => format!("{} %", three_digits(percent)),
        percent if percent >= 0.0001 => {
            let decimals = (2 - percent.log10().floor() as i32) as usize;
            let text = format!("{percent:.decimals$}");
            format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => format!("{rate:.1e}"),
    }
}

/// 1.2 ms.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        0.0 => "0".into(),
        _ if seconds < 999.5e-9 => format!("{} ns", three_digits(seconds * 1e9)),
        _ if seconds < 999.5e-6 => format!("{} us", three_digits(seconds * 1e6)),
        _ if seconds < 0.9995 => format!("{} ms", three_digits(seconds * 1e3)),
        _ => format!("{} s", three_digits(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(parse_rate("1%"), Ok(0.01));
        assert_eq!(parse_rate("1e-3"), Ok(0.001));
        for none in ["0", "100%", "NaN", "", "%", "-1%"] {
            assert!(parse_rate(none).is_err(), "{none}");
        }
        assert_eq!(parse_share("100%"), Ok(1.0));
        assert_eq!(parse_count("5M"), Ok(5_000_000));
        assert_eq!(parse_count("1.5k"), Ok(1_500));
        assert_eq!(parse_count("1e6"), Ok(1_000_000));
        for none in ["", "-1", "0", "many", "k", "1kk", "inf", "\u{661}"] {
            assert!(parse_count(none).is_err(), "{none}");
        }
        assert_eq!(parse_bytes("1G"), Ok(1 << 30));
        assert_eq!(parse_bytes("100K"), Ok(100 << 10));
        assert_eq!(parse_bytes("1.5 MiB"), Ok(3 << 19));
        assert_eq!(parse_bytes("64mb"), Ok(64 << 20));
        assert!(parse_bytes("big").is_err() && parse_bytes("0").is_err() && parse_bytes("b").is_err());
        assert_eq!(parse_time("5ms"), Ok(0.005));
        assert!(parse_time("5").is_err() && parse_time("s").is_err());
    }

    #[test]
    fn numbers_are_shown_as_people_read_them() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.0, 999.0, 1_250.0, 12_490_000.0].map(bytes),
            ["0 bytes", "999 bytes", "1.25 kB", "12.5 MB"]
        );
        assert_eq!([12.0, 999_999.0, 1e6, 2.5e10].map(count), ["12", "999,999", "1 million", "25 billion"]);
        assert_eq!(
            [0.0, 0.5, 0.01, 0.001, 0.000_015, 1e-9].map(rate),
            ["0 %", "50 %", "1 %", "0.1 %", "0.0015 %", "1.0e-9"]
        );
        assert_eq!([100e-9, 5e-3, 2.0].map(time), ["100 ns", "5 ms", "2 s"]);
    }
}
