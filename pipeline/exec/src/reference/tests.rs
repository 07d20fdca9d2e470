//! Effects of the interpreter on packets of the sample router, byte by byte.

use super::*;
use crate::packet::HeadLayout;
use crate::pass::{Count, PassIn};
use expect_test::expect_file;
use proptest::prelude::*;
use sluice_asic::hash::HashAlgorithm;
use sluice_control::{ControlOp, GroupMember, Then, toml};
use sluice_ir::entity::Entity;
use sluice_ir::{
    ActionCall, Counter, Deparser, Expr, HashData, Home, Loc, MatchKind, Next, ParserOpKind, PrimitiveKind,
    StmtKind,
};
use sluice_samples::router::{Maker, router, stmt};

const ENTRIES: &str = r#"
[[profile.nexthops.member]]
id = 1
action = "set_nexthop"
args = { port = 11, dmac = "02:00:00:00:00:0b" }
[[profile.nexthops.member]]
id = 2
action = "set_nexthop"
args = [12, "02:00:00:00:00:0c"]
[[profile.nexthops.group]]
id = 1
members = [{ member = 1, weight = 3 }, 2]
[[table.ipv4_lpm]]
key = { dst = "10.0.0.0/8" }
group = 1
[[table.ipv4_lpm]]
key = { dst = "10.1.0.0/16" }
member = 2
[[table.acl]]
key = { src = "192.0.2.0/24" }
action = "permit"
priority = 20
[[table.acl]]
key = { src = "192.0.2.66" }
action = "deny"
priority = 10
[[table.acl]]
key = { proto = 6 }
action = "push_vlan"
args = [0x123]
priority = 30
[[table.host]]
key = { "eth.dst" = "02:00:00:00:00:aa", "ipv6.dst" = "2001:db8::/32" }
action = "forward"
args = [5]
"#;

fn configured(program: &Program) -> ControlState {
    let mut control = ControlState::new(program);
    toml::parse(program, ENTRIES, "e.toml").unwrap().apply(program, &mut control).unwrap();
    control
}

/// Returns Ethernet and IPv4 headers with a correct checksum, then four payload bytes.
fn ipv4(src: [u8; 4], dst: [u8; 4], proto: u8, ttl: u8) -> Vec<u8> {
    let mut ip = vec![0x45, 0, 0, 24, 0x12, 0x34, 0x40, 0, ttl, proto, 0, 0];
    ip.extend(src);
    ip.extend(dst);
    let sum: u32 = ip.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend(ip);
    frame.extend([0xde, 0xad, 0xbe, 0xef]);
    frame
}

struct Bench<T = NoTrace> {
    reference: Reference<T>,
    packets: PacketStore,
}

impl<T: Tracer> Bench<T> {
    fn with(program: &Program, control: &ControlState, tracer: T) -> Self {
        let reference = Reference::traced(program, control, Options::default(), tracer);
        Bench { reference, packets: PacketStore::new(HeadLayout::default()) }
    }

    fn send(&mut self, gress: Gress, frame: &[u8], missing: u32) -> (PassOut, Vec<u8>) {
        let packet = self.packets.insert(frame, missing);
        let mut batch = [Pass::new(packet, PassIn { port: 3, enq_tstamp: u32::MAX, ..PassIn::default() })];
        self.reference.run(gress, &mut batch, &mut self.packets);
        let mut bytes = self.packets.head(packet).to_vec();
        bytes.extend(self.packets.tail(packet));
        self.packets.remove(packet);
        (batch[0].output, bytes)
    }
}

fn bench() -> Bench {
    let program = router();
    Bench::with(&program, &configured(&program), NoTrace)
}

fn label(name: &str) -> Verdict {
    Verdict::Label(router().labels.iter().find(|(_, l)| l.name == name).unwrap().0)
}

fn forward(port: u16, parser_cycles: u16) -> PassOut {
    PassOut { port, parser_cycles, ..PassOut::default() }
}

#[test]
fn the_group_member_of_the_hash_rewrites_the_packet() {
    // The hash is the source address; slots 0..3 of the group hold member 1, slot 3 member 2.
    for (last, port) in [(4, 11), (5, 11), (6, 11), (7, 12), (11, 12)] {
        let mut b = bench();
        let frame = ipv4([198, 51, 100, last], [10, 2, 3, 4], 17, 64);
        let (out, bytes) = b.send(Gress::Ingress, &frame, 0);
        // 198.51.100.x ends in …100 * 256 + x; 100 * 256 is a multiple of 4.
        assert_eq!(out, forward(port, 2), "source …{last}");
        let mut expected = ipv4([198, 51, 100, last], [10, 2, 3, 4], 17, 63);
        expected[5] = port as u8;
        assert_eq!(bytes, expected);
    }
}

#[test]
fn the_longest_prefix_wins_and_a_member_needs_no_hash() {
    let (out, _) = bench().send(Gress::Ingress, &ipv4([198, 51, 100, 4], [10, 1, 3, 4], 17, 64), 0);
    assert_eq!(out.port, 12);
    let (out, bytes) = bench().send(Gress::Ingress, &ipv4([198, 51, 100, 4], [11, 1, 3, 4], 17, 64), 0);
    assert_eq!(
        out,
        PassOut {
            verdict: label("no_route"),
            port: Intrinsic::NO_PORT,
            parser_cycles: 2,
            ..PassOut::default()
        }
    );
    assert_eq!(bytes, ipv4([198, 51, 100, 4], [11, 1, 3, 4], 17, 64));
}

#[test]
fn members_that_are_down_are_not_picked_and_an_empty_group_runs_the_default() {
    let program = router();
    let mut control = configured(&program);
    let profile = program.profile_named("nexthops").unwrap();
    let mut send = |active: [bool; 2]| {
        for (member, active) in [1, 2].into_iter().zip(active) {
            control
                .apply(&program, ControlOp::SetMemberActive { profile, group: 1, member, active })
                .unwrap();
        }
        let mut b = bench();
        b.reference.profile_changed(profile, &control);
        b.send(Gress::Ingress, &ipv4([198, 51, 100, 4], [10, 2, 3, 4], 17, 64), 0).0
    };
    assert_eq!(send([false, true]).port, 12);
    assert_eq!(send([true, false]).port, 11);
    assert_eq!(send([false, false]).verdict, label("no_route"));
}

#[test]
fn lower_priority_wins_and_direct_counters_count_its_entry() {
    let mut b = bench();
    let denied = ipv4([192, 0, 2, 66], [10, 2, 3, 4], 6, 64);
    let (out, bytes) = b.send(Gress::Ingress, &denied, 7);
    // The last label of the pass is the reason; before, the route was found.
    assert_eq!(out.verdict, label("acl_deny"));
    assert_eq!(bytes.len(), denied.len() + 7);
    b.send(Gress::Ingress, &ipv4([192, 0, 2, 1], [10, 2, 3, 4], 6, 64), 0);
    let state = b.reference.state();
    let hits = &state.counters[Counter::new(1)];
    assert_eq!(hits[0], Count { packets: 1, bytes: 38 });
    assert_eq!(hits[1], Count { packets: 1, bytes: 38 + 7 });
    assert_eq!(hits[2], Count::default());
    assert_eq!(state.counters[Counter::new(0)][3], Count { packets: 2, bytes: 83 });
}

#[test]
fn a_pushed_header_stands_in_front_of_the_payload() {
    let frame = ipv4([198, 51, 100, 4], [10, 2, 3, 4], 6, 64);
    let (out, bytes) = bench().send(Gress::Ingress, &frame, 0);
    assert_eq!(out.verdict, Verdict::Forward);
    let inner = ipv4([198, 51, 100, 4], [10, 2, 3, 4], 6, 63);
    let mut expected = vec![2, 0, 0, 0, 0, 11, 2, 0, 0, 0, 0, 2, 0x81, 0, 0x01, 0x23, 8, 0];
    expected.extend(&inner[14..]);
    assert_eq!(bytes, expected);
}

#[test]
fn a_wrong_checksum_is_seen_and_a_right_one_passes() {
    let mut frame = ipv4([198, 51, 100, 4], [10, 2, 3, 4], 17, 64);
    frame[24] ^= 1;
    assert_eq!(bench().send(Gress::Ingress, &frame, 0).0.verdict, label("bad_checksum"));
}

#[test]
fn two_labels_in_one_pass_leave_the_last() {
    let mut frame = ipv4([192, 0, 2, 66], [11, 2, 3, 4], 17, 64);
    frame[24] ^= 1;
    assert_eq!(bench().send(Gress::Ingress, &frame, 0).0.verdict, label("no_route"));
}

#[test]
fn ipv6_behind_vlan_goes_by_exact_and_prefix() {
    let mut frame = vec![2, 0, 0, 0, 0, 0xaa, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 5, 0x86, 0xdd];
    let mut ip = vec![0x60, 0, 0, 0, 0, 0, 59, 64];
    ip.extend([0; 16]);
    ip.extend([0x20, 0x01, 0x0d, 0xb8]);
    ip.extend([1; 12]);
    frame.extend(ip);
    assert_eq!(bench().send(Gress::Ingress, &frame, 0), (forward(5, 3), frame.clone()));
    frame[5] = 0xab;
    let (out, bytes) = bench().send(Gress::Ingress, &frame, 0);
    assert_eq!(out, PassOut { verdict: Verdict::NoPort, ..forward(Intrinsic::NO_PORT, 3) });
    assert_eq!(bytes, frame);
}

#[test]
fn parser_errors_lose_the_packet_unless_the_program_asks_for_them() {
    let mut b = bench();
    let frame = ipv4([198, 51, 100, 4], [10, 2, 3, 4], 17, 64);
    assert_eq!(b.send(Gress::Ingress, &frame[..33], 0).0.verdict, Verdict::ParserError(0x002));
    assert_eq!(b.send(Gress::Ingress, &frame[..33], 0).0.parser_cycles, 2);
    let mut odd = frame.clone();
    odd[12..18].copy_from_slice(&[0x81, 0, 0, 5, 0x12, 0x34]);
    assert_eq!(b.send(Gress::Ingress, &odd, 0).0.verdict, Verdict::ParserError(0x001));
    // Egress declares prsr.parser_err: the frame leaves as it came.
    let (out, bytes) = b.send(Gress::Egress, &frame[..13], 0);
    assert_eq!((out.verdict, &bytes[..]), (Verdict::Forward, &frame[..13]));
    let field = router().intrinsic(Gress::Egress, Intrinsic::ParserErr).unwrap();
    assert_eq!(b.reference.phv().field(field), 0x002);
}

#[test]
fn bytes_not_captured_read_as_zero() {
    let mut b = bench();
    let frame = ipv4([198, 51, 100, 4], [10, 2, 3, 4], 17, 64);
    let (out, _) = b.send(Gress::Ingress, &frame[..30], 8);
    let program = router();
    let dst = program.field_named(Gress::Ingress, "ipv4.dst").unwrap();
    assert_eq!(b.reference.phv().field(dst), 0);
    assert_eq!(out.verdict, label("no_route"));
}

#[test]
fn a_header_that_reaches_into_the_tail_is_partial() {
    let program = router();
    let mut b = Bench::with(&program, &configured(&program), NoTrace);
    b.packets = PacketStore::new(HeadLayout { headroom: 8, capacity: 32 });
    let frame = ipv4([198, 51, 100, 4], [10, 2, 3, 4], 17, 64);
    assert_eq!(b.send(Gress::Ingress, &frame, 0).0.verdict, Verdict::ParserError(0x002));
}

#[test]
fn headers_that_do_not_fit_leave_the_packet_as_it_was() {
    let program = router();
    let mut b = Bench::with(&program, &configured(&program), NoTrace);
    b.packets = PacketStore::new(HeadLayout { headroom: 3, capacity: 64 });
    let frame = ipv4([198, 51, 100, 4], [10, 2, 3, 4], 6, 64);
    let (out, bytes) = b.send(Gress::Ingress, &frame, 0);
    assert_eq!((out.verdict, bytes), (Verdict::NoRoom, frame));
}

#[test]
fn intrinsic_inputs_are_cut_to_their_fields() {
    let mut b = bench();
    b.send(Gress::Egress, &[0; 60], 4);
    let program = router();
    let value = |which| b.reference.phv().field(program.intrinsic(Gress::Egress, which).unwrap());
    assert_eq!(value(Intrinsic::EnqTstamp), u128::from(u32::MAX));
    assert_eq!(value(Intrinsic::PktLength), 64);
    assert_eq!(value(Intrinsic::EgressPort), 3);
}

#[test]
fn parser_cycles_come_from_the_options() {
    let program = router();
    let mut options = Options::default();
    options.parser_cycles[0] =
        EntityMap::filled(program.states.len(), |s: ParserState| 10 + s.index() as u16);
    let mut b = bench();
    b.reference = Reference::new(&program, &configured(&program), options);
    let (out, _) = b.send(Gress::Ingress, &ipv4([198, 51, 100, 4], [10, 2, 3, 4], 17, 64), 0);
    assert_eq!(out.parser_cycles, 10 + 12);
}

#[test]
fn a_parser_that_never_ends_runs_out_of_fuel() {
    let mut m = Maker(Program::default());
    let state = m.state(Gress::Ingress, "spin", vec![]);
    m.0.states[state].default = Next::State(state);
    m.0.pipes[0].start = Next::State(state);
    let mut b = Bench::with(&m.0, &ControlState::new(&m.0), NoTrace);
    let (out, _) = b.send(Gress::Ingress, &[0; 60], 0);
    assert_eq!((out.verdict, out.parser_cycles), (Verdict::ParserError(0x010), PARSER_FUEL as u16));
}

#[test]
fn hashes_match_the_published_vectors() {
    // model: hashing §7.3: CRC-32 over seed 0 ‖ sip ‖ dip ‖ sport ‖ dport, low 16 bits, rotated right.
    for (rotate, expected) in [(0, 0x26e0), (4, 0x026e), (8, 0xe026)] {
        let mut m = Maker(Program::default());
        let key = m.header(Gress::Ingress, "key", &[("sip", 32), ("dip", 32), ("sport", 16), ("dport", 16)]);
        let result = m.field(Gress::Ingress, "meta.hash", 16, Home::Metadata);
        let mut inputs = vec![Expr::Const(0, 32)];
        inputs.extend(m.0.headers[key].fields.iter().map(|f| Expr::Field(*f)));
        let hash = m.0.hashes.push(HashData {
            name: "h".into(),
            gress: Gress::Ingress,
            algorithm: HashAlgorithm::from_name("crc_32").unwrap(),
            inputs,
            symmetric: Vec::new(),
            width: 16,
            seed: 0,
            rotate,
            doc: String::new(),
            loc: Loc::default(),
        });
        let start = m.state(Gress::Ingress, "start", vec![ParserOpKind::Extract(key)]);
        let compute = m.action("compute", &[], vec![PrimitiveKind::Hash(result, hash)]);
        m.0.pipes[0].start = Next::State(start);
        m.0.pipes[0].control = vec![stmt(StmtKind::Call(compute))];
        m.0.pipes[0].deparser = Deparser { emit: vec![key], ..Deparser::default() };
        let mut b = Bench::with(&m.0, &ControlState::new(&m.0), NoTrace);
        b.send(Gress::Ingress, &[10, 0, 0, 1, 10, 0, 1, 1, 0x30, 0x39, 0, 80], 0);
        assert_eq!(b.reference.phv().field(result), expected, "rotated by {rotate}");
    }
}

#[test]
fn the_text_trace_names_every_step() {
    let program = router();
    let mut b = Bench::with(&program, &configured(&program), TextTracer::default());
    b.send(Gress::Ingress, &ipv4([198, 51, 100, 7], [10, 2, 3, 4], 6, 64), 0);
    b.send(Gress::Ingress, &ipv4([192, 0, 2, 66], [11, 2, 3, 4], 6, 64)[..20], 0);
    expect_file!["golden/the_text_trace_names_every_step.txt"].assert_eq(&b.reference.tracer().text);
}

proptest! {
    #[test]
    fn any_bytes_end_in_a_verdict_that_keeps_its_promise(
        kind in 0..4usize,
        tail in proptest::collection::vec(any::<u8>(), 0..80),
        cut in 0..120usize,
        missing in 0..40u32,
    ) {
        let mut frame = vec![2, 0, 0, 0, 0, 0xaa, 2, 0, 0, 0, 0, 2];
        frame.extend([[8, 0], [0x81, 0], [0x86, 0xdd], [tail.len() as u8, 9]][kind]);
        frame.extend(&tail);
        frame.truncate(cut);
        for gress in Gress::ALL {
            let mut b = bench();
            let (out, bytes) = b.send(gress, &frame, missing);
            let mut seen = frame.clone();
            seen.resize(bytes.len().max(frame.len()), 0);
            match out.verdict {
                Verdict::Forward if gress == Gress::Ingress => prop_assert_ne!(out.port, Intrinsic::NO_PORT),
                Verdict::NoPort => prop_assert_eq!(out.port, Intrinsic::NO_PORT),
                Verdict::ParserError(bits) => prop_assert!(bits != 0 && gress == Gress::Ingress),
                _ => {}
            }
            if out.verdict != Verdict::Forward || gress == Gress::Egress {
                prop_assert_eq!(bytes, seen);
            }
            let counted: u64 = b.reference.state().counters[Counter::new(0)].iter().map(|c| c.packets).sum();
            let parsed = !matches!(out.verdict, Verdict::ParserError(_));
            prop_assert_eq!(counted, u64::from(gress == Gress::Ingress && parsed));
        }
    }

    #[test]
    fn lookup_is_the_best_entry_by_definition(
        prefixes in proptest::collection::btree_set((any::<u8>(), 0u16..=8), 0..12),
        key: u8,
    ) {
        let mut m = Maker(Program::default());
        let byte = m.header(Gress::Ingress, "h", &[("b", 8)]);
        let field = m.0.headers[byte].fields[0];
        let out = m.intrinsic(Gress::Ingress, Intrinsic::UcastEgressPort);
        let start = m.state(Gress::Ingress, "start", vec![ParserOpKind::Extract(byte)]);
        let act = m.action("act", &[("port", 9)], vec![PrimitiveKind::Set(out, Expr::Param(0, 9))]);
        let miss = m.action("miss", &[], vec![]);
        let table = m.table("t", &[(field, MatchKind::Lpm)], &[act, miss], 100);
        m.0.pipes[0].start = Next::State(start);
        m.0.pipes[0].control = vec![stmt(StmtKind::Apply(table, Default::default()))];
        let mut control = ControlState::new(&m.0);
        let covers = |(value, len): (u8, u16)| len == 0 || value >> (8 - len) == key >> (8 - len);
        for &(value, len) in &prefixes {
            let value = u128::from(value) >> (8 - len) << (8 - len);
            let call = ActionCall { action: act, args: vec![u128::from(len)] };
            let key = vec![sluice_ir::KeyValue::Lpm { value, len }];
            // Two texts of one prefix are the same entry, which the control plane refuses.
            let _ = control.apply(&m.0, ControlOp::InsertEntry { table, key, priority: 0, then: Then::Call(call) });
        }
        let expected = prefixes.iter().copied().filter(|p| covers(*p)).map(|(_, len)| len).max();
        let mut b = Bench::with(&m.0, &control, NoTrace);
        let (pass, _) = b.send(Gress::Ingress, &[key], 0);
        prop_assert_eq!(pass.port, expected.unwrap_or(Intrinsic::NO_PORT));
    }

    #[test]
    fn groups_of_one_word_divide_by_their_weights(weights in proptest::collection::vec(1u32..4, 1..6), low in 0u8..64) {
        let mut program = router();
        let profile = program.profile_named("nexthops").unwrap();
        program.profiles[profile].size = 8;
        program.profiles[profile].selector.as_mut().unwrap().max_group_size = 20;
        let mut control = ControlState::new(&program);
        let action = program.action_named("set_nexthop").unwrap();
        let mut slots = Vec::new();
        for (member, &weight) in (0..).zip(&weights) {
            let call = ActionCall { action, args: vec![u128::from(member), 0] };
            control.apply(&program, ControlOp::SetMember { profile, member, call }).unwrap();
            slots.extend(std::iter::repeat_n(member as u16, weight as usize));
        }
        let members = (0..).zip(&weights).map(|(member, &weight)| GroupMember { member, weight, active: true });
        control.apply(&program, ControlOp::SetGroup { profile, group: 0, members: members.collect() }).unwrap();
        let table = program.table_named("ipv4_lpm").unwrap();
        let key = vec![sluice_ir::KeyValue::Lpm { value: 0, len: 0 }];
        control.apply(&program, ControlOp::InsertEntry { table, key, priority: 0, then: Then::Group(0) }).unwrap();
        let mut b = Bench::with(&program, &control, NoTrace);
        let (out, _) = b.send(Gress::Ingress, &ipv4([0, 0, 0, low], [10, 2, 3, 4], 17, 64), 0);
        prop_assert_eq!(out.port, slots[usize::from(low) % slots.len()]);
    }
}
