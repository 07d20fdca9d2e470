//! Tables that `routes` declarations name: whether a declaration fits its table, and the setup at a place in a network.

use sluice_catalogue::Setup;
use sluice_catalogue::position::Position;
use sluice_catalogue::routes::{keys, operations};
use sluice_control::ControlOp;
use sluice_ir::text::{RouteValue, RoutesDecl};
use sluice_ir::verify::Diag;
use sluice_ir::{MatchKind, Program};

/// Refuses a declaration that does not fit its table.
pub(crate) fn check(program: &Program, decl: &RoutesDecl) -> Result<(), Diag> {
    let (table, action) = (&program.tables[decl.table], &program.actions[decl.action]);
    let wrong = |text: String, help: &str| Err(Diag::error(decl.loc, text).help(help));
    if !table.actions.contains(&decl.action) {
        let text = format!("table `{}` does not have the action `{}`", table.name, action.name);
        return wrong(text, "name one of the table's actions");
    }
    if action.params.len() != decl.args.len() {
        let text = format!(
            "action `{}` has {} parameters, not {}",
            action.name,
            action.params.len(),
            decl.args.len()
        );
        return wrong(text, "give each parameter `port` or a number");
    }
    let keys = keys(program, decl);
    if keys.len() != table.keys.len() {
        let text = format!("table `{}` has {} keys, not {}", table.name, table.keys.len(), keys.len());
        return wrong(
            text,
            "give each key `destination` or a number, as in `routes route (destination, 0) = forward(port);`",
        );
    }
    if keys.iter().filter(|key| **key == RouteValue::Destination).count() != 1 {
        let text = format!("the entries of table `{}` need one key that is the destination", table.name);
        return wrong(text, "write `destination` for the key that is the IP destination address");
    }
    for (key, value) in table.keys.iter().zip(&keys) {
        let (name, width) = (key.name(program), key.width(program));
        if *value == RouteValue::Destination && !matches!(width, 32 | 128) {
            let text = format!("key `{name}` has {width} bits, so it is no IP address");
            return wrong(text, "a destination has 32 bits (IPv4) or 128 bits (IPv6)");
        }
        if key.kind == MatchKind::Range {
            let text = format!("key `{name}` of table `{}` is a range", table.name);
            return wrong(text, "routes are for exact, lpm and ternary keys");
        }
    }
    Ok(())
}

/// Returns a setup with the entries of routes in addition to those of `setup`. Entries of `setup` in tables that routes fill
/// are left out, and so are members and groups of their profiles.
pub(crate) fn setup(decls: &[RoutesDecl], program: &Program, position: &Position, setup: Setup) -> Setup {
    let tables: Vec<_> = decls.iter().map(|decl| decl.table).collect();
    let profiles: Vec<_> = tables.iter().filter_map(|table| program.tables[*table].profile).collect();
    let Setup { mut ops, port_speeds } = setup;
    ops.retain(|op| match op {
        ControlOp::InsertEntry { table, .. } => !tables.contains(table),
        ControlOp::SetMember { profile, .. } | ControlOp::SetGroup { profile, .. } => {
            !profiles.contains(profile)
        }
        _ => true,
    });
    ops.extend(operations(decls, program, position));
    Setup { ops, port_speeds }
}

#[cfg(test)]
mod tests {
    use crate::ProgramFile;
    use sluice_asic::chip::ChipSpec;
    use sluice_asic::port::{FrontPort, PortMap};
    use sluice_asic::units::BitRate;
    use sluice_catalogue::StageProgram;
    use sluice_catalogue::position::{Neighbor, PortUse, Position, Prefix, Route};
    use sluice_control::{ControlOp, GroupMember, Then};
    use sluice_ir::{ActionCall, KeyValue, Program};
    use std::net::Ipv4Addr;

    /// A program with one table, which `ROUTES` fills. `TABLE` has its key and more.
    const TEXT: &str = r#"
sluice 1;
program routed;
header eth : ingress { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4 : ingress { bit<128> head; bit<32> dst; }
header ipv6 : ingress { bit<128> dst; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
metadata : ingress { bit<8> m.class; bit<16> m.path; }
hash path : ingress { algorithm = crc_16; inputs = { ipv4.dst }; width = 16; }
profile hops : ingress { size = 8; selector = fair(path); groups = 4; max_group_size = 8; }
action to (bit<9> port, bit<8> class) : ingress
action drop_it : ingress () { ig_tm.ucast_egress_port = 9w0x1ff; }
table route : ingress { TABLE actions = { to; drop_it; } default_action = drop_it(); size = 64; }
parser ingress {
    start = first;
    state first { extract(eth); select (eth.type) { (0x800) : four; (0x86dd) : six; default : accept; } }
    state four { extract(ipv4); transition accept; }
    state six { extract(ipv6); transition accept; }
}
control ingress { apply route; }
deparser ingress { emit(eth); emit(ipv4); emit(ipv6); }
entries = """
OWN
""";
routes ROUTES;
"#;

    fn text(table: &str, own: &str, routes: &str) -> String {
        let action = "action to : ingress (bit<9> port, bit<8> class) { ig_tm.ucast_egress_port = port; m.class = class; }";
        TEXT.replace("action to (bit<9> port, bit<8> class) : ingress", action)
            .replace("TABLE", table)
            .replace("OWN", own)
            .replace("ROUTES", routes)
    }

    /// A switch with a host at port 0 and two neighbours at ports 2 and 3, which both lead to 10.0.1.0/24.
    fn position() -> Position {
        let host = Ipv4Addr::new(10, 0, 0, 1);
        let far = Ipv4Addr::new(10, 0, 1, 1);
        let used = |port: u16, neighbor| PortUse {
            port: FrontPort(port),
            dev_port: 100 + port,
            speed: BitRate::from_gbps(100),
            neighbor,
        };
        let switch = |number| Neighbor::Switch { number, stage: 2, port: FrontPort(0) };
        let route = |to, ports: &[(u16, u32)], hops| Route {
            to,
            ports: ports.iter().map(|(port, weight)| (FrontPort(*port), *weight)).collect(),
            hops,
        };
        Position {
            number: 0,
            name: "leaf0".to_owned(),
            stage: 1,
            block: 0,
            ports: vec![used(0, Neighbor::Host(host)), used(2, switch(2)), used(3, switch(3))],
            routes: vec![
                route(Prefix::host(host), &[(0, 1)], 0),
                route(Prefix { address: Ipv4Addr::new(10, 0, 1, 0), len: 24 }, &[(2, 1), (3, 2)], 2),
            ],
            subnets: Vec::new(),
            hosts: vec![(0, host), (1, far)],
        }
    }

    /// Returns the program, and the operations on its table and profile at the place.
    fn placed(table: &str, own: &str, routes: &str) -> (Program, Vec<ControlOp>) {
        let file =
            ProgramFile::parse("routed.sluice", &text(table, own, routes)).unwrap_or_else(|e| panic!("{e}"));
        let program = file.build(&[]).unwrap();
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let setup = file.setup_at(&program, &ports, &position()).unwrap().unwrap();
        // Outside of a network the file's entries apply.
        let own = file.default_setup(&program, &ports).unwrap().ops;
        assert!(own.iter().any(|op| matches!(op, ControlOp::InsertEntry { .. })));
        (program, setup.ops)
    }

    fn entries(ops: &[ControlOp]) -> Vec<(Vec<KeyValue>, u32, Then)> {
        let entry = |op: &ControlOp| match op {
            ControlOp::InsertEntry { key, priority, then, .. } => {
                Some((key.clone(), *priority, then.clone()))
            }
            _ => None,
        };
        ops.iter().filter_map(entry).collect()
    }

    #[test]
    fn a_table_with_a_selector_gets_members_groups_and_entries() {
        let (program, ops) = placed(
            "key = { ipv4.dst : lpm; } profile = hops;",
            "[[profile.hops.member]]\nid = 9\naction = \"drop_it\"\n[[table.route]]\nkey = { dst = \"10.0.0.0/8\" }\nmember = 9",
            "route = to(port, 7)",
        );
        let profile = program.profile_named("hops").unwrap();
        let action = program.action_named("to").unwrap();
        let member = |member, port| {
            let call = ActionCall { action, args: vec![port, 7] };
            ControlOp::SetMember { profile, member, call }
        };
        let group = |group, members: &[(u32, u32)]| ControlOp::SetGroup {
            profile,
            group,
            members: members
                .iter()
                .map(|(member, weight)| GroupMember { member: *member, weight: *weight, active: true })
                .collect(),
        };
        let expected = [
            member(0, 100),
            member(1, 102),
            member(2, 103),
            group(1, &[(0, 1)]),
            group(2, &[(1, 1), (2, 2)]),
        ];
        assert_eq!(ops[..5], expected);
        let lpm = |value, len| vec![KeyValue::Lpm { value, len }];
        let wanted =
            vec![(lpm(0x0a00_0001, 32), 0, Then::Group(1)), (lpm(0x0a00_0100, 24), 0, Then::Group(2))];
        assert_eq!(entries(&ops), wanted);
        assert_eq!(ops.len(), 7, "the file's own entry of the table is left out");
    }

    #[test]
    fn a_table_without_a_profile_takes_the_first_next_hop() {
        let call = |program: &Program, port| {
            Then::Call(ActionCall { action: program.action_named("to").unwrap(), args: vec![port, 0] })
        };
        let ternary = "key = { ipv4.dst : ternary; m.class : ternary; }";
        let own = "[[table.route]]\nkey = { \"ipv4.dst\" = \"10.0.0.0/8\" }\naction = \"drop_it\"";
        let (program, ops) = placed(ternary, own, "route (destination, 3) = to(port, 0)");
        let masked = |value, mask| KeyValue::Ternary { value, mask };
        let wanted = vec![
            (vec![masked(0x0a00_0001, 0xffff_ffff), masked(3, 0xff)], 0, call(&program, 100)),
            (vec![masked(0x0a00_0100, 0xffff_ff00), masked(3, 0xff)], 8, call(&program, 102)),
        ];
        assert_eq!(entries(&ops), wanted);
        // An exact key takes addresses of hosts; IPv6 addresses carry the IPv4 ones.
        let exact = "key = { ipv6.dst : exact; }";
        let (program, ops) = placed(
            exact,
            "[[table.route]]\nkey = { \"ipv6.dst\" = \"2001:db8::1\" }\naction = \"drop_it\"",
            "route = to(port, 0)",
        );
        let address = |last: u128| vec![KeyValue::Exact(0x2001_0db8_u128 << 96 | last)];
        let wanted = vec![
            (address(0x0a00_0001), 0, call(&program, 100)),
            (address(0x0a00_0101), 0, call(&program, 102)),
        ];
        assert_eq!(entries(&ops), wanted);
    }

    #[test]
    fn routes_that_do_not_fit_their_table_are_refused() {
        let own = "[[table.route]]\nkey = { \"ipv4.dst\" = \"10.0.0.0/8\" }\naction = \"drop_it\"";
        for (table, routes, wanted) in [
            ("key = { ipv4.dst : lpm; }", "route = to(port)", "action `to` has 2 parameters, not 1"),
            (
                "key = { m.class : exact; }",
                "route = to(port, 1)",
                "key `m.class` has 8 bits, so it is no IP address",
            ),
            (
                "key = { ipv4.dst : exact; m.class : exact; }",
                "route = to(port, 1)",
                "table `route` has 2 keys, not 0",
            ),
            (
                "key = { ipv4.dst : lpm; m.class : exact; }",
                "route (1, 2) = to(port, 1)",
                "the entries of table `route` need one key that is the destination",
            ),
            (
                "key = { ipv4.dst : lpm; m.class : exact; }",
                "route (destination, 2) = NoAction()",
                "expected an action",
            ),
        ] {
            let error = ProgramFile::parse("routed.sluice", &text(table, own, routes)).unwrap_err();
            assert!(error.text.contains(wanted), "{wanted}: {error}");
            assert!(error.text.contains("routed.sluice:"), "{error}");
        }
    }
}
