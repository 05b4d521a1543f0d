//! Decimal numbers: read eight digits at a time, written four at a time.

/// The number of eight digits, if they are: in three steps two, four and eight of them at a time.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(text);
    // Of a digit both are below 0x80; of any other byte one is not.
    let above = word.wrapping_add(0x4646_4646_4646_4646);
    let below = word.wrapping_sub(0x3030_3030_3030_3030);
    if (word | above | below) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let two = below.wrapping_mul(10).wrapping_add(below >> 8) & 0x00ff_00ff_00ff_00ff;
    let four = two.wrapping_mul(100).wrapping_add(two >> 16) & 0x0000_ffff_0000_ffff;
    Some(four.wrapping_mul(10_000).wrapping_add(four >> 32) & 0xffff_ffff)
}

/// A decimal number with or without a sign; whether it is one that is out of range, if not.
#[inline]
pub(crate) fn integer(text: &[u8]) -> Result<i64, bool> {
    let negative = text.first() == Some(&b'-');
    let digits = if let [b'-' | b'+', digits @ ..] = text { digits } else { text };
    let (eight, rest) = match digits.split_first_chunk::<8>() {
        Some((eight, rest)) => (eight_digits(*eight).ok_or(false)?, rest),
        None => (0, digits),
    };
    if digits.is_empty() || rest.iter().any(|digit| !digit.is_ascii_digit()) {
        return Err(false);
    }
    if digits.len() <= 18 {
        let number = rest.iter().fold(eight as i64, |number, digit| number * 10 + i64::from(digit - b'0'));
        return Ok(if negative { -number } else { number });
    }
    let mut number = 0i128;
    for digit in digits {
        number = number * 10 + i128::from(digit - b'0');
        if number > 1 << 64 {
            return Err(true);
        }
    }
    i64::try_from(if negative { -number } else { number }).map_err(|_| true)
}

/// Appends a number.
pub(super) fn push_number(out: &mut Vec<u8>, number: i64) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    // Two at a time halves the divisions.
    while rest >= 10 {
        let two = (rest % 100) as u8;
        rest /= 100;
        at -= 2;
        digits[at] = b'0' + two / 10;
        digits[at + 1] = b'0' + two % 10;
    }
    if rest > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Lines of numbers, quickest where each is a little larger than the one before: then only the last four digits are new.
#[derive(Debug, Default)]
pub(super) struct Numerals {
    /// Lines up to `len`; what follows is room.
    text: Vec<u8>,
    len: usize,
    /// The digits before the last four, of `head_of`.
    head: [u8; LINE],
    head_len: usize,
    head_of: u64,
}

/// No line is longer: a sign, 19 digits, an end; and a line is written as a whole, whatever its length.
const LINE: usize = 32;

impl Numerals {
    /// No lines, but the memory for them.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// The lines.
    pub(super) fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }

    /// Appends a line.
    #[inline(always)]
    pub(super) fn push(&mut self, number: i64, end: u8) {
        if self.len + LINE > self.text.len() {
            self.text.resize(self.text.len() + (1 << 18), 0);
        }
        if number < 10_000 {
            return self.push_short_or_negative(number, end);
        }
        let (head, last) = (number as u64 / 10_000, (number as u64 % 10_000) as u32);
        if head != self.head_of || self.head_len == 0 {
            self.set_head(head);
        }
        let line: &mut [u8; LINE] = self.text[self.len..].first_chunk_mut().expect("there is room");
        *line = self.head;
        // Two digits in each half, one in each byte.
        let halves = (last / 100) | ((last % 100) << 16);
        let tens = ((halves * 103) >> 10) & 0x000f_000f;
        let digits = (tens | ((halves - tens * 10) << 8)) + 0x3030_3030;
        let rest: &mut [u8; 5] = line[self.head_len..].first_chunk_mut().expect("a head leaves room");
        rest[..4].copy_from_slice(&digits.to_le_bytes());
        rest[4] = end;
        self.len += self.head_len + 5;
    }

    #[cold]
    fn set_head(&mut self, head: u64) {
        let mut digits = Vec::new();
        push_number(&mut digits, head as i64);
        self.head[..digits.len()].copy_from_slice(&digits);
        (self.head_of, self.head_len) = (head, digits.len());
    }

    #[cold]
    fn push_short_or_negative(&mut self, number: i64, end: u8) {
        let mut line = Vec::new();
        push_number(&mut line, number);
        line.push(end);
        self.text[self.len..][..line.len()].copy_from_slice(&line);
        self.len += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_integer_is_read_as_the_standard_library_reads_it(text in "[+-]?[0-9]{0,22}|[0-9a-z-]{0,5}") {
            prop_assert_eq!(integer(text.as_bytes()).ok(), text.parse::<i64>().ok(), "{}", text);
        }

        #[test]
        fn a_number_is_written_as_the_standard_library_writes_it(number: i64, shift in 0u32..63) {
            for number in [number >> shift, 0, i64::MIN, i64::MAX] {
                let mut out = Vec::new();
                push_number(&mut out, number);
                prop_assert_eq!(out, number.to_string().into_bytes());
            }
        }

        #[test]
        fn lines_of_numbers_are_those_of_the_standard_library(
            numbers in prop::collection::vec((any::<i64>(), 0u32..63), 0..40),
            steps in prop::collection::vec(1i64..20_000, 0..3_000),
        ) {
            let rising = steps.iter().scan(-50_000, |number, step| { *number += step; Some(*number) });
            let numbers = numbers.iter().map(|(number, shift)| number >> shift).chain(rising).chain([0, i64::MIN, i64::MAX]);
            let mut lines = Numerals::default();
            numbers.clone().for_each(|number| lines.push(number, b'\n'));
            let expected: String = numbers.map(|number| format!("{number}\n")).collect();
            prop_assert_eq!(str::from_utf8(lines.text()).unwrap(), expected);
        }
    }
}
