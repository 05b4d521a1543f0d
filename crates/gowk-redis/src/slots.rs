//! Slots of a cluster: which one a key is in, and names that lie in a chosen one.

use std::sync::OnceLock;

/// The slots of a cluster.
pub(crate) const SLOTS: u16 = 16_384;

/// The slot of a key: of what is between its first braces, if there is anything, else of all of it.
pub(crate) fn slot_of(key: &[u8]) -> u16 {
    let tagged = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        let close = rest.iter().position(|byte| *byte == b'}')?;
        (close > 0).then(|| &rest[..close])
    });
    crc16(tagged.unwrap_or(key)) % SLOTS
}

/// CRC-16/XMODEM, by which a cluster spreads keys.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0u16, |mut crc, byte| {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
        }
        crc
    })
}

/// A number whose digits lie in this slot: the least such. In braces it brings a key there.
pub(crate) fn tag(slot: u16) -> u32 {
    static TAGS: OnceLock<Vec<u32>> = OnceLock::new();
    let tags = TAGS.get_or_init(|| {
        let mut tags = vec![u32::MAX; usize::from(SLOTS)];
        let mut missing = tags.len();
        for number in 0.. {
            let tag = &mut tags[usize::from(crc16(number.to_string().as_bytes()) % SLOTS)];
            if *tag == u32::MAX {
                *tag = number;
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
        }
        tags
    });
    tags[usize::from(slot)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lie_where_the_documentation_of_the_cluster_says() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(slot_of(b"foo"), 12_182);
        assert_eq!(slot_of(b"{user1000}.following"), slot_of(b"user1000"));
        assert_eq!(slot_of(b"foo{}{bar}"), crc16(b"foo{}{bar}") % SLOTS, "empty braces are no tag");
        assert_eq!(slot_of(b"foo{{bar}}"), slot_of(b"{bar"));
    }

    #[test]
    fn every_slot_has_a_short_tag() {
        for slot in 0..SLOTS {
            assert_eq!(slot_of(format!("any:{{{}}}", tag(slot)).as_bytes()), slot);
            assert!(tag(slot) < 1_000_000);
        }
    }
}
