//! Linux's cooked captures (`tcpdump -i any`): link types SLL and SLL2 as Ethernet frames.
//!
//! A cooked record has the sender's address and the protocol, but no destination address. The Ethernet header that replaces the
//! record's is made from what there is; [`SYNTHESISED_HOST`] and [`SYNTHESISED_GROUP`] stand for what there is not.

/// Link type of version 1.
pub(super) const SLL: u32 = 113;
/// Link type of version 2.
pub(super) const SLL2: u32 = 276;

/// Destination of a frame for one host, and source of a frame whose sender's address does not have six bytes.
pub const SYNTHESISED_HOST: [u8; 6] = [0x02, 0, 0, 0, 0, 0];
/// Destination of a frame for a group of hosts.
pub const SYNTHESISED_GROUP: [u8; 6] = [0x03, 0, 0, 0, 0, 0];
const BROADCAST: [u8; 6] = [0xff; 6];

/// Bytes of an Ethernet header.
pub(super) const ETHERNET_LEN: usize = 14;
/// Protocol numbers below this are not EtherTypes: the frame has a length there.
const LEAST_ETHER_TYPE: u16 = 0x0600;

/// Returns the bytes of a cooked header; `None` for other link types.
pub(super) const fn header_len(link_type: u32) -> Option<usize> {
    match link_type {
        SLL => Some(16),
        SLL2 => Some(20),
        _ => None,
    }
}

/// Writes the Ethernet frame of a cooked record into `into`, which is empty if the record ends inside its header.
pub(super) fn unwrap(link_type: u32, record: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let Some((header, payload)) = header_len(link_type).and_then(|len| record.split_at_checked(len)) else {
        return;
    };
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (kind, address_len, address, protocol) = match link_type {
        SLL => (half(0), half(4), &header[6..12], half(14)),
        _ => (u16::from(header[10]), u16::from(header[11]), &header[12..18], half(0)),
    };
    // The packet types of Linux: to us, broadcast, multicast, to someone else, sent by us.
    let destination = match kind {
        1 => BROADCAST,
        2 => SYNTHESISED_GROUP,
        _ => SYNTHESISED_HOST,
    };
    let source = if address_len == 6 { address } else { &SYNTHESISED_HOST };
    let length = || u16::try_from(payload.len()).unwrap_or(LEAST_ETHER_TYPE - 1).min(LEAST_ETHER_TYPE - 1);
    let ether_type = if protocol < LEAST_ETHER_TYPE { length() } else { protocol };
    into.extend_from_slice(&destination);
    into.extend_from_slice(source);
    into.extend_from_slice(&ether_type.to_be_bytes());
    into.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDER: [u8; 6] = [0xaa, 0xbb, 0xcc, 1, 2, 3];

    /// A record of version 1 with a payload of two bytes.
    fn sll(kind: u8, address_len: u8, protocol: u16) -> Vec<u8> {
        let mut record = vec![0, kind, 0, 1, 0, address_len];
        record.extend(SENDER);
        record.extend([0, 0]);
        record.extend(protocol.to_be_bytes());
        record.extend([7, 8]);
        record
    }

    #[test]
    fn version_1() {
        let mut frame = Vec::new();
        unwrap(SLL, &sll(0, 6, 0x0800), &mut frame);
        assert_eq!(frame, [&SYNTHESISED_HOST[..], &SENDER, &[8, 0, 7, 8]].concat());
        unwrap(SLL, &sll(1, 6, 0x0806), &mut frame);
        assert_eq!(frame[..6], BROADCAST);
        unwrap(SLL, &sll(2, 0, 0x86dd), &mut frame);
        assert_eq!(frame, [&SYNTHESISED_GROUP[..], &SYNTHESISED_HOST, &[0x86, 0xdd, 7, 8]].concat());
        // Frames of 802.2 have their length where others have an EtherType.
        unwrap(SLL, &sll(0, 6, 4), &mut frame);
        assert_eq!(frame[12..], [0, 2, 7, 8]);
        unwrap(SLL, &[0; 15], &mut frame);
        assert!(frame.is_empty());
    }

    #[test]
    fn version_2() {
        let mut record = vec![0x08, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6];
        record.extend(SENDER);
        record.extend([0, 0, 0x45]);
        let mut frame = Vec::new();
        unwrap(SLL2, &record, &mut frame);
        assert_eq!(frame, [&SYNTHESISED_HOST[..], &SENDER, &[8, 0, 0x45]].concat());
    }
}
