//! One golden message per rule.

use crate::{Change, ControlOp, ControlState, GroupMember, Then, toml};
use sluice_ir::entity::Entity;
use sluice_ir::{ActionCall, Counter, KeyValue, Profile, Program, Table};
use sluice_samples::router::router;

struct Bench {
    program: Program,
    control: ControlState,
}

fn bench() -> Bench {
    let program = router();
    let mut control = ControlState::new(&program);
    let entries = r#"
        profile.nexthops.member = [
            { id = 1, action = "set_nexthop", args = [1, 1] },
            { id = 2, action = "no_route" },
        ]
        profile.nexthops.group = [{ id = 1, members = [1] }]
        profile.members_only.member = [{ id = 5, action = "nop" }]
        table.ipv4_lpm = [{ key = { dst = "10.0.0.0/8" }, group = 1 }, { key = { dst = "11.0.0.0/8" }, member = 2 }]
        table.acl = [{ key = { src = "192.0.2.0/24" }, action = "deny", priority = 3 }]
    "#;
    toml::parse(&program, entries, "e.toml").unwrap().apply(&program, &mut control).unwrap();
    Bench { program, control }
}

impl Bench {
    fn table(&self, name: &str) -> Table {
        self.program.table_named(name).unwrap()
    }

    fn profile(&self, name: &str) -> Profile {
        self.program.profile_named(name).unwrap()
    }

    fn call(&self, name: &str, args: &[u128]) -> ActionCall {
        ActionCall { action: self.program.action_named(name).unwrap(), args: args.to_vec() }
    }

    fn insert(&self, table: &str, key: Vec<KeyValue>, priority: u32, then: Then) -> ControlOp {
        ControlOp::InsertEntry { table: self.table(table), key, priority, then }
    }

    fn group(&self, group: u32, members: &[(u32, u32)]) -> ControlOp {
        let members =
            members.iter().map(|&(member, weight)| GroupMember { member, weight, active: true }).collect();
        ControlOp::SetGroup { profile: self.profile("nexthops"), group, members }
    }

    /// Returns the message, after checking that the state is unchanged.
    fn refused(&mut self, op: ControlOp) -> String {
        let before = self.control.clone();
        let error = self.control.apply(&self.program, op).unwrap_err();
        assert_eq!(self.control, before);
        error.to_string()
    }
}

fn any() -> KeyValue {
    KeyValue::Ternary { value: 0, mask: 0 }
}

fn lpm(value: u128, len: u16) -> Vec<KeyValue> {
    vec![KeyValue::Lpm { value, len }]
}

#[test]
fn keys() {
    let mut b = bench();
    let group = || Then::Group(1);
    let permit = Then::Call(b.call("permit", &[]));
    let cases = [
        (
            b.insert("ipv4_lpm", vec![], 0, group()),
            "the key of table `ipv4_lpm` has 1 column (ipv4.dst), not 0",
        ),
        (
            b.insert("ipv4_lpm", vec![KeyValue::Exact(1)], 0, group()),
            "key `ipv4.dst` of table `ipv4_lpm` is matched lpm, but the value given is exact",
        ),
        (
            b.insert("ipv4_lpm", lpm(1 << 32, 32), 0, group()),
            "key `ipv4.dst` of table `ipv4_lpm` is 32 bits wide; 0x100000000 does not fit",
        ),
        (
            b.insert("ipv4_lpm", lpm(0x0a01_0203, 16), 0, group()),
            "key `ipv4.dst` of table `ipv4_lpm` sets bits beyond its prefix: 10.1.2.3/16; write 10.1.0.0/16",
        ),
        (
            b.insert("ipv4_lpm", lpm(0, 33), 0, group()),
            "key `ipv4.dst` of table `ipv4_lpm` is 32 bits wide; prefix length 33 is larger",
        ),
        (
            b.insert("acl", vec![KeyValue::Ternary { value: 0xff, mask: 0xf0 }, any()], 1, permit.clone()),
            "key `ipv4.src` of table `acl` sets bits that its mask ignores: 0.0.0.255 under mask 0xf0; write 0.0.0.240",
        ),
        (
            b.insert("ipv4_lpm", lpm(0, 0), 9, group()),
            "table `ipv4_lpm` has no ternary or range key, so its entries have no priority; leave out priority 9",
        ),
        (
            b.insert("ipv4_lpm", lpm(10 << 24, 8), 0, group()),
            "table `ipv4_lpm` already has this key: entry 0 (ipv4.dst = 10.0.0.0/8); modify or delete that entry",
        ),
        (
            b.insert(
                "acl",
                vec![KeyValue::Ternary { value: 0xc000_0200, mask: 0xffff_ff00 }, any()],
                3,
                permit,
            ),
            "table `acl` already has this key at priority 3: entry 0 (ipv4.src = 192.0.2.0 &&& 0xffffff00, \
             ipv4.proto = *); modify or delete that entry",
        ),
    ];
    for (op, message) in cases {
        assert_eq!(b.refused(op), message);
    }
}

#[test]
fn actions_and_tables() {
    let mut b = bench();
    let (lpm_table, acl) = (b.table("ipv4_lpm"), b.table("acl"));
    let wild = || vec![any(), any()];
    let vid = vec![KeyValue::Exact(1)];
    let cases = [
        (
            b.insert("fixed", vec![KeyValue::Exact(1)], 0, Then::Call(b.call("nop", &[]))),
            "table `fixed` is fixed by the program (1 const entries) and takes none at run time",
        ),
        (
            b.insert("keyless", vec![], 0, Then::Call(b.call("nop", &[]))),
            "table `keyless` has no key, so it takes no entries; set its default action instead",
        ),
        (
            b.insert("acl", wild(), 1, Then::Call(b.call("forward", &[1]))),
            "action `forward` is not one of table `acl`'s actions: deny, push_vlan, permit",
        ),
        (
            b.insert("acl", wild(), 1, Then::Call(b.call("push_vlan", &[]))),
            "action `push_vlan` takes 1 argument (vid), not 0",
        ),
        (
            b.insert("acl", wild(), 1, Then::Call(b.call("push_vlan", &[4096]))),
            "argument `vid` of action `push_vlan` is 12 bits wide; 0x1000 does not fit",
        ),
        (
            b.insert("acl", wild(), 1, Then::Member(1)),
            "table `acl` has no action profile, so its entries name an action, not a member or group",
        ),
        (
            b.insert("ipv4_lpm", lpm(0, 0), 0, Then::Call(b.call("set_nexthop", &[1, 1]))),
            "table `ipv4_lpm` takes members or groups of profile `nexthops`, not actions; name a member or a group",
        ),
        (
            b.insert("plain", vid, 0, Then::Group(1)),
            "profile `members_only` has no selector, so it has no groups; name a member",
        ),
        (
            b.insert("ipv4_lpm", lpm(0, 0), 0, Then::Member(9)),
            "profile `nexthops` has no member 9; create it first",
        ),
        (
            b.insert("ipv4_lpm", lpm(0, 0), 0, Then::Group(9)),
            "profile `nexthops` has no group 9; create it first",
        ),
        (ControlOp::DeleteEntry { table: lpm_table, entry: 7 }, "table `ipv4_lpm` has no entry 7"),
        (
            ControlOp::ModifyEntry { table: lpm_table, entry: 7, then: Then::Group(1) },
            "table `ipv4_lpm` has no entry 7",
        ),
        (
            ControlOp::SetDefault { table: acl, call: b.call("no_route", &[]) },
            "action `no_route` is not one of table `acl`'s actions: deny, push_vlan, permit",
        ),
        (ControlOp::DeleteEntry { table: Table::new(77), entry: 0 }, "the program has no table77"),
        (ControlOp::DeleteMember { profile: Profile::new(7), member: 0 }, "the program has no profile7"),
        (ControlOp::ClearCounter { counter: Counter::new(7), index: None }, "the program has no counter7"),
        (
            ControlOp::ClearCounter { counter: Counter::new(0), index: Some(4) },
            "counter `ports` has no cell 4; it has 4 cells, from 0",
        ),
    ];
    for (op, message) in cases {
        assert_eq!(b.refused(op), message);
    }
}

#[test]
fn members_and_groups() {
    let mut b = bench();
    let profile = b.profile("nexthops");
    let member = |b: &Bench, member| ControlOp::SetMember { profile, member, call: b.call("no_route", &[]) };
    let cases = [
        (
            ControlOp::SetMember { profile, member: 3, call: b.call("nop", &[]) },
            "action `nop` is not one of table `ipv4_lpm`'s actions: set_nexthop, no_route",
        ),
        (b.group(2, &[(9, 1)]), "profile `nexthops` has no member 9; create it first"),
        (
            b.group(2, &[(1, 0)]),
            "member 1 of group 2 of profile `nexthops` has weight 0; use at least 1, or leave the member out",
        ),
        (
            b.group(2, &[(1, 1), (1, 1)]),
            "group 2 of profile `nexthops` names member 1 twice; name it once and add up the weights",
        ),
        (
            b.group(2, &[(1, 3), (2, 2)]),
            "group 2 of profile `nexthops` would have 5 slots (the sum of its weights); the limit is 4",
        ),
        (
            ControlOp::SetMemberActive { profile, group: 1, member: 2, active: false },
            "group 1 of profile `nexthops` does not contain member 2",
        ),
        (
            ControlOp::DeleteMember { profile, member: 1 },
            "member 1 of profile `nexthops` is used by group 1; change that first",
        ),
        (
            ControlOp::DeleteMember { profile, member: 2 },
            "member 2 of profile `nexthops` is used by entry 1 of table `ipv4_lpm` (ipv4.dst = 11.0.0.0/8); \
             change that first",
        ),
        (
            ControlOp::DeleteGroup { profile, group: 1 },
            "group 1 of profile `nexthops` is used by entry 0 of table `ipv4_lpm` (ipv4.dst = 10.0.0.0/8); \
             change that first",
        ),
        (
            ControlOp::SetGroup { profile: b.profile("members_only"), group: 1, members: vec![] },
            "profile `members_only` has no selector, so it has no groups; name a member",
        ),
    ];
    for (op, message) in cases {
        assert_eq!(b.refused(op), message);
    }
    let third = member(&b, 3);
    assert_eq!(b.control.apply(&b.program, third), Ok(Change::Member(profile, 3)));
    let fourth = member(&b, 4);
    assert_eq!(b.refused(fourth), "profile `nexthops` is full: it holds 3 members");
    let second_group = b.group(2, &[]);
    assert_eq!(b.control.apply(&b.program, second_group), Ok(Change::Group(profile, 2)));
    let third_group = b.group(3, &[]);
    assert_eq!(b.refused(third_group), "profile `nexthops` is full: its selector holds 2 groups");
}

#[test]
fn a_full_table_and_the_slot_of_a_deleted_entry() {
    let mut b = bench();
    for i in 1..3 {
        let key = vec![KeyValue::Ternary { value: i, mask: 0xffff_ffff }, any()];
        let op = b.insert("acl", key, 1, Then::Call(b.call("permit", &[])));
        assert_eq!(b.control.apply(&b.program, op), Ok(Change::Inserted(b.table("acl"), i as u32)));
    }
    let extra = b.insert("acl", vec![any(), any()], 1, Then::Call(b.call("permit", &[])));
    assert_eq!(b.refused(extra.clone()), "table `acl` is full: it holds 3 entries");
    let table = b.table("acl");
    b.control.apply(&b.program, ControlOp::DeleteEntry { table, entry: 1 }).unwrap();
    assert_eq!(b.control.apply(&b.program, extra), Ok(Change::Inserted(table, 1)));
    let seqs: Vec<u64> = b.control.tables[table].entries().map(|(_, e)| e.seq).collect();
    assert_eq!(seqs, [0, 3, 2]);
}
