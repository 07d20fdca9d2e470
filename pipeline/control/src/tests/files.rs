//! TOML and line files: what they mean, what they say when wrong, and that states print back.

use crate::{
    ControlOp, ControlState, EntryError, GroupMember, Schema, Script, Then, entries, lines, template, toml,
};
use expect_test::expect_file;
use proptest::prelude::*;
use sluice_ir::{ActionCall, KeyValue, Program};
use sluice_samples::router::router;

type Parse = fn(&Program, &str, &str) -> Result<Script, Vec<EntryError>>;

fn loaded(parse: Parse, text: &str) -> ControlState {
    let program = router();
    let mut control = ControlState::new(&program);
    parse(&program, text, "file").unwrap().apply(&program, &mut control).unwrap();
    control
}

/// Returns all messages of a file that does not parse or does not apply.
fn wrong(parse: Parse, text: &str) -> String {
    let program = router();
    let mut control = ControlState::new(&program);
    let before = control.clone();
    let errors =
        parse(&program, text, "my.entries").and_then(|s| s.apply(&program, &mut control)).unwrap_err();
    assert_eq!(control, before);
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

const FULL: &str = r#"
[[table.ipv4_lpm]]            # order in the file does not matter across kinds
key = { "ipv4.dst" = "10.1.0.0/16" }
group = 7

[[table.ipv4_lpm]]
member = 1                    # no key: the default route

[[profile.nexthops.group]]
id = 7
members = [{ member = 1, weight = 3 }, { member = 2, active = false }]

[[profile.nexthops.member]]
id = 1
action = "set_nexthop"
args = { dmac = "02:00:00:00:00:04", port = 4 }
[[profile.nexthops.member]]
id = 2
action = "set_nexthop"
args = [0x5, 0x02_0000_0000_05]

[[table.acl]]
key = { src = "192.0.2.0/24", proto = "0x10 &&& 0xf0" }
action = "push_vlan"
args = [100]
priority = 5

[default.acl]
action = "push_vlan"
args = { vid = 9 }
"#;

const SAME_LINES: &str = "
act_prof_create_member nexthops no_route                 # member 0
act_prof_create_member nexthops set_nexthop 4 02:00:00:00:00:04
act_prof_create_member nexthops set_nexthop 0x5 02:00:00:00:00:05
act_prof_create_group nexthops
act_prof_add_member_to_group nexthops 1 0
act_prof_add_member_to_group nexthops 1 0
act_prof_add_member_to_group nexthops 1 0
act_prof_add_member_to_group nexthops 2 0
table_indirect_add_with_group ipv4_lpm 10.1.0.0/16 => 0
table_indirect_add ipv4_lpm 0.0.0.0/0 => 1
table_add acl push_vlan 192.0.2.0/24 0x10&&&0xf0 => 100 5
table_set_default acl push_vlan 9
";

#[test]
fn toml_means_what_its_head_says() {
    let program = router();
    let control = loaded(toml::parse, FULL);
    let action = program.action_named("set_nexthop").unwrap();
    let nexthops = &control.profiles[program.profile_named("nexthops").unwrap()];
    assert_eq!(nexthops.members[&1], ActionCall { action, args: vec![4, 0x0200_0000_0004] });
    assert_eq!(nexthops.members[&2], ActionCall { action, args: vec![5, 0x0200_0000_0005] });
    let members =
        [(1, 3, true), (2, 1, false)].map(|(member, weight, active)| GroupMember { member, weight, active });
    assert_eq!(nexthops.groups[&7], members);
    let routes = &control.tables[program.table_named("ipv4_lpm").unwrap()];
    let routes: Vec<_> = routes.entries().map(|(_, e)| (e.key.clone(), e.then.clone())).collect();
    let lpm = |value, len| vec![KeyValue::Lpm { value, len }];
    assert_eq!(routes, [(lpm(0x0a01_0000, 16), Then::Group(7)), (lpm(0, 0), Then::Member(1))]);
    let acl = &control.tables[program.table_named("acl").unwrap()];
    let entry = acl.slots[0].as_ref().unwrap();
    let src = KeyValue::Ternary { value: 0xc000_0200, mask: 0xffff_ff00 };
    assert_eq!(
        (&entry.key[..], entry.priority),
        (&[src, KeyValue::Ternary { value: 0x10, mask: 0xf0 }][..], 5)
    );
    assert_eq!(acl.default.args, [9]);
}

#[test]
fn lines_mean_the_same() {
    let program = router();
    let (from_lines, from_toml) = (loaded(lines::parse, SAME_LINES), loaded(toml::parse, FULL));
    let acl = program.table_named("acl").unwrap();
    assert_eq!(from_lines.tables[acl], from_toml.tables[acl]);
    let nexthops = program.profile_named("nexthops").unwrap();
    let members = &from_lines.profiles[nexthops].members;
    assert_eq!(members[&1], from_toml.profiles[nexthops].members[&1]);
    let weights: Vec<_> =
        from_lines.profiles[nexthops].groups[&0].iter().map(|m| (m.member, m.weight)).collect();
    assert_eq!(weights, [(1, 3), (2, 1)]);
    let routes = &from_lines.tables[program.table_named("ipv4_lpm").unwrap()];
    let then: Vec<_> = routes.entries().map(|(_, e)| e.then.clone()).collect();
    assert_eq!(then, [Then::Group(0), Then::Member(1)]);
}

#[test]
fn lines_change_and_clear() {
    let program = router();
    let text = "table_add acl deny 10.0.0.1 * => 1\ntable_modify acl permit 0\ncounter_reset ports\n";
    let control = loaded(lines::parse, text);
    let entry = control.tables[program.table_named("acl").unwrap()].slots[0].clone().unwrap();
    assert_eq!(
        entry.then,
        Then::Call(ActionCall { action: program.action_named("permit").unwrap(), args: vec![] })
    );
    let gone = loaded(lines::parse, &format!("{text}table_delete acl 0"));
    assert_eq!(gone.tables[program.table_named("acl").unwrap()].entries().count(), 0);
}

#[test]
fn toml_names_every_mistake() {
    expect_file!["golden/toml_names_every_mistake.txt"].assert_eq(&wrong(
        toml::parse,
        r#"
[[tabel.acl]]
[[table.ipv4_lmp]]
[[table.ipv4_lpm]]
kye = { dst = "10.0.0.0/8" }
group = "one"
[[table.ipv4_lpm]]
key = { dts = "10.0.0.0/8" }
[[table.ipv4_lpm]]
key = { "ipv4.dst" = "10.0.0.0/8", dst = "10.0.0.0/8" }
member = 1
group = 1
[[table.host]]
key = { dst = 1 }
action = "forward"
args = [1]
[[table.host]]
key = { "ipv6.dst" = "2001:db8::/32" }
action = "foward"
args = [1]
[[table.host]]
key = { "eth.dst" = "10.0.0.1" }
action = "forward"
args = { prot = 1 }
[[table.host]]
key = { "eth.dst" = 1.5 }
action = 5
[[table.host]]
key = { "eth.dst" = 1 }
action = "forward"
[[table.host]]
key = { "eth.dst" = 1 }
action = "forward"
args = "1"
[[table.host]]
key = { "eth.dst" = 1 }
action = "forward"
args = [1, 2]
[[table.acl]]
priority = -1
action = "permit"
[[profile.nexthop.member]]
[[profile.nexthops.member]]
action = "no_route"
[[profile.nexthops.group]]
id = 1
[[profile.nexthops.group]]
id = 1
members = 3
[[profile.nexthops.group]]
id = 1
members = [{ member = 1, wieght = 2 }, "x", { weight = 1, active = 1 }]
[default.acl]
args = [1]
[default]
keyless = "nop"
"#,
    ));
}

#[test]
fn broken_toml_is_named_by_line() {
    expect_file!["golden/broken_toml_is_named_by_line.txt"]
        .assert_eq(&wrong(toml::parse, "[[table.acl]]\nkey = { src = }\npriority 3\n"));
}

#[test]
fn toml_that_does_not_apply_is_named_by_line() {
    expect_file!["golden/toml_that_does_not_apply_is_named_by_line.txt"].assert_eq(&wrong(
        toml::parse,
        r#"
[[table.ipv4_lpm]]
key = { dst = "10.1.2.0/16" }
member = 1
[[table.ipv4_lpm]]
key = { dst = "10.0.0.0/8" }
member = 3
[[profile.nexthops.member]]
id = 1
action = "no_route"
[[table.acl]]
action = "push_vlan"
args = [4096]
"#,
    ));
}

#[test]
fn lines_name_every_mistake() {
    expect_file!["golden/lines_name_every_mistake.txt"].assert_eq(&wrong(
        lines::parse,
        "
tabel_add acl deny 1 2 => 3
table_add acl
table_add alc deny 1 2 => 3
table_add acl dney 1 2 => 3
table_add acl deny 1 => 3
table_add acl deny 1 x => 3
table_add acl deny 1 2 =>
table_add acl deny 1 2 => high
table_add acl push_vlan 1 2 => 3 4 5
table_indirect_add ipv4_lpm 10.0.0.0/8 =>
table_indirect_add ipv4_lpm 10.0.0.0/8 => x
act_prof_create_member nexthop no_route
act_prof_add_member_to_group nexthops 0 0
table_delete acl
counter_reset port
",
    ));
}

#[test]
fn a_state_prints_and_parses_back() {
    let program = router();
    let control = loaded(toml::parse, FULL);
    let text = entries::print(&program, &control);
    assert_eq!(loaded(toml::parse, &text), control);
    expect_file!["golden/a_state_prints_and_parses_back.txt"].assert_eq(&text);
}

#[test]
fn the_template_explains_and_its_examples_apply() {
    let program = router();
    let text = template::print(&Schema::of(&program));
    assert_eq!(toml::parse(&program, &text, "t").unwrap().ops, []);
    let lines = text.lines().filter(|l| !l.starts_with("##"));
    let example: Vec<&str> =
        lines.map(|l| l.strip_prefix("# ").or(l.strip_prefix('#')).unwrap_or(l)).collect();
    let control = loaded(toml::parse, &example.join("\n"));
    for (table, data) in program.tables.iter().filter(|(_, d)| !d.keys.is_empty()) {
        assert_eq!(control.tables[table].entries().count(), 1, "{}", data.name);
    }
    expect_file!["golden/the_template_explains_and_its_examples_apply.txt"].assert_eq(&text);
}

#[test]
fn the_schema_counts_what_is_free() {
    let program = router();
    let schema = Schema::with(&program, &loaded(toml::parse, FULL));
    let free: Vec<(&str, u32)> = schema.tables.iter().map(|t| (t.name.as_str(), t.free)).collect();
    let expected = [("acl", 2), ("ipv4_lpm", 2), ("host", 4), ("fixed", 0), ("keyless", 0), ("plain", 2)];
    assert_eq!(free, expected);
    assert_eq!((schema.profiles[0].free, schema.profiles[1].free), (1, 2));
}

proptest! {
    #[test]
    fn any_configured_state_prints_back(
        routes in proptest::collection::btree_map((any::<u32>(), 0u16..=32), 0u32..2, 0..20),
        filters in proptest::collection::btree_map((any::<u32>(), any::<u32>(), any::<u8>(), any::<u32>()), 0u16..4096, 0..20),
    ) {
        let mut program = router();
        program.tables.values_mut().for_each(|t| t.size = 100);
        let (lpm, acl) = (program.table_named("ipv4_lpm").unwrap(), program.table_named("acl").unwrap());
        let profile = program.profile_named("nexthops").unwrap();
        let mut control = ControlState::new(&program);
        let call = ActionCall { action: program.action_named("no_route").unwrap(), args: vec![] };
        control.apply(&program, ControlOp::SetMember { profile, member: 0, call }).unwrap();
        let one = GroupMember { member: 0, weight: 2, active: false };
        control.apply(&program, ControlOp::SetGroup { profile, group: 1, members: vec![one] }).unwrap();
        for ((value, len), group) in routes {
            let value = value.checked_shr(32 - u32::from(len)).map_or(0, |v| u128::from(v) << (32 - len));
            let then = if group == 1 { Then::Group(1) } else { Then::Member(0) };
            let key = vec![KeyValue::Lpm { value, len }];
            let _ = control.apply(&program, ControlOp::InsertEntry { table: lpm, key, priority: 0, then });
        }
        let action = program.action_named("push_vlan").unwrap();
        for ((value, mask, proto, priority), vid) in filters {
            let src = KeyValue::Ternary { value: (value & mask).into(), mask: mask.into() };
            let key = vec![src, KeyValue::Ternary { value: proto.into(), mask: 0xff }];
            let then = Then::Call(ActionCall { action, args: vec![vid.into()] });
            control.apply(&program, ControlOp::InsertEntry { table: acl, key, priority, then }).unwrap();
        }
        let mut again = ControlState::new(&program);
        let text = entries::print(&program, &control);
        toml::parse(&program, &text, "p").unwrap().apply(&program, &mut again).unwrap();
        prop_assert_eq!(again, control);
    }

    #[test]
    fn no_text_panics(text in r#"(\[\[table\.acl\]\]|key = |\{|\}|"10\.0\.0\.0/8"|table_add acl deny|=>|priority = 5|args = |[ -~]|\n){0,12}"#) {
        let program = router();
        let _ = toml::parse(&program, &text, "x");
        let _ = lines::parse(&program, &text, "x");
    }
}

const REPLICATION: &str = r#"
[[mirror]]
session = 3
port = 136
queue = 2
cos = 6
max_length = 128
egress = false

[[mirror]]
session = 4
groups = [5, 6]
overrides = ["port", "cos"]

[[multicast]]
group = 5
nodes = [{ rid = 1, ports = [16, 24], level1_exclusion = 9 }, { ports = [32] }]

[[exclusion]]
id = 7
ports = [24]
"#;

#[test]
fn sessions_and_groups_print_and_parse_back() {
    let program = router();
    let state = loaded(toml::parse, REPLICATION);
    let session = state.replication.sessions[&3];
    assert_eq!((session.port.unwrap().number(), session.qid, session.max_length), (136, 2, 128));
    assert!(session.ingress && !session.egress);
    assert_eq!(state.replication.sessions[&4].groups, [Some(5), Some(6)]);
    assert_eq!(state.replication.groups[&5][0].level1_exclusion, Some(9));
    assert_eq!(state.replication.groups[&5][1].ports, [32]);
    assert_eq!(loaded(toml::parse, &entries::print(&program, &state)), state);
    let by_line = loaded(lines::parse, "mirroring_add 9 24");
    assert_eq!(by_line.replication.sessions[&9].port.unwrap().number(), 24);
}

#[test]
fn mistakes_in_sessions_and_groups_are_named() {
    let text = r#"
[[mirror]]
session = 70000
port = 600
[[mirror]]
sesion = 1
groups = [1, 2, 3]
[[multicast]]
group = 0
nodes = [{ rid = 1, ports = [16, 16] }]
[[multicast]]
group = 1
nodes = [{ rid = 1 }]
"#;
    expect_file!["golden/mistakes_in_sessions_and_groups_are_named-1.txt"]
        .assert_eq(&wrong(toml::parse, text));
    expect_file!["golden/mistakes_in_sessions_and_groups_are_named-2.txt"].assert_eq(&wrong(
        toml::parse,
        "[[multicast]]\ngroup = 0\nnodes = [{ ports = [16] }]\n[[multicast]]\ngroup = 3\nnodes = [{ ports = [16, 16] }]\n[[exclusion]]\nid = 600\nports = []"
    ));
    expect_file!["golden/mistakes_in_sessions_and_groups_are_named-3.txt"]
        .assert_eq(&wrong(lines::parse, "mirroring_add 3\nmirroring_add 3 900\nmirroring_add x 4"));
}

/// Names that do not exist and values that do not fit are reported together; mistakes that only follow from others
/// are not.
#[test]
fn all_that_is_wrong_with_a_file_comes_at_once() {
    let program = router();
    let text = "\
[[profile.nexthops.member]]
id = 1
action = \"set_nextop\"
args = [1, 2]

[[table.ipv4_lpm]]
key = { dst = \"10.0.0.0/8\" }
member = 1

[[table.acl]]
key = { proto = 256 }
action = \"permit\"
";
    let mut control = ControlState::new(&program);
    let errors = toml::load(&program, text, "e.toml", &mut control).unwrap_err();
    let found: Vec<String> = errors.iter().map(|e| format!("{}: {}", e.line, e.text)).collect();
    assert_eq!(
        found,
        [
            "3: there is no action `set_nextop`; expected one of: set_nexthop, no_route",
            "10: key `ipv4.proto` of table `acl` is 8 bits wide; 0x100 does not fit",
        ]
    );
    let text = "table_add acl permit * 256 => 1\ntable_add acl permit * x => 1\ntable_delete acl 0\n";
    let errors = lines::load(&program, text, "e", &mut control).unwrap_err();
    assert_eq!(errors.iter().map(|e| e.line).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(control, ControlState::new(&program));
    lines::load(&program, "table_add acl permit * 17 => 1\n", "e", &mut control).unwrap();
    assert_eq!(control.tables[program.table_named("acl").unwrap()].entries().count(), 1);
}
