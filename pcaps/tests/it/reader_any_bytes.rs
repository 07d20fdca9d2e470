//! Arbitrary bytes: the reader never panics, always ends, and gives the same results for a stream as for a slice.

use crate::support::{Order, Seen, drain};
use proptest::prelude::*;
use sluice_pcaps::capture::CaptureReader;

/// Returns the frames that a reader finds, and everything else as text.
fn outcome(opened: Result<CaptureReader<'_>, sluice_pcaps::capture::CaptureError>) -> (Vec<Seen>, String) {
    match opened {
        Err(error) => (Vec::new(), error.to_string()),
        Ok(mut reader) => {
            let (seen, error) = drain(&mut reader);
            assert!(reader.next_frame().unwrap().is_none());
            assert_eq!(seen.len() as u64, reader.records());
            let end = error.map_or(format!("{:?}", reader.truncated()), |error| error.to_string());
            (seen, end)
        }
    }
}

/// Draws valid captures of both formats, to be damaged.
fn capture() -> impl Strategy<Value = Vec<u8>> {
    let packets = prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..80)), 0..6);
    (any::<bool>(), any::<bool>(), packets).prop_map(|(big, classic, packets)| {
        let order = Order { big };
        let mut bytes = if classic {
            order.pcap_header(0xa1b2_c3d4, 96, 1)
        } else {
            [order.section(), order.interface(1, 0, &[order.option(9, &[9])])].concat()
        };
        for (ticks, data) in packets {
            let len = data.len() as u32;
            bytes.extend(if classic {
                order.pcap_record(ticks, ticks % 1_000_000, &data, len)
            } else {
                order.enhanced(0, ticks.into(), &data, len)
            });
        }
        bytes
    })
}

proptest! {
    #[test]
    fn any_bytes_end(tail in prop::collection::vec(any::<u8>(), 0..300), magic in 0usize..4) {
        let mut bytes =
            [&[][..], &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0], &[0x0a, 0x0d, 0x0d, 0x0a], &[0xa1, 0xb2, 0x3c, 0x4d]]
                [magic].to_vec();
        bytes.extend(tail);
        let whole = outcome(CaptureReader::from_bytes(&bytes, "x"));
        prop_assert_eq!(whole, outcome(CaptureReader::from_read(&bytes[..], "x")));
    }

    #[test]
    fn damaged_captures_end(
        mut bytes in capture(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len() * 2).max(1));
        let whole = outcome(CaptureReader::from_bytes(&bytes, "x"));
        prop_assert_eq!(whole, outcome(CaptureReader::from_read(&bytes[..], "x")));
    }

    #[test]
    fn undamaged_captures_have_no_error(bytes in capture()) {
        prop_assert_eq!(outcome(CaptureReader::from_bytes(&bytes, "x")).1, "None");
    }
}
