//! Frames from a TOML text: bytes, instants, and the places of errors.

use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::generate::{Envelope, FrameList, FrameSource};
use sluice_pcaps::wire::{MacAddr, arp, ethernet, ipv4, ipv6, pause, roce, tcp, udp, vlan, vxlan};

fn parse(text: &str) -> Result<FrameList, String> {
    let envelope = Envelope::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
    FrameList::parse("f.toml", text, envelope).map_err(|e| e.to_string())
}

fn all(text: &str) -> Vec<(u128, Vec<u8>)> {
    let mut frames = parse(text).unwrap().frames(CaptureTime::EPOCH);
    let total = frames.total();
    let all: Vec<_> =
        std::iter::from_fn(|| frames.next_frame().map(|(time, frame)| (time.as_ps(), frame.to_vec())))
            .collect();
    assert_eq!(all.len() as u64, total);
    all
}

fn one(keys: &str) -> Vec<u8> {
    let mut frames = all(&format!("[[frame]]\nat = 0\n{keys}\n"));
    assert_eq!(frames.len(), 1);
    frames.remove(0).1
}

const ADDRESSES: &str = "src = \"10.0.0.1\"\ndst = \"10.1.0.1\"\n";

#[test]
fn trains_are_merged_to_the_picosecond() {
    let text = "[[frame]]\nat = \"1.000337us\"\nkind = \"raw\"\nhex = \"01 02\"\nrepeat = 3\nevery = 7\n\
                [[frame]]\nat = 1_000_344\nkind = \"raw\"\nhex = \"03\"\n";
    let expected: [(u128, &[u8]); 4] =
        [(1_000_337, &[1, 2]), (1_000_344, &[1, 2]), (1_000_344, &[3]), (1_000_351, &[1, 2])];
    assert_eq!(all(text), expected.map(|(ps, frame)| (ps, frame.to_vec())));
}

#[test]
fn udp_and_tcp() {
    let frame =
        one(&format!("kind = \"udp\"\n{ADDRESSES}dport = 9\nttl = 3\ndscp = 46\npayload = \"dead beef\""));
    let ip = ipv4::View::new(ethernet::View::new(&frame).unwrap().payload()).unwrap();
    assert_eq!((ip.ttl(), ip.dscp(), ip.checksum_ok()), (3, 46, true));
    let datagram = udp::View::new(ip.payload()).unwrap();
    assert_eq!((datagram.destination_port(), datagram.payload()), (9, &[0xde, 0xad, 0xbe, 0xef][..]));

    let frame = one(
        "kind = \"tcp\"\nsrc = \"::1\"\ndst = \"::2\"\nvlan = 5\npcp = 6\nflags = 2\nseq = 7\nsize = 90\nflow_label = 0x12345",
    );
    assert_eq!(frame.len(), 90);
    let tag = vlan::View::new(ethernet::View::new(&frame).unwrap().payload()).unwrap();
    assert_eq!((tag.vid(), tag.pcp()), (5, 6));
    let ip = ipv6::View::new(tag.payload()).unwrap();
    let segment = tcp::View::new(ip.payload()).unwrap();
    assert_eq!((ip.flow_label(), segment.sequence(), segment.flags()), (0x12345, 7, tcp::SYN));
}

#[test]
fn roce_and_cnp() {
    let frame = one(&format!(
        "kind = \"roce\"\n{ADDRESSES}opcode = 0x11\nqp = 0x123\npsn = 5\nsyndrome = 0x60\nmsn = 1\nsize = 0"
    ));
    assert_eq!(frame.len(), 62);
    let (covered, stored) = frame[14..].split_last_chunk().unwrap();
    assert_eq!(roce::icrc(covered).unwrap().to_le_bytes(), *stored);
    let view = roce::View::new(&frame[42..]).unwrap();
    assert_eq!((view.opcode(), view.destination_qp(), view.psn()), (0x11, 0x123, 5));
    assert_eq!(view.payload(), [0x60, 0, 0, 1]);
    let frame = one(&format!("kind = \"cnp\"\n{ADDRESSES}qp = 7"));
    let header = roce::View::new(&frame[42..]).unwrap().header();
    assert_eq!((frame.len(), header.opcode, header.becn, header.destination_qp), (74, 0x81, true, 7));
    assert_eq!(frame[15], 48 << 2 | 2);
}

#[test]
fn tunnels_arp_and_pauses() {
    let frame = one(&format!(
        "kind = \"udp\"\n{ADDRESSES}vni = 70\ntunnel_src = \"fd00::1\"\ntunnel_dst = \"fd00::2\"\nsize = 150"
    ));
    assert_eq!(frame.len(), 150);
    let tunnel = vxlan::View::new(&frame[62..]).unwrap();
    let inner = ipv4::View::new(ethernet::View::new(tunnel.payload()).unwrap().payload()).unwrap();
    assert_eq!((tunnel.vni(), inner.source()), (70, [10, 0, 0, 1].into()));

    let frame = one(&format!("kind = \"arp\"\n{ADDRESSES}"));
    let link = ethernet::View::new(&frame).unwrap();
    assert_eq!((frame.len(), link.destination()), (60, MacAddr::BROADCAST));
    assert_eq!(arp::View::new(link.payload()).unwrap().target_ip(), std::net::Ipv4Addr::new(10, 1, 0, 1));

    let frame = one("kind = \"pfc\"\nclasses = [3, 4]\nquanta = 9");
    let packet = pause::View::new(&frame[14..]).unwrap().packet();
    assert_eq!(packet, pause::Packet::pfc(0b1_1000, 9));
    let frame = one("kind = \"pause\"\nquanta = 9\nsmac = \"02:00:00:00:00:09\"");
    assert_eq!(frame[11], 9);
    assert_eq!(pause::View::new(&frame[14..]).unwrap().packet(), pause::Packet::Pause { quanta: 9 });
}

#[test]
fn mistakes_are_named_with_their_place() {
    let refusal = |keys: &str| parse(&format!("[[frame]]\nat = 0\n{keys}\n")).unwrap_err();
    let begins = |found: String, expected: &str| {
        assert!(found.starts_with(expected), "found    {found}\nexpected {expected}");
    };
    begins(parse("").unwrap_err(), "f.toml:1:1: found no frame");
    begins(parse("frame = 3").unwrap_err(), "f.toml:1:1: found `frame`, expected [[frame]] tables");
    begins(parse("[[packet]]").unwrap_err(), "f.toml:1:3: found `packet`, expected [[frame]]");
    begins(parse("[[frame]]\nat = = 3").unwrap_err(), "f.toml:2:6: ");
    begins(parse("[[frame]]\nkind = \"raw\"").unwrap_err(), "f.toml:1:1: at: found nothing");
    begins(refusal("kind = \"upd\""), "f.toml:1:1: kind: found `upd`, expected \"udp\", \"tcp\"");
    begins(refusal("kind = \"raw\"\nhex = \"012\""), "f.toml:4:7: hex: found \"012\", expected hexadecimal");
    begins(
        refusal("kind = \"raw\"\nhex = \"01\"\nvlan = 3"),
        "f.toml:5:1: found key `vlan`, which a frame of kind `raw`",
    );
    begins(refusal(&format!("kind = \"udp\"\n{ADDRESSES}seq = 1")), "f.toml:6:1: found key `seq`");
    begins(
        refusal(&format!("kind = \"udp\"\n{ADDRESSES}dport = 70000")),
        "f.toml:6:9: dport: found 70000, expected a number from 0 to 65535",
    );
    begins(
        refusal(&format!("kind = \"udp\"\n{ADDRESSES}pcp = 1")),
        "f.toml:1:1: pcp: found a value, expected vlan or qinq as well",
    );
    begins(
        refusal("kind = \"udp\"\nsrc = \"10.0.0.1\"\ndst = \"::1\""),
        "f.toml:1:1: dst: found ::1, expected the family",
    );
    begins(refusal("kind = \"raw\"\nhex = \"01\"\nrepeat = 2"), "f.toml:1:1: every: found nothing");
    begins(
        refusal("kind = \"pfc\"\nclasses = [8]"),
        "f.toml:4:11: classes: found [8], expected a list of numbers from 0 to 7",
    );
    begins(
        refusal("kind = \"raw\"\nhex = \"01\"\nevery = \"soon\""),
        "f.toml:5:9: every: found \"soon\", expected a number of picoseconds",
    );
}
