//! The committed traces are those that the generators make, and have the documented contents.

use crate::support::frames;
use sluice_pcaps::samples::{self, FLOWLETS, L3_ECMP, flowlets, l3_ecmp};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, vlan};

/// `UPDATE_EXPECT=1` rewrites the file.
#[test]
fn l3_ecmp_is_what_the_generator_makes() {
    let made = l3_ecmp().unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/l3-ecmp.pcap"), &made).unwrap();
        return;
    }
    assert!(made == L3_ECMP, "pcaps/samples/l3-ecmp.pcap is stale; write it with UPDATE_EXPECT=1");
}

/// `UPDATE_EXPECT=1` rewrites the traces of the other programs.
#[test]
fn the_others_are_what_their_generators_make() {
    let [probes4, probes5] = samples::hula_probes().unwrap();
    let all = [
        ("drill.pcap", samples::drill().unwrap(), samples::DRILL),
        ("drill-burst.pcap", samples::drill_burst().unwrap(), samples::DRILL_BURST),
        ("conga.pcap", samples::conga().unwrap(), samples::CONGA),
        ("conga-leaf1.pcap", samples::conga_leaf1().unwrap(), samples::CONGA_LEAF1),
        ("hula.pcap", samples::hula().unwrap(), samples::HULA),
        ("hula-probes4.pcap", probes4, samples::HULA_PROBES[0]),
        ("hula-probes5.pcap", probes5, samples::HULA_PROBES[1]),
        ("flowlets.pcap", flowlets().unwrap(), FLOWLETS),
        ("ecmp.pcap", samples::ecmp().unwrap(), samples::ECMP),
        ("ecn-mark.pcap", samples::ecn_mark().unwrap(), samples::ECN_MARK),
        ("pfc.pcap", samples::pfc().unwrap(), samples::PFC),
        ("afc-leak.pcap", samples::afc_leak().unwrap(), samples::AFC_LEAK),
        ("int.pcap", samples::int().unwrap(), samples::INT),
        ("int-node.pcap", samples::int_node().unwrap(), samples::INT_NODE),
        ("hpcc-int.pcap", samples::hpcc_int().unwrap(), samples::HPCC_INT),
    ];
    for (name, made, committed) in all {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(format!("{}/samples/{name}", env!("CARGO_MANIFEST_DIR")), &made).unwrap();
            continue;
        }
        assert!(made == committed, "pcaps/samples/{name} is stale; write it with UPDATE_EXPECT=1");
        assert!(frames(committed).len() > 10);
    }
}

#[test]
fn flowlets_holds_what_it_promises() {
    let frames = frames(FLOWLETS);
    assert_eq!(frames.len(), 48 * 20 + 120);
    let span = frames[frames.len() - 1].time.ps_since(frames[0].time).unwrap();
    assert!((1_100_000_000..1_300_000_000).contains(&span), "{span}");
    assert!(frames.iter().all(|f| f.orig_len == 1_514 && f.data.len() == 64));
    let to = |f: &crate::support::Seen| {
        ipv4::View::new(ethernet::View::new(&f.data).unwrap().payload()).unwrap().destination()
    };
    assert_eq!(frames.iter().filter(|f| to(f).octets()[1] == 2).count(), 8 * 20);
}

#[test]
fn ecmp_holds_what_it_promises() {
    let frames = frames(samples::ECMP);
    assert_eq!(frames.len(), 4 * (64 + 16 + 2) + 3);
    let (mut north, mut south, mut expiring, mut wrong) = (Vec::new(), Vec::new(), 0, 0);
    for frame in &frames {
        let Ok(ip) = ipv4::View::new(ethernet::View::new(&frame.data).unwrap().payload()) else { continue };
        let port = u16::from_be_bytes(frame.data[34..36].try_into().unwrap());
        match (ip.ttl(), ip.checksum_ok(), ip.destination().octets()[1]) {
            (1, ..) => expiring += 1,
            (_, false, _) => wrong += 1,
            (.., 2) => north.push(port),
            _ => south.push(port),
        }
    }
    assert_eq!((north.len(), south.len(), expiring, wrong), (256, 64, 4, 4));
    north.sort_unstable();
    north.dedup();
    assert_eq!((north.len(), north[0], north[63]), (64, 20_012, 20_506));
}

#[test]
fn l3_ecmp_holds_what_it_promises() {
    let frames = frames(L3_ECMP);
    assert_eq!(frames.len(), 320 + 60 + 4 + 4 + 4 + 2 + 6 + 3 + 400);
    let span = frames[frames.len() - 1].time.ps_since(frames[0].time).unwrap();
    assert!((190_000_000..200_000_000).contains(&span), "{span}");
    let (mut flows, mut tagged, mut expiring, mut telnet, mut denied, mut arp, mut incast) =
        (Vec::new(), 0, 0, 0, 0, 0, 0);
    for frame in &frames {
        let link = ethernet::View::new(&frame.data).unwrap();
        let (ethertype, payload) = match link.ethertype() {
            ethernet::TYPE_VLAN => {
                let tag = vlan::View::new(link.payload()).unwrap();
                assert_eq!(tag.vid(), 100);
                tagged += 1;
                (tag.ethertype(), tag.payload())
            }
            other => (other, link.payload()),
        };
        match ethertype {
            ethernet::TYPE_IPV4 => {
                let ip = ipv4::View::new(payload).unwrap();
                assert!(ip.checksum_ok());
                // TCP and UDP have their ports at the same place.
                let ports = (&payload[20..22], &payload[22..24]);
                expiring += u32::from(ip.ttl() == 1);
                telnet += u32::from(ports.1 == [0, 23]);
                denied += u32::from(ip.source().octets()[..3] == [192, 0, 2]);
                incast += u32::from(ip.destination().octets() == [10, 9, 9, 9]);
                flows.push((ip.source(), ip.destination(), ip.protocol(), ports));
            }
            ethernet::TYPE_IPV6 => expiring += u32::from(ipv6::View::new(payload).unwrap().hop_limit() == 1),
            ethernet::TYPE_ARP => arp += 1,
            other => panic!("EtherType {other:#x}"),
        }
    }
    flows.sort_unstable();
    flows.dedup();
    assert!(flows.len() > 240, "{}", flows.len());
    assert!(flows.iter().any(|flow| flow.2 == ipv4::PROTOCOL_TCP));
    assert!((20..60).contains(&tagged), "{tagged}");
    assert_eq!((expiring, telnet, denied, arp, incast), (8, 6, 6, 3, 400));
}

#[test]
fn l3_ecmp_fits_a_400g_port() {
    let frames = frames(L3_ECMP);
    for pair in frames.windows(2) {
        let gap = pair[1].time.ps_since(pair[0].time).expect("frames in order");
        let busy = ethernet::wire_len(pair[0].orig_len) * 20;
        // Timestamps are rounded down to a nanosecond.
        assert!(gap + 1_000 > busy, "frame {} starts {gap} ps after one of {busy} ps", pair[1].record);
    }
}
