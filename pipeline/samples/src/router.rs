//! A small router built by hand, for the tests of the control plane and of the reference interpreter.
//!
//! Ingress parses Ethernet, VLAN, IPv4 and IPv6, counts per port, filters by `acl` (ternary, direct counter),
//! routes IPv4 by `ipv4_lpm` (lpm, profile with selector) and others by `host` (exact). Egress parses
//! Ethernet and survives parser errors.

use sluice_asic::gress::Gress::{self, Egress, Ingress};
use sluice_asic::hash::HashAlgorithm;
use sluice_asic::select::SelectorMode;
use sluice_ir::entity::Entity;
use sluice_ir::*;

/// Adds declarations without source locations to a program.
pub struct Maker(pub Program);

impl Maker {
    pub fn field(&mut self, gress: Gress, name: &str, width: u16, home: Home) -> Field {
        let loc = Loc::default();
        self.0.fields.push(FieldData { name: name.into(), gress, width, home, doc: String::new(), loc })
    }

    pub fn intrinsic(&mut self, gress: Gress, which: Intrinsic) -> Field {
        self.field(gress, which.info().name, which.info().tofino2, Home::Intrinsic(which))
    }

    pub fn header(&mut self, gress: Gress, name: &str, fields: &[(&str, u16)]) -> Header {
        let header = self.0.headers.next_key();
        let full = |f: &str| format!("{name}.{f}");
        let fields =
            fields.iter().map(|(f, w)| self.field(gress, &full(f), *w, Home::Header(header))).collect();
        let loc = Loc::default();
        self.0.headers.push(HeaderData { name: name.into(), gress, fields, doc: String::new(), loc })
    }

    pub fn state(&mut self, gress: Gress, name: &str, ops: Vec<ParserOpKind>) -> ParserState {
        let ops = ops.into_iter().map(|kind| ParserOp { kind, loc: Loc::default() }).collect();
        self.0.states.push(StateData {
            name: name.into(),
            gress,
            ops,
            select: vec![],
            arms: vec![],
            default: Next::Accept,
            doc: String::new(),
            loc: Loc::default(),
        })
    }

    pub fn select(&mut self, state: ParserState, on: Field, arms: &[(u128, ParserState)], default: Next) {
        let width = self.0.fields[on].width;
        let mask = sluice_asic::alu::width_mask(width.into());
        let data = &mut self.0.states[state];
        data.select = vec![on.into()];
        data.arms = arms.iter().map(|(v, s)| SelectArm::new(vec![(*v, mask)], Next::State(*s))).collect();
        data.default = default;
    }

    pub fn action(&mut self, name: &str, params: &[(&str, u16)], body: Vec<PrimitiveKind>) -> Action {
        let params = params.iter().map(|(n, w)| ParamData { name: (*n).into(), width: *w }).collect();
        let body = body.into_iter().map(|kind| Primitive { kind, loc: Loc::default() }).collect();
        let doc = format!("does {name}");
        self.0.actions.push(ActionData {
            name: name.into(),
            gress: Ingress,
            params,
            body,
            doc,
            loc: Loc::default(),
        })
    }

    pub fn table(&mut self, name: &str, keys: &[(Field, MatchKind)], actions: &[Action], size: u32) -> Table {
        let default = ActionCall { action: actions[actions.len() - 1], args: vec![] };
        self.0.tables.push(TableData {
            name: name.into(),
            gress: Ingress,
            keys: keys.iter().map(|(field, kind)| Key::new(*field, *kind)).collect(),
            actions: actions.to_vec(),
            default,
            constant_default: false,
            size,
            entries: vec![],
            profile: None,
            pin: None,
            idle: None,
            algorithmic: None,
            rules: TableRules::default(),
            doc: format!("table\nfor {name}"),
            loc: Loc::default(),
        })
    }

    fn label(&mut self, name: &str) -> Label {
        let loc = Loc::default();
        self.0.labels.push(LabelData { name: name.into(), kind: LabelKind::Drop, doc: String::new(), loc })
    }

    fn counter(&mut self, name: &str, home: CounterHome) -> Counter {
        let kind = CounterKind::PacketsAndBytes;
        let loc = Loc::default();
        self.0.counters.push(CounterData {
            name: name.into(),
            gress: Ingress,
            kind,
            home,
            cell: sluice_ir::CounterCell::default(),
            doc: String::new(),
            loc,
        })
    }

    fn named(&self, gress: Gress, name: &str) -> Field {
        self.0.field_named(gress, name).unwrap()
    }
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, loc: Loc { file: "sample.rs", line: 7, col: 1, text: sluice_ir::SourceText::default() } }
}

const ETHERNET: [(&str, u16); 3] = [("dst", 48), ("src", 48), ("type", 16)];
const VLAN: [(&str, u16); 4] = [("pcp", 3), ("dei", 1), ("vid", 12), ("type", 16)];
const IPV4: [(&str, u16); 12] = [
    ("version", 4),
    ("ihl", 4),
    ("tos", 8),
    ("len", 16),
    ("id", 16),
    ("flags", 3),
    ("frag", 13),
    ("ttl", 8),
    ("proto", 8),
    ("checksum", 16),
    ("src", 32),
    ("dst", 32),
];
const IPV6: [(&str, u16); 8] = [
    ("version", 4),
    ("class", 8),
    ("flow", 20),
    ("len", 16),
    ("next", 8),
    ("hops", 8),
    ("src", 128),
    ("dst", 128),
];

/// Returns the router.
pub fn router() -> Program {
    let mut m = Maker(Program { name: "router".into(), ..Program::default() });
    for which in [Intrinsic::IngressPort, Intrinsic::UcastEgressPort, Intrinsic::Qid, Intrinsic::DropCtl] {
        m.intrinsic(Ingress, which);
    }
    m.field(Ingress, "meta.bad_checksum", 1, Home::Metadata);
    m.field(Ingress, "meta.hash", 16, Home::Metadata);
    let emit = [("eth", &ETHERNET[..]), ("vlan", &VLAN), ("ipv4", &IPV4), ("ipv6", &IPV6)];
    let emit: Vec<Header> = emit.iter().map(|(name, fields)| m.header(Ingress, name, fields)).collect();
    parser(&mut m, &emit);
    let ipv4_fields = m.0.headers[emit[2]].fields.clone();
    let checksum = m.named(Ingress, "ipv4.checksum");
    let inputs = ipv4_fields.into_iter().filter(|f| *f != checksum).map(Expr::Field).collect();
    let update = ChecksumUpdate {
        header: emit[2],
        when: None,
        field: checksum,
        inputs,
        zeros_as_ones: false,
        loc: Loc::default(),
    };
    m.0.pipes[0].deparser = Deparser { checksums: vec![update], emit, ..Deparser::default() };
    control(&mut m);
    egress(&mut m);
    m.0
}

fn parser(m: &mut Maker, headers: &[Header]) {
    let &[eth, vlan, ipv4, ipv6] = headers else { return };
    let start = m.state(Ingress, "start", vec![ParserOpKind::Extract(eth)]);
    let in_vlan = m.state(Ingress, "parse_vlan", vec![ParserOpKind::Extract(vlan)]);
    let verify = ParserOpKind::VerifyChecksum(m.named(Ingress, "meta.bad_checksum"), m.0.header_list(ipv4));
    let in_ipv4 = m.state(Ingress, "parse_ipv4", vec![ParserOpKind::Extract(ipv4), verify]);
    let in_ipv6 = m.state(Ingress, "parse_ipv6", vec![ParserOpKind::Extract(ipv6)]);
    let (eth_type, vlan_type) = (m.named(Ingress, "eth.type"), m.named(Ingress, "vlan.type"));
    m.select(start, eth_type, &[(0x8100, in_vlan), (0x800, in_ipv4), (0x86dd, in_ipv6)], Next::Accept);
    m.select(in_vlan, vlan_type, &[(0x800, in_ipv4), (0x86dd, in_ipv6)], Next::Reject);
    m.0.pipes[0].start = Next::State(start);
}

fn control(m: &mut Maker) {
    let f = |m: &Maker, name| m.named(Ingress, name);
    let port_field = f(m, "ig_tm.ucast_egress_port");
    let (bad, denied, no_route) = (m.label("bad_checksum"), m.label("acl_deny"), m.label("no_route"));
    let ports = m.counter("ports", CounterHome::Indirect(4));
    let acl_hits = m.counter("acl_hits", CounterHome::Direct(Table::new(0)));
    let hash = m.0.hashes.push(HashData {
        name: "flow".into(),
        gress: Ingress,
        algorithm: HashAlgorithm::Identity,
        inputs: vec![Expr::Field(f(m, "ipv4.src"))],
        symmetric: Vec::new(),
        width: 14,
        seed: 0,
        rotate: 0,
        doc: String::new(),
        loc: Loc::default(),
    });
    let count = PrimitiveKind::Count(ports, Expr::Field(f(m, "ig.ingress_port")));
    let count_port = m.action("count_port", &[], vec![count, PrimitiveKind::Hash(f(m, "meta.hash"), hash)]);
    let drop_bad = m.action("drop_bad", &[], vec![PrimitiveKind::Drop(bad)]);
    let hit = PrimitiveKind::CountDirect(acl_hits);
    let permit = m.action("permit", &[], vec![hit.clone()]);
    let deny = m.action("deny", &[], vec![hit.clone(), PrimitiveKind::Drop(denied)]);
    let eth_type = f(m, "eth.type");
    let vlan = Header::new(1);
    let push = vec![
        hit,
        PrimitiveKind::SetValid(vlan, true),
        PrimitiveKind::Set(f(m, "vlan.vid"), Expr::Param(0, 12)),
        PrimitiveKind::Set(f(m, "vlan.type"), Expr::Field(eth_type)),
        PrimitiveKind::Set(eth_type, Expr::Const(0x8100, 16)),
    ];
    let push_vlan = m.action("push_vlan", &[("vid", 12)], push);
    let set_port = PrimitiveKind::Set(port_field, Expr::Param(0, 9));
    let rewrite = PrimitiveKind::Set(f(m, "eth.dst"), Expr::Param(1, 48));
    let set_nexthop = m.action("set_nexthop", &[("port", 9), ("dmac", 48)], vec![set_port.clone(), rewrite]);
    let lost = m.action("no_route", &[], vec![PrimitiveKind::Drop(no_route)]);
    let forward = m.action("forward", &[("port", 9)], vec![set_port]);
    let nop = m.action("nop", &[], vec![]);
    let ttl = f(m, "ipv4.ttl");
    let less =
        Expr::Alu(sluice_asic::alu::AluOp::Sub, Box::new(Expr::Field(ttl)), Box::new(Expr::Const(1, 8)));
    let dec_ttl = m.action("dec_ttl", &[], vec![PrimitiveKind::Set(ttl, less)]);

    let acl_keys = [(f(m, "ipv4.src"), MatchKind::Ternary), (f(m, "ipv4.proto"), MatchKind::Ternary)];
    let acl = m.table("acl", &acl_keys, &[deny, push_vlan, permit], 3);
    let lpm = m.table("ipv4_lpm", &[(f(m, "ipv4.dst"), MatchKind::Lpm)], &[set_nexthop, lost], 4);
    let host_keys = [(f(m, "eth.dst"), MatchKind::Exact), (f(m, "ipv6.dst"), MatchKind::Lpm)];
    let host = m.table("host", &host_keys, &[forward, nop], 4);
    let fixed = m.table("fixed", &[(f(m, "vlan.pcp"), MatchKind::Exact)], &[nop], 2);
    let then = ActionCall { action: nop, args: vec![] };
    m.0.tables[fixed].entries = vec![ConstEntry { key: vec![KeyValue::Exact(7)], then }];
    let keyless = m.table("keyless", &[], &[nop], 0);
    let selector =
        SelectorData { mode: SelectorMode::Fair, hash, groups: 2, max_group_size: 4, scramble: false };
    m.0.tables[lpm].profile = Some(profile(m, "nexthops", 3, Some(selector)));
    let plain_keys = [(f(m, "vlan.vid"), MatchKind::Exact)];
    let plain = m.table("plain", &plain_keys, &[forward, nop], 2);
    m.0.tables[plain].profile = Some(profile(m, "members_only", 2, None));

    let equals = Cond::Cmp(CmpOp::Eq, Expr::Field(f(m, "meta.bad_checksum")), Expr::Const(1, 1));
    let routed = ApplyArms { hit: vec![stmt(StmtKind::Call(dec_ttl))], ..ApplyArms::default() };
    let not_denied = ApplyArms { run: vec![(permit, vec![]), (push_vlan, vec![])], ..ApplyArms::default() };
    let ip = vec![
        stmt(StmtKind::If(equals, vec![stmt(StmtKind::Call(drop_bad))], vec![])),
        stmt(StmtKind::Apply(acl, not_denied)),
        stmt(StmtKind::Apply(lpm, routed)),
    ];
    let other =
        [host, fixed, keyless, plain].map(|t| stmt(StmtKind::Apply(t, ApplyArms::default()))).to_vec();
    m.0.pipes[0].control =
        vec![stmt(StmtKind::Call(count_port)), stmt(StmtKind::If(Cond::Valid(Header::new(2)), ip, other))];
}

fn profile(m: &mut Maker, name: &str, size: u32, selector: Option<SelectorData>) -> Profile {
    let (doc, loc) = (format!("profile {name}"), Loc::default());
    m.0.profiles.push(ProfileData { name: name.into(), gress: Ingress, size, selector, doc, loc })
}

fn egress(m: &mut Maker) {
    for which in [Intrinsic::EgressPort, Intrinsic::ParserErr, Intrinsic::PktLength, Intrinsic::EnqTstamp] {
        m.intrinsic(Egress, which);
    }
    let eth = m.header(Egress, "eth", &ETHERNET);
    let start = m.state(Egress, "start", vec![ParserOpKind::Extract(eth)]);
    m.0.pipes[1] = PipeData {
        start: Next::State(start),
        control: vec![],
        deparser: Deparser { emit: vec![eth], ..Deparser::default() },
    };
}
