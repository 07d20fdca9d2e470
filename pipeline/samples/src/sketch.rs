//! Programs built by hand for the tests of placement and report.

use sluice_asic::alu::AluOp;
use sluice_asic::gress::Gress;
use sluice_asic::hash::HashAlgorithm;
use sluice_asic::select::SelectorMode;
use sluice_ir::entity::Entity;
use sluice_ir::{
    Action, ActionCall, ActionData, ApplyArms, Cond, Counter, CounterData, CounterHome, CounterKind, Expr,
    Field, FieldData, Hash, HashData, Header, HeaderData, Home, Intrinsic, Key, Label, LabelData, LabelKind,
    Loc, MatchKind, Next, ParamData, ParserOp, ParserOpKind, Primitive, PrimitiveKind, Profile, ProfileData,
    Program, SelectArm, SelectorData, StateData, Stmt, StmtKind, Table, TableData, TableRules,
};

/// Adds entities to a program.
pub struct Sketch {
    pub program: Program,
    pub gress: Gress,
    line: u32,
}

impl Sketch {
    pub fn new(name: &str) -> Self {
        let program = Program { name: name.to_owned(), doc: "A sample.".to_owned(), ..Default::default() };
        Sketch { program, gress: Gress::Ingress, line: 0 }
    }

    fn loc(&mut self) -> Loc {
        self.line += 1;
        Loc { file: "sample.rs", line: self.line, col: 1, text: sluice_ir::SourceText::default() }
    }

    fn field(&mut self, name: &str, width: u16, home: Home) -> Field {
        let (gress, loc) = (self.gress, self.loc());
        self.program.fields.push(FieldData {
            name: name.to_owned(),
            gress,
            width,
            home,
            doc: String::new(),
            loc,
        })
    }

    pub fn meta(&mut self, name: &str, width: u16) -> Field {
        self.field(&format!("meta.{name}"), width, Home::Metadata)
    }

    pub fn intrinsic(&mut self, which: Intrinsic) -> Field {
        let info = which.info();
        self.field(info.name, info.tofino2, Home::Intrinsic(which))
    }

    pub fn header(&mut self, name: &str, fields: &[(&str, u16)]) -> (Header, Vec<Field>) {
        let (gress, loc) = (self.gress, self.loc());
        let header = self.program.headers.next_key();
        let fields: Vec<Field> = fields
            .iter()
            .map(|(f, w)| self.field(&format!("{name}.{f}"), *w, Home::Header(header)))
            .collect();
        let data =
            HeaderData { name: name.to_owned(), gress, fields: fields.clone(), doc: String::new(), loc };
        self.program.headers.push(data);
        (header, fields)
    }

    pub fn state(&mut self, name: &str, header: Header, select: &[Field], arms: Vec<SelectArm>) {
        let (gress, loc) = (self.gress, self.loc());
        let state = self.program.states.push(StateData {
            name: name.to_owned(),
            gress,
            ops: vec![ParserOp { kind: ParserOpKind::Extract(header), loc }],
            select: select.iter().map(|f| (*f).into()).collect(),
            arms,
            default: Next::Accept,
            doc: String::new(),
            loc,
        });
        let pipe = &mut self.program.pipes[gress.index()];
        if pipe.start == Next::Accept {
            pipe.start = Next::State(state);
        }
        pipe.deparser.emit.push(header);
    }

    pub fn action(&mut self, name: &str, params: &[u16], body: Vec<PrimitiveKind>) -> Action {
        let (gress, loc) = (self.gress, self.loc());
        let params =
            params.iter().enumerate().map(|(i, &w)| ParamData { name: format!("p{i}"), width: w }).collect();
        let body = body.into_iter().map(|kind| Primitive { kind, loc }).collect();
        self.program.actions.push(ActionData {
            name: name.to_owned(),
            gress,
            params,
            body,
            doc: String::new(),
            loc,
        })
    }

    pub fn table(&mut self, name: &str, keys: &[(Field, MatchKind)], actions: &[Action], size: u32) -> Table {
        let (gress, loc) = (self.gress, self.loc());
        let default = *actions.last().unwrap();
        let args = vec![0; self.program.actions[default].params.len()];
        self.program.tables.push(TableData {
            name: name.to_owned(),
            gress,
            keys: keys.iter().map(|&(field, kind)| Key::new(field, kind)).collect(),
            actions: actions.to_vec(),
            default: ActionCall { action: default, args },
            constant_default: false,
            size,
            entries: Vec::new(),
            profile: None,
            pin: None,
            idle: None,
            algorithmic: None,
            rules: TableRules::default(),
            doc: String::new(),
            loc,
        })
    }

    pub fn counter(&mut self, name: &str, kind: CounterKind, home: CounterHome) -> Counter {
        let (gress, loc) = (self.gress, self.loc());
        self.program.counters.push(CounterData {
            name: name.to_owned(),
            gress,
            kind,
            home,
            cell: sluice_ir::CounterCell::default(),
            doc: String::new(),
            loc,
        })
    }

    pub fn hash(&mut self, name: &str, inputs: &[Field], width: u16) -> Hash {
        let (gress, loc) = (self.gress, self.loc());
        self.program.hashes.push(HashData {
            name: name.to_owned(),
            gress,
            algorithm: HashAlgorithm::from_name("crc_32").unwrap(),
            inputs: inputs.iter().map(|&f| Expr::Field(f)).collect(),
            symmetric: Vec::new(),
            width,
            seed: 0,
            rotate: 0,
            doc: String::new(),
            loc,
        })
    }

    pub fn profile(
        &mut self,
        name: &str,
        size: u32,
        hash: Hash,
        groups: u32,
        max_group_size: u32,
    ) -> Profile {
        let (gress, loc) = (self.gress, self.loc());
        let selector = Some(SelectorData {
            mode: SelectorMode::Resilient,
            hash,
            groups,
            max_group_size,
            scramble: false,
        });
        self.program.profiles.push(ProfileData {
            name: name.to_owned(),
            gress,
            size,
            selector,
            doc: String::new(),
            loc,
        })
    }

    pub fn label(&mut self, name: &str) -> Label {
        let loc = self.loc();
        self.program.labels.push(LabelData {
            name: name.to_owned(),
            kind: LabelKind::Drop,
            doc: String::new(),
            loc,
        })
    }

    pub fn stmt(&mut self, kind: StmtKind) -> Stmt {
        Stmt { kind, loc: self.loc() }
    }

    pub fn apply(&mut self, table: Table) -> Stmt {
        self.stmt(StmtKind::Apply(table, ApplyArms::default()))
    }

    pub fn control(&mut self, block: Vec<Stmt>) {
        self.program.pipes[self.gress.index()].control = block;
    }
}

pub fn set(field: Field, value: Expr) -> PrimitiveKind {
    PrimitiveKind::Set(field, value)
}

pub fn param(n: u16, width: u16) -> Expr {
    Expr::Param(n, width)
}

pub fn cmp(op: sluice_ir::CmpOp, field: Field, value: u128, width: u16) -> Cond {
    Cond::Cmp(op, Expr::Field(field), Expr::Const(value, width))
}

const ETHERNET: [(&str, u16); 3] = [("dst", 48), ("src", 48), ("ether_type", 16)];
const IPV4: [(&str, u16); 10] = [
    ("version_ihl", 8),
    ("diffserv", 8),
    ("total_len", 16),
    ("identification", 16),
    ("flags_offset", 16),
    ("ttl", 8),
    ("protocol", 8),
    ("checksum", 16),
    ("src", 32),
    ("dst", 32),
];

fn to(state: usize) -> Next {
    Next::State(sluice_ir::ParserState::new(state))
}

/// Returns a router: port filter, longest-prefix match with a direct counter, ECMP over an action profile, next hops,
/// and egress rewriting of the source address.
pub fn l3(routes: u32) -> Program {
    use sluice_ir::CmpOp;
    let mut s = Sketch::new("l3");
    let port = s.intrinsic(Intrinsic::IngressPort);
    let egress_port = s.intrinsic(Intrinsic::UcastEgressPort);
    s.intrinsic(Intrinsic::DropCtl);
    let (_, eth) = {
        let (ethernet, f) = s.header("ethernet", &ETHERNET);
        s.state("parse_ethernet", ethernet, &[f[2]], vec![SelectArm::new(vec![(0x800, 0xffff)], to(1))]);
        (ethernet, f)
    };
    let (ipv4, ip) = s.header("ipv4", &IPV4);
    s.state("parse_ipv4", ipv4, &[], vec![]);
    let (group, nexthop) = (s.meta("group", 16), s.meta("nexthop", 16));
    let (denied, expired) = (s.label("port_denied"), s.label("ttl_expired"));

    let nop = s.action("nop", &[], vec![]);
    let deny = s.action("deny", &[], vec![PrimitiveKind::Drop(denied)]);
    let filter =
        s.table("port_filter", &[(port, MatchKind::Exact), (eth[2], MatchKind::Exact)], &[deny, nop], 1024);

    let to_group = s.action("to_group", &[16], vec![set(group, param(0, 16))]);
    let ipv4_lpm = s.table("ipv4_lpm", &[(ip[9], MatchKind::Lpm)], &[to_group, nop], routes);
    s.counter("route_counter", CounterKind::PacketsAndBytes, CounterHome::Direct(ipv4_lpm));

    let pick = s.action("pick", &[16], vec![set(nexthop, param(0, 16))]);
    let hash = s.hash("flow_hash", &[ip[8], ip[9], ip[6]], 51);
    let profile = s.profile("ecmp", 4096, hash, 512, 64);
    let ecmp = s.table("ecmp_group", &[(group, MatchKind::Exact)], &[pick, nop], 8192);
    s.program.tables[ecmp].profile = Some(profile);

    let rewrite = s.action(
        "rewrite",
        &[48, 9],
        vec![
            set(eth[0], param(0, 48)),
            set(egress_port, param(1, 9)),
            set(ip[5], Expr::Alu(AluOp::Sub, Box::new(Expr::Field(ip[5])), Box::new(Expr::Const(1, 8)))),
        ],
    );
    let nexthops = s.table("nexthops", &[(nexthop, MatchKind::Exact)], &[rewrite, nop], 16384);
    let expire = s.action("expire", &[], vec![PrimitiveKind::Drop(expired)]);
    let tx = s.counter("port_counter", CounterKind::Packets, CounterHome::Indirect(512));
    let count = s.action("count_port", &[], vec![PrimitiveKind::Count(tx, Expr::Field(port))]);

    let route = {
        let then = vec![s.apply(ipv4_lpm), s.apply(ecmp), s.apply(nexthops)];
        let otherwise = vec![s.stmt(StmtKind::Call(expire))];
        let alive = cmp(CmpOp::Gt, ip[5], 1, 8);
        s.stmt(StmtKind::If(Cond::And(Box::new(Cond::Valid(ipv4)), Box::new(alive)), then, otherwise))
    };
    let block = vec![s.stmt(StmtKind::Call(count)), s.apply(filter), route];
    s.control(block);

    s.gress = Gress::Egress;
    let out_port = s.intrinsic(Intrinsic::EgressPort);
    let (ethernet, eth) = s.header("ethernet", &ETHERNET);
    s.state("parse_ethernet", ethernet, &[], vec![]);
    let set_source = s.action("set_source", &[48], vec![set(eth[1], param(0, 48))]);
    let pass = s.action("pass", &[], vec![]);
    let source = s.table("source_mac", &[(out_port, MatchKind::Exact)], &[set_source, pass], 512);
    let block = vec![s.apply(source)];
    s.control(block);
    s.program
}

/// Returns a program with one exact table over a 32-bit key, whose action writes one field.
pub fn one_exact(size: u32) -> Program {
    let mut s = Sketch::new("one-exact");
    let (header, f) = s.header("h", &[("key", 32), ("value", 32)]);
    s.state("parse_h", header, &[], vec![]);
    let put = s.action("put", &[32], vec![set(f[1], param(0, 32))]);
    let nop = s.action("nop", &[], vec![]);
    let table = s.table("lookup", &[(f[0], MatchKind::Exact)], &[put, nop], size);
    let block = vec![s.apply(table)];
    s.control(block);
    s.program
}

/// Returns a program with one ternary table over a 32-bit key, whose only action counts in a direct counter.
pub fn one_ternary(size: u32) -> Program {
    let mut s = Sketch::new("one-ternary");
    let (header, f) = s.header("h", &[("key", 32)]);
    s.state("parse_h", header, &[], vec![]);
    let nop = s.action("nop", &[], vec![]);
    let table = s.table("acl", &[(f[0], MatchKind::Ternary)], &[nop], size);
    let counter = s.counter("hits", CounterKind::Packets, CounterHome::Direct(table));
    let count = s.action("count", &[], vec![PrimitiveKind::CountDirect(counter)]);
    s.program.tables[table].actions = vec![count];
    let block = vec![s.apply(table)];
    s.control(block);
    s.program
}

/// Returns a program whose action counts in an indirect counter of this size, indexed by a 32-bit field.
pub fn one_counter(size: u32, kind: CounterKind) -> Program {
    let mut s = Sketch::new("one-counter");
    let (header, f) = s.header("h", &[("index", 32)]);
    s.state("parse_h", header, &[], vec![]);
    let counter = s.counter("cells", kind, CounterHome::Indirect(size));
    let count = s.action("count", &[], vec![PrimitiveKind::Count(counter, Expr::Field(f[0]))]);
    let block = vec![s.stmt(StmtKind::Call(count))];
    s.control(block);
    s.program
}

/// Returns `length` keyless actions, each of which adds to the result of the one before.
pub fn chain(length: usize) -> Program {
    let mut s = Sketch::new("chain");
    let fields: Vec<Field> = (0..=length).map(|i| s.meta(&format!("x{i}"), 8)).collect();
    let calls: Vec<Stmt> = (0..length)
        .map(|i| {
            let sum = Expr::Alu(AluOp::Add, Box::new(Expr::Field(fields[i])), Box::new(Expr::Const(1, 8)));
            let action = s.action(&format!("step{i}"), &[], vec![set(fields[i + 1], sum)]);
            s.stmt(StmtKind::Call(action))
        })
        .collect();
    s.control(calls);
    s.program
}

/// Returns `count` keyless actions with separate counters, so that only statistics ALUs can run out.
pub fn counters(count: usize, size: u32) -> Program {
    let mut s = Sketch::new("counters");
    let calls: Vec<Stmt> = (0..count)
        .map(|i| {
            let counter = s.counter(&format!("c{i}"), CounterKind::Packets, CounterHome::Indirect(size));
            let body = vec![PrimitiveKind::Count(counter, Expr::Const(0, 16))];
            let action = s.action(&format!("count{i}"), &[], body);
            s.stmt(StmtKind::Call(action))
        })
        .collect();
    s.control(calls);
    s.program
}
