//! Programs that the builder makes in both styles, and how their parameters are set.

use sluice_asic::gress::Gress;
use sluice_build::net::{Ethernet, Ipv4, Ipv6, Tcp, Udp, Vlan};
use sluice_build::params::{self, Params};
use sluice_build::*;
use sluice_ir::verify::Diag;
use sluice_ir::{
    self as ir, Cond as IrCond, CounterHome, Home, Intrinsic, KeyValue, Loc, Next, ParserOpKind, Program,
    StmtKind,
};

#[derive(params::Params)]
struct Settings {
    /// IPv4 routes
    routes: u32,
    /// Counts packets per route
    count: bool,
    /// Hash of the flow
    #[param(expects = "a hash name")]
    hash: String,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { routes: 1024, count: true, hash: "crc_16".to_owned() }
    }
}

/// Per-packet metadata
#[derive(Header)]
struct Meta {
    /// Hash of the flow
    flow: Bits<16>,
    /// Next-hop group
    group: Bits<12>,
    l4_src: Bits<16>,
}

#[derive(Clone, Copy)]
struct Headers {
    ethernet: Hdr<Ethernet>,
    ipv4: Hdr<Ipv4>,
    udp: Hdr<Udp>,
    m: Meta,
}

#[stage_program]
fn parser(ig: &GressBuilder<'_>) -> Headers {
    let (ethernet, ipv4, udp) = (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<Udp>());
    let m = ig.metadata::<Meta>();
    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    /// IPv4 without options
    let parse_ipv4 = ig.state().extract(ipv4).select(list![ipv4.ihl, ipv4.protocol]);
    let parse_udp = ig.state().extract(udp).set(m.l4_src, udp.src_port);
    start.on(0x0800, parse_ipv4).on_masked(0x8100, 0xff00, Reject).otherwise(Accept);
    parse_ipv4.on_tuple([(5, 0xf), (17, 0xff)], parse_udp);
    ig.start(start);
    Headers { ethernet, ipv4, udp, m }
}

#[stage_program]
fn attributed(ig: &GressBuilder<'_>, p: &Settings) -> TableRef {
    let Headers { ethernet, ipv4, udp, m } = parser(ig);
    let tm = ig.intrinsic::<tna::ForTm>();
    /// Over all flows
    let no_route = ig.drop_label("No route to the destination");
    let flow_hash =
        ig.hash::<16>(p.hash.as_str()).inputs(list![ipv4.src, constant::<8>(7)]).seed(1).rotate(3).build();
    let members = ig.profile(64).selector(SelectorMode::Fair, flow_hash, 16, 8).build();
    let routed = ig.direct_counter(CounterKind::PacketsAndBytes);
    let sizes = ig.counter(256, CounterKind::Bytes);
    let discard = ig.action(|a| drop(no_route));
    /// Out of a port
    let forward = ig.action(|a, port: Arg<9>, mac: Arg<48>| {
        tm.ucast_egress_port = port;
        ethernet.dst = mac;
        ipv4.ttl -= 1;
        if p.count {
            routed.count();
        } else {
            udp.set_invalid();
        }
    });
    /// Prefix to members
    let route = ig
        .table([lpm(ipv4.dst)])
        .actions([forward])
        .default(discard)
        .size(p.routes)
        .profile(members)
        .counter(routed)
        .stage(2)
        .build();
    let pick = ig
        .table([exact(m.group), ternary(ipv4.ttl)])
        .actions([forward])
        .default_with(forward, [1, 2])
        .entries(entries![(3, _) => discard, (4, 1 &&& 0x3) => forward(5, 6)])
        .build();
    ig.control(|c| {
        m.flow = flow_hash.get();
        m.group = m.flow.slice::<11, 0, 12>() & 0x0ff;
        if ipv4.is_valid() && !(ipv4.ttl <= 1) {
            if route.apply().hit() {
                sizes.count(ipv4.ttl);
            } else {
                match ipv4.ecn {
                    0 => discard.call(),
                    1 | 2 => udp.checksum = 0,
                    _ => {}
                }
            }
            match pick.apply().action_run() {
                discard => drop(no_route),
                _ => {}
            }
        } else if m.l4_src == 9 || p.count {
            drop(no_route);
        }
    });
    ig.deparser()
        .checksum(ipv4, ipv4.checksum, list![ipv4.version, ipv4.ihl])
        .emit(ethernet)
        .emit(ipv4)
        .emit(udp);
    route
}

/// Declares the same program as plain Rust, as the attribute would have rewritten it.
fn plain(ig: &GressBuilder<'_>, p: &Settings) -> TableRef {
    let Headers { ethernet, ipv4, udp, m } = parser(ig);
    let tm = ig.intrinsic::<tna::ForTm>();
    let no_route = ig.named("no_route", "Over all flows").drop_label("No route to the destination");
    let flow_hash = ig
        .named("flow_hash", "")
        .hash::<16>(p.hash.as_str())
        .inputs(list![ipv4.src, constant::<8>(7)])
        .seed(1)
        .rotate(3)
        .build();
    let members = ig.named("members", "").profile(64).selector(SelectorMode::Fair, flow_hash, 16, 8).build();
    let routed = ig.named("routed", "").direct_counter(CounterKind::PacketsAndBytes);
    let sizes = ig.named("sizes", "").counter(256, CounterKind::Bytes);
    let discard = ig.named("discard", "").action(|a| a.run(drop(no_route)));
    let forward = ig.named("forward", "Out of a port").action(|a| {
        let (port, mac) = (a.arg::<9>("port"), a.arg::<48>("mac"));
        a.set(tm.ucast_egress_port, port);
        a.set(ethernet.dst, mac);
        a.set(ipv4.ttl, ipv4.ttl - 1);
        if p.count {
            a.run(routed.count());
        } else {
            a.run(udp.set_invalid());
        }
    });
    let route =
        ig.named("route", "Prefix to members").table([lpm(ipv4.dst)]).actions([forward]).default(discard);
    let route = route.size(p.routes).profile(members).counter(routed).stage(2).build();
    let rows = [
        Row::new([Cell::Value(3), Cell::Any], discard, vec![]),
        Row::new([Cell::Value(4), Cell::Masked(1, 3)], forward, vec![5, 6]),
    ];
    let pick = ig.named("pick", "").table([exact(m.group), ternary(ipv4.ttl)]).actions([forward]);
    let pick = pick.default_with(forward, [1, 2]).entries(rows).build();
    ig.control(|c| {
        c.set(m.flow, flow_hash.get());
        c.set(m.group, m.flow.slice::<11, 0, 12>() & 0x0ff);
        c.if_(and(ipv4.is_valid(), not(ipv4.ttl.le(1))), |c| {
            c.if_(route.apply().hit(), |c| c.run(sizes.count(ipv4.ttl))).else_(|c| {
                c.if_(ipv4.ecn.eq(0), |c| c.run(discard.call())).else_(|c| {
                    c.if_(or(ipv4.ecn.eq(1), ipv4.ecn.eq(2)), |c| c.set(udp.checksum, 0));
                });
            });
            c.switch(pick.apply().action_run()).case(discard, |c| c.run(drop(no_route)));
        })
        .else_(|c| {
            if p.count {
                c.run(drop(no_route));
            } else {
                c.if_(m.l4_src.eq(9), |c| c.run(drop(no_route)));
            }
        });
    });
    ig.deparser()
        .checksum(ipv4, ipv4.checksum, list![ipv4.version, ipv4.ihl])
        .emit(ethernet)
        .emit(ipv4)
        .emit(udp);
    route
}

fn build<T>(
    write: impl FnOnce(&GressBuilder<'_>, &Settings) -> T,
    p: &Settings,
) -> Result<(Program, T), Vec<Diag>> {
    let b = Builder::new("test-program", "A program of the tests");
    let handles = write(&b.ingress(), p);
    Ok((b.finish_unverified(p)?, handles))
}

#[test]
fn both_styles_make_the_same_program() {
    for count in [true, false] {
        let p = Settings { count, ..Settings::default() };
        let (mut with, route) = build(attributed, &p).unwrap();
        let (mut without, _) = build(plain, &p).unwrap();
        assert_eq!(with.tables[route.id()].name, "route");
        // Implicit actions are named after their first line, and the lines of the two texts differ.
        for program in [&mut with, &mut without] {
            for action in program.actions.values_mut().filter(|a| a.name.starts_with("ingress_l")) {
                assert_eq!(action.name["ingress_l".len()..].parse(), Ok(action.loc.line));
                action.name.truncate("ingress_l".len());
            }
        }
        assert_eq!(with, without);
    }
}

#[test]
fn names_docs_and_places_are_recorded() {
    let (program, route) = build(attributed, &Settings::default()).unwrap();
    let table = &program.tables[route.id()];
    assert_eq!((table.name.as_str(), table.doc.as_str()), ("route", "Prefix to members"));
    assert!(table.loc.file.ends_with("builder.rs"));
    let here = Loc::caller().line;
    assert!(table.loc.line > 0 && table.loc.line < here && table.loc.col > 1);

    let label = program.labels.values().next().unwrap();
    assert_eq!(label.doc, "Over all flows No route to the destination");
    let header = program.headers.values().nth(1).unwrap();
    assert_eq!(
        (header.name.as_str(), header.doc.as_str()),
        ("ipv4", "IPv4 header without options (RFC 791)")
    );
    let ttl = program.field_named(Gress::Ingress, "ipv4.ttl").unwrap();
    assert_eq!((program.fields[ttl].doc.as_str(), program.fields[ttl].width), ("Hops left", 8));
    let group = program.field_named(Gress::Ingress, "m.group").unwrap();
    assert_eq!(
        (program.fields[group].doc.as_str(), program.fields[group].home),
        ("Next-hop group", Home::Metadata)
    );
    let forward = &program.actions[program.action_named("forward").unwrap()];
    let params: Vec<_> = forward.params.iter().map(|p| (p.name.as_str(), p.width)).collect();
    assert_eq!(params, [("port", 9), ("mac", 48)]);
    let lines: Vec<u32> = forward.body.iter().map(|p| p.loc.line - forward.loc.line).collect();
    assert_eq!(lines, [1, 2, 3, 5]);
    let p: Vec<_> =
        program.params.iter().map(|p| (p.key.as_str(), p.value.as_str(), p.doc.as_str())).collect();
    assert_eq!(p[0], ("routes", "1024", "IPv4 routes (0 to 4294967295)"));
    assert_eq!(p[2], ("hash", "crc_16", "Hash of the flow (a hash name)"));
}

#[test]
fn what_is_declared_reaches_the_program() {
    let (program, route) = build(attributed, &Settings::default()).unwrap();
    let drop_ctl = program.intrinsic(Gress::Ingress, Intrinsic::DropCtl).unwrap();
    assert_eq!(program.fields[drop_ctl].name, "dprsr.drop_ctl");
    assert_eq!(program.intrinsic(Gress::Egress, Intrinsic::DropCtl), None);
    let counter = program.direct_counter(route.id()).unwrap();
    assert_eq!(program.counters[counter].home, CounterHome::Direct(route.id()));

    let pick = &program.tables[program.table_named("pick").unwrap()];
    assert_eq!((pick.size, pick.default.args.as_slice()), (2, &[1, 2][..]));
    assert_eq!(pick.entries[0].key, [KeyValue::Exact(3), KeyValue::Ternary { value: 0, mask: 0 }]);
    assert_eq!(pick.entries[1].key, [KeyValue::Exact(4), KeyValue::Ternary { value: 1, mask: 3 }]);
    assert_eq!(pick.entries[1].then.args, [5, 6]);

    let start = &program.states[ir_state(&program, "start")];
    assert_eq!(start.arms[0].values, [(0x0800, 0xffff)]);
    assert_eq!((start.arms[1].values[0], start.arms[1].next), ((0x8100, 0xff00), Next::Reject));
    let ipv4 = &program.states[ir_state(&program, "parse_ipv4")];
    assert_eq!(ipv4.doc, "IPv4 without options");
    assert_eq!(ipv4.arms[0].values, [(5, 0xf), (17, 0xff)]);
    assert_eq!(ipv4.arms[0].next, Next::State(ir_state(&program, "parse_udp")));
    let udp = &program.states[ir_state(&program, "parse_udp")];
    assert!(matches!(udp.ops[1].kind, ParserOpKind::Set(..)));
    assert_eq!(program.pipe(Gress::Ingress).deparser.emit.len(), 3);
}

fn ir_state(program: &Program, name: &str) -> ir::ParserState {
    program.states.iter().find(|(_, s)| s.name == name).map(|(id, _)| id).unwrap()
}

#[stage_program]
fn groups(ig: &GressBuilder<'_>) {
    let ipv4 = ig.header::<Ipv4>();
    let m = ig.metadata::<Meta>();
    let seen = ig.counter(4, CounterKind::Packets);
    let h = ig.hash::<16>("crc_16").inputs(list![m.l4_src]).build();
    let gone = ig.consume_label("Taken out on purpose");
    let twice = ig.action(|a| ipv4.ttl = 7);
    ig.control(|c| {
        ipv4.set_valid(); // group 1
        ipv4.ttl = 64;
        ipv4.protocol = 17;
        m.group = ipv4.total_len.cast::<12>();
        ipv4.total_len = 20; // written after it was read: still group 1
        ipv4.dscp = ipv4.ttl.cast::<6>(); // group 2 reads what 1 wrote
        ipv4.ttl = 1;
        ipv4.dscp = 0; // group 3 writes it again
        seen.count(0);
        m.l4_src = 5;
        m.flow = h.get(); // group 4: hashes what 3 wrote
        seen.count(1);
        seen.count(2); // group 5: one cell per pass and counter
        drop(gone);
        twice.call();
        drop(gone); // group 6 after the call
        drop(gone); // group 7
    });
}

#[test]
fn statements_that_may_run_at_once_share_an_action() {
    let (program, ()) = build(|ig, _| groups(ig), &Settings::default()).unwrap();
    let control = &program.pipe(Gress::Ingress).control;
    let bodies: Vec<usize> = control
        .iter()
        .map(|s| match &s.kind {
            StmtKind::Call(a) => program.actions[*a].body.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(bodies, [5, 2, 3, 2, 2, 1, 1, 1]);
}

#[stage_program]
fn accesses(ig: &GressBuilder<'_>) {
    let m = ig.metadata::<Meta>();
    let (a, b) = (ig.register::<16>(4), ig.register::<16>(4));
    let read = ig.register_action(a, |r| r.out = r.value);
    let count = ig.register_action(b, |r| r.value = r.value + 1);
    ig.control(|c| {
        m.l4_src = 5;
        m.flow = read.execute(0);
        count.execute(1);
        m.l4_src = 7;
        m.group = 1;
    });
}

#[test]
fn accesses_to_registers_stand_alone() {
    let (program, ()) = build(|ig, _| accesses(ig), &Settings::default()).unwrap();
    let control = &program.pipe(Gress::Ingress).control;
    let bodies = control.iter().map(|s| match &s.kind {
        StmtKind::Call(a) => program.actions[*a].body.len(),
        other => panic!("{other:?}"),
    });
    assert_eq!(bodies.collect::<Vec<_>>(), [1, 1, 1, 2]);
}

#[test]
fn a_loop_declares_numbered_names() {
    #[stage_program]
    fn ways(ig: &GressBuilder<'_>) -> Vec<TableRef> {
        let m = ig.metadata::<Meta>();
        let mut tables = Vec::new();
        for way in 0..3 {
            /// One way of the path
            let set = ig.action(|a| m.group = way);
            let pick = ig.table([exact(m.flow)]).actions([set]).size(16).build();
            tables.push(pick);
        }
        ig.control(|c| {
            for (way, table) in (0..).zip(&tables) {
                if way == 1u64 {
                    m.flow = way;
                }
                table.apply();
            }
        });
        tables
    }
    let (program, tables) = build(|ig, _| ways(ig), &Settings::default()).unwrap();
    let names: Vec<_> = tables.iter().map(|t| program.tables[t.id()].name.as_str()).collect();
    assert_eq!(names, ["pick", "pick_1", "pick_2"]);
    assert!(program.action_named("set_2").is_some_and(|a| program.actions[a].doc == "One way of the path"));
    let kinds: Vec<bool> =
        program.pipe(Gress::Ingress).control.iter().map(|s| matches!(s.kind, StmtKind::Apply(..))).collect();
    assert_eq!(kinds, [true, false, true, true], "the Rust condition is decided while building");
}

#[test]
fn gresses_have_their_own_fields_and_share_the_names_of_tables() {
    #[stage_program]
    fn gress(g: &GressBuilder<'_>) {
        let (ipv6, vlan, tcp) = (g.header::<Ipv6>(), g.header::<Vlan>(), g.header::<Tcp>());
        let stamp = g.intrinsic::<tna::FromParser>();
        let hosts = g.table([exact(ipv6.dst), ternary(vlan.vid)]).size(8).build();
        g.control(|c| {
            if ipv6.src == Wide(1 << 100) || stamp.global_tstamp >= 9 {
                if hosts.apply().miss() {
                    ipv6.dst = Wide(u128::MAX);
                    tcp.seq_no = stamp.global_tstamp.cast::<32>().sat_add(1) ^ (tcp.ack_no << 3);
                } else {
                    tcp.window = tcp.window.min(7).max(3) | 1;
                }
            }
        });
    }
    let b = Builder::new("both", "");
    gress(&b.ingress());
    gress(&b.egress());
    let program = b.finish_unverified(&()).unwrap();
    assert_eq!(program.params, []);
    let names: Vec<_> = program.tables.values().map(|t| (t.name.as_str(), t.gress)).collect();
    assert_eq!(names, [("hosts", Gress::Ingress), ("hosts_1", Gress::Egress)]);
    for g in Gress::ALL {
        let dst = program.field_named(g, "ipv6.dst").unwrap();
        assert_eq!(program.fields[dst].width, 128);
        assert!(program.intrinsic(g, Intrinsic::GlobalTstamp).is_some());
        let StmtKind::If(IrCond::Or(left, _), then, _) = &program.pipe(g).control[0].kind else { panic!() };
        assert!(matches!(&**left, IrCond::Cmp(ir::CmpOp::Eq, _, ir::Expr::Const(v, 128)) if *v == 1 << 100));
        let StmtKind::Apply(_, arms) = &then[0].kind else { panic!() };
        assert_eq!((arms.hit.len(), arms.miss.len()), (1, 1));
    }
    let no_actions: Vec<_> =
        program.tables.values().map(|t| &program.actions[t.default.action].name).collect();
    assert_eq!(no_actions, ["NoAction", "NoAction_1"]);
}

#[test]
fn parameters_are_set_by_key_and_refused_with_reasons() {
    let mut p = Settings::default();
    p.set("routes", "7").unwrap();
    p.set("count", "false").unwrap();
    p.set("hash", "crc_32").unwrap();
    let values: Vec<_> = p.list().into_iter().map(|i| (i.key, i.value, i.expects)).collect();
    let expected = [
        ("routes", "7", "0 to 4294967295"),
        ("count", "false", "true or false"),
        ("hash", "crc_32", "a hash name"),
    ];
    assert_eq!(values, expected.map(|(k, v, e)| (k.to_owned(), v.to_owned(), e.to_owned())));
    let unknown = p.set("route", "1").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "unknown parameter `route`; did you mean `routes`? (parameters: routes, count, hash)"
    );
    let bad = p.set("count", "yes").unwrap_err().to_string();
    assert!(bad.starts_with("parameter `count` is `yes`; expected true or false ("), "{bad}");
    assert!(!p.count);
}
