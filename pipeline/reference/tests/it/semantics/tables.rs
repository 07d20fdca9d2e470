//! Lookups, actions with arguments, and default actions.

use super::{PACKET, Parts, apply_with};
use sluice_reference::{Gress, NamedCall, NamedEntry, Nothing, Outside, PassIn, Reference};

const TABLE: &str = "action put(bit<32> v) { hdr.o.x = v; }
    action add(inout bit<32> to, bit<32> v) { to = to + v; }
    action none() { hdr.o.x = 0xff; }
    table t { key = { KEY } actions = { put; add(hdr.o.y); none; } default_action = none(); PROPERTIES }";

fn table(key: &str, properties: &str) -> String {
    TABLE.replace("KEY", key).replace("PROPERTIES", properties)
}

type Keys<'t> = &'t [(&'t str, &'t str)];

/// Returns the two results with entries: keys, priority, and the value that the entry puts.
fn looked_up(key: &str, entries: &[(Keys<'_>, u32, &str)]) -> [u32; 2] {
    let locals = table(key, "");
    let parts = Parts { locals: &locals, apply: "if (t.apply().hit) { hdr.o.y = 1; }", ..Parts::default() };
    let tree = parts.tree();
    let mut reference = tree.reference();
    for (keys, priority, value) in entries {
        let call = NamedCall { action: "put", args: vec![(Some("v"), *value)] };
        reference.add(&NamedEntry { table: "t", keys: keys.to_vec(), priority: *priority, call }).unwrap();
    }
    results(&mut reference)
}

fn results(reference: &mut Reference<'_>) -> [u32; 2] {
    let out = reference.pass(&PassIn::new(Gress::Ingress, 5, PACKET.to_vec()), &mut Nothing).unwrap();
    [0, 4].map(|at| u32::from_be_bytes(out.bytes[at..at + 4].try_into().unwrap()))
}

#[test]
fn exact_keys() {
    let key = "hdr.i.a : exact; hdr.i.isValid() : exact;";
    assert_eq!(looked_up(key, &[]), [0xff, 0]);
    assert_eq!(looked_up(key, &[(&[("a", "0x12"), ("isValid", "1")], 0, "5")]), [5, 1]);
    assert_eq!(looked_up(key, &[(&[("a", "0x12"), ("isValid", "0")], 0, "5")]), [0xff, 0]);
}

#[test]
fn the_longest_prefix_wins() {
    let entries: [(Keys<'_>, u32, &str); 3] = [
        (&[("d", "0x01000000/8")], 0, "8"),
        (&[("d", "0x01020000/16")], 0, "16"),
        (&[("d", "0x01030000/16")], 0, "0"),
    ];
    assert_eq!(looked_up("hdr.i.d : lpm;", &entries), [16, 1]);
    assert_eq!(looked_up("hdr.i.d : lpm;", &[(&[], 0, "9")]), [9, 1]);
}

#[test]
fn the_lowest_priority_wins_then_the_first_entry() {
    let entries: [(Keys<'_>, u32, &str); 3] =
        [(&[("d", "*")], 7, "7"), (&[("d", "0x01****** ")], 3, "3"), (&[("d", "0x04 &&& 0x04")], 3, "4")];
    assert_eq!(looked_up("hdr.i.d : ternary;", &entries), [3, 1]);
    // A prefix beside a ternary key is a mask: priorities decide.
    let entries: [(Keys<'_>, u32, &str); 2] =
        [(&[("d", "0x01020304/32"), ("a", "*")], 9, "32"), (&[("d", "0x01000000/8"), ("a", "*")], 1, "8")];
    assert_eq!(looked_up("hdr.i.d : lpm; hdr.i.a : ternary;", &entries), [8, 1]);
}

#[test]
fn ranges() {
    let entries: [(Keys<'_>, u32, &str); 2] =
        [(&[("a", "0..0x11")], 1, "1"), (&[("a", "0x12..0x20")], 2, "2")];
    assert_eq!(looked_up("hdr.i.a : range;", &entries), [2, 1]);
}

#[test]
fn constant_entries_are_taken_in_order() {
    let with = |key: &str, entries: &str| {
        let properties = format!("const entries = {{ {entries} }}");
        apply_with(&table(key, &properties), "t.apply();")
    };
    assert_eq!(with("hdr.i.a : ternary;", "0x10 &&& 0xf0 : put(1); 0x12 : put(2);"), [1, 0]);
    assert_eq!(
        with("hdr.i.a : exact; hdr.i.b : exact;", "(0x12, 0) : put(1); (0x12, 0xf0) : add(3);"),
        [0, 3]
    );
    assert_eq!(
        with("hdr.i.d : lpm;", "0x01000000 &&& 0xff000000 : put(1); 0x01020000 &&& 0xffff0000 : put(2);"),
        [2, 0]
    );
    assert_eq!(with("hdr.i.a : exact;", "7 : put(1);"), [0xff, 0]);
}

#[test]
fn default_actions_can_be_set() {
    let locals = table("hdr.i.a : exact;", "");
    let parts = Parts { locals: &locals, apply: "t.apply();", ..Parts::default() };
    let tree = parts.tree();
    let mut reference = tree.reference();
    assert_eq!(results(&mut reference), [0xff, 0]);
    // The parameter with a direction is bound by the table, the other one by the control plane.
    reference.set_default("Ingress.t", &NamedCall { action: "add", args: vec![(None, "6")] }).unwrap();
    assert_eq!(results(&mut reference), [0, 6]);
    let wrong = reference.set_default("t", &NamedCall { action: "ad", args: Vec::new() }).unwrap_err();
    assert_eq!(wrong.text, "there is no action of the table `ad`");
}

/// Takes the second member of every group.
struct Second(u64);

impl Outside for Second {
    fn member(&mut self, table: &str, group: u32, hash: u64) -> Option<Option<u32>> {
        assert_eq!((table, group), ("pipe.Ingress.t", 4));
        self.0 = hash;
        Some(Some(2))
    }
}

#[test]
fn groups_choose_members_by_a_hash() {
    use sluice_reference::{ActionCall, Entry, Match, TableState, Then};
    let locals = "action put(bit<32> v) { hdr.o.x = v; }
        ActionProfile(16) profile; Hash<bit<16>>(HashAlgorithm_t.IDENTITY) hash;
        ActionSelector(profile, hash, SelectorMode_t.FAIR, 8, 4) chooser;
        table t { key = { hdr.i.a : exact; hdr.i.c : selector; } actions = { put; } implementation = chooser; }";
    let parts = Parts { locals, apply: "t.apply();", ..Parts::default() };
    let tree = parts.tree();
    let mut reference = tree.reference();
    let table = reference.table_named("t").unwrap();
    let profile = reference.object_named("profile").unwrap();
    let action = reference.pipe().tables[table].actions[0].0;
    for (member, value) in [(1, 11), (2, 22)] {
        let call = ActionCall { action, args: vec![value.into()] };
        reference.control.members.insert((profile, member), call);
    }
    let entry = Entry { keys: vec![Match::Exact(0x12.into())], priority: 0, then: Then::Group(4) };
    reference.control.tables.insert(table, TableState { entries: vec![entry], default: None });
    let mut outside = Second(0);
    let out = reference.pass(&PassIn::new(Gress::Ingress, 5, PACKET.to_vec()), &mut outside).unwrap();
    assert_eq!((out.bytes[3], outside.0), (22, 0x8001));
    // Nobody chooses.
    assert!(reference.pass(&PassIn::new(Gress::Ingress, 5, PACKET.to_vec()), &mut Nothing).is_err());
}

#[test]
fn an_entry_with_the_same_keys_replaces_the_first() {
    let entries: [(Keys<'_>, u32, &str); 2] =
        [(&[("d", "0x01000000/8")], 1, "1"), (&[("d", "0x01000000/8")], 2, "2")];
    assert_eq!(looked_up("hdr.i.d : lpm;", &entries), [2, 1]);
    let entries: [(Keys<'_>, u32, &str); 2] =
        [(&[("d", "0x01******")], 1, "1"), (&[("d", "0x01******")], 2, "2")];
    assert_eq!(looked_up("hdr.i.d : ternary;", &entries), [1, 1]);
}
