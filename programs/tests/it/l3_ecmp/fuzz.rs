//! Any frame is sent on a port that exists, or dropped for a stated reason.

use crate::l3_ecmp::device::{Device, Fate};
use proptest::prelude::*;

/// A frame that passes Ethernet and often IP, with otherwise arbitrary bytes.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let types = prop::sample::select(vec![0x0800u16, 0x86dd, 0x0806, 0x8100, 0x88cc]);
    let protocols = prop::sample::select(vec![6u8, 17, 1, 44, 58]);
    let bytes = prop::collection::vec(any::<u8>(), 60..600);
    (bytes, types.clone(), types, protocols, any::<bool>(), any::<bool>()).prop_map(
        |(mut frame, outer, inner, protocol, mend, repair)| {
            frame[12..14].copy_from_slice(&outer.to_be_bytes());
            let ip = if outer == 0x8100 { 18 } else { 14 };
            if outer == 0x8100 {
                frame[16..18].copy_from_slice(&inner.to_be_bytes());
            }
            let family = if outer == 0x8100 { inner } else { outer };
            match family {
                0x0800 => {
                    frame[ip + 9] = protocol;
                    if mend {
                        frame[ip] = 0x45;
                    }
                    if repair {
                        frame[ip + 10..ip + 12].fill(0);
                        let sum = sluice_pcaps::wire::Checksum::new().with(&frame[ip..ip + 20]).finish();
                        frame[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
                    }
                }
                0x86dd => frame[ip + 6] = protocol,
                _ => {}
            }
            frame
        },
    )
}

proptest! {
    #[test]
    fn any_frame_has_a_fate(frames in prop::collection::vec(frames(), 1..20), port in 0u16..32) {
        let mut device = Device::new();
        for sent in frames {
            match device.send(port, &sent) {
                // At most one tag is added or removed.
                Fate::Out(_, out) | Fate::Cpu(out) => prop_assert!(out.len().abs_diff(sent.len()) <= 4),
                Fate::Dropped(label) => {
                    prop_assert!(["ipv4_checksum", "acl_deny"].contains(&label.as_str()), "{}", label);
                }
                Fate::ParserError => prop_assert!(sent.len() < 18 + 40 + 4),
            }
        }
    }

    #[test]
    fn a_routed_ipv4_packet_verifies(dst: [u8; 4], src: [u8; 4], ttl in 2u8.., len in 60usize..200) {
        use crate::l3_ecmp::device::{frame, inbound, ip4, ports};
        use sluice_pcaps::wire::ipv4;
        let sent = frame(inbound().ipv4(ipv4::Header { ttl, ..ip4(src, dst) }).udp(ports(7, 8)), len);
        let mut device = Device::new();
        match device.send(0, &sent) {
            Fate::Out(_, out) => {
                let at = if out[12..14] == [0x81, 0x00] { 18 } else { 14 };
                let ip = ipv4::View::new(&out[at..]).unwrap();
                prop_assert!(ip.checksum_ok());
                prop_assert_eq!(ip.ttl(), ttl - 1);
                prop_assert_eq!((ip.source().octets(), ip.destination().octets()), (src, dst));
                prop_assert_eq!(&out[at + 20..], &sent[34..]);
            }
            Fate::Dropped(label) => prop_assert!(label == "acl_deny" && src[..3] == [192, 0, 2]),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
