//! Where records end, 64 bytes at a time: on short lines a call of `memchr` for each costs more than the line itself.

use gowk::bytes::places_of;

/// Calls `each` with the start and the end of every record; the last one may lack its end.
#[inline(always)]
pub(crate) fn each_record(bytes: &[u8], separator: u8, mut each: impl FnMut(usize, usize)) {
    let mut start = 0;
    let (blocks, rest) = bytes.as_chunks::<64>();
    for (i, block) in blocks.iter().enumerate() {
        let mut ends = places_of(block, separator);
        while ends != 0 {
            let end = i * 64 + ends.trailing_zeros() as usize;
            each(start, end);
            start = end + 1;
            ends &= ends - 1;
        }
    }
    let done = bytes.len() - rest.len();
    for (i, byte) in rest.iter().enumerate() {
        if *byte == separator {
            each(start, done + i);
            start = done + i + 1;
        }
    }
    if start < bytes.len() {
        each(start, bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_are_what_lies_between_separators(bytes in prop::collection::vec(0u8..3, 0..400)) {
            let mut found = Vec::new();
            each_record(&bytes, 0, |start, end| found.push(&bytes[start..end]));
            let mut expected: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
            // What stands behind the last separator is a record only if there is something.
            if expected.last().is_some_and(|last| last.is_empty()) {
                expected.pop();
            }
            prop_assert_eq!(found, expected);
        }
    }
}
