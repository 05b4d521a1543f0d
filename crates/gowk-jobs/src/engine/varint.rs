//! Numbers in as few bytes as they need: seven bits a byte, the lowest first.

/// Appends a number.
#[inline(always)]
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front; none if the bytes end before it does, or it is too large.
#[inline(always)]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    take_long(bytes, first)
}

fn take_long(bytes: &mut &[u8], first: u8) -> Option<u64> {
    let mut number = u64::from(first & 0x7f);
    for shift in (7..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes so many bytes off the front, if they are there.
#[inline(always)]
pub(crate) fn take_bytes<'a>(bytes: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_put_is_taken(numbers: Vec<u64>, shift in 0u32..64) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put(&mut bytes, number >> shift));
            let mut rest = bytes.as_slice();
            for number in numbers {
                prop_assert_eq!(take(&mut rest), Some(number >> shift));
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_a_number_or_refused(bytes: Vec<u8>) {
            let mut rest = bytes.as_slice();
            while take(&mut rest).is_some() {}
        }
    }

    #[test]
    fn refuses_what_does_not_fit_or_is_cut() {
        assert_eq!(take(&mut &[0xff; 9][..]), None);
        assert_eq!(take(&mut [&[0xff; 9][..], &[2]].concat().as_slice()), None);
        assert_eq!(take(&mut [&[0xff; 9][..], &[1]].concat().as_slice()), Some(u64::MAX));
        assert_eq!(take_bytes(&mut &b"ab"[..], 3), None);
    }
}
