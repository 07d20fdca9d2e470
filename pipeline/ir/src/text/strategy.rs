//! Random small programs for the round trip: every variant of the IR, odd names, odd order. They are
//! well-formed (headers and fields agree), not legal. Test support only.

mod arrays;
mod states;

use crate::entity::Entity;
use crate::*;
use proptest::prelude::*;
use sluice_asic::alu::AluOp;
use sluice_asic::gress::Gress;
use sluice_asic::port::{DevPort, FrontPort, PortName};
use sluice_asic::select::SelectorMode;
use sluice_asic::units::Duration;

/// A program made of random choices.
pub(super) fn programs() -> impl Strategy<Value = Program> {
    draws().prop_map(|data| Draw { data, at: 0, named: 0, dangling: true }.program())
}

/// The same with every reference leading somewhere.
pub(crate) fn connected_programs() -> impl Strategy<Value = Program> {
    draws().prop_map(|data| Draw { data, at: 0, named: 0, dangling: false }.program())
}

fn draws() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(any::<u64>(), 64..400)
}

const STEMS: [&str; 12] = [
    "ipv4",
    "m.x",
    "a-b",
    "$inline",
    "accept",
    "reject",
    "bit",
    "odd name",
    "back`tick",
    "hash",
    "_",
    "x\\y\n",
];
const DOCS: [&str; 6] = ["", "One line.", "Two\nlines", "  spaces  ", "back\\slash \\r and \r", "\n"];

struct Draw {
    data: Vec<u64>,
    at: usize,
    named: usize,
    /// Whether references may lead nowhere.
    dangling: bool,
}

impl Draw {
    fn word(&mut self) -> u64 {
        self.at += 1;
        let turn = (self.at / self.data.len()) as u64;
        self.data[self.at % self.data.len()].wrapping_mul(2 * turn + 1)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.word() >> 7) as usize % n.max(1)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Mostly one that exists, sometimes a dangling one.
    fn entity<K: Entity>(&mut self, len: usize) -> K {
        if self.dangling && self.below(16) == 0 {
            K::new(len + self.below(3))
        } else {
            K::new(self.below(len))
        }
    }

    fn value(&mut self) -> u128 {
        let value = u128::from(self.word()) << 64 | u128::from(self.word());
        value >> self.of(&[0, 64, 112, 120, 127])
    }

    /// A new name; sometimes one that was used before.
    fn name(&mut self) -> String {
        self.named += self.of(&[1, 1, 1, 1, 0]);
        let stem = self.of(&STEMS);
        if self.below(6) == 0 { stem.to_owned() } else { format!("{stem}{}", self.named) }
    }

    fn doc(&mut self) -> String {
        self.of(&DOCS).to_owned()
    }

    fn list<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn program(mut self) -> Program {
        let mut p = Program { name: self.name(), doc: self.doc(), ..Program::default() };
        p.params = self.list(2, |d| ParamValue { key: d.name(), value: d.name(), doc: d.doc() });
        self.fields(&mut p);
        for _ in 0..2 {
            let kind = self.of(&[LabelKind::Drop, LabelKind::Consume]);
            p.labels.push(LabelData { name: self.name(), kind, doc: self.doc(), loc: Loc::default() });
            let hash = self.hash(&p);
            p.hashes.push(hash);
            let counter = self.counter();
            p.counters.push(counter);
            let register = self.register();
            p.registers.push(register);
            let profile = self.profile();
            p.profiles.push(profile);
            let meter = self.meter();
            p.meters.push(meter);
            let random = RandomData {
                name: self.name(),
                gress: self.of(&Gress::ALL),
                width: self.below(40) as u16,
                doc: self.doc(),
                loc: Loc::default(),
            };
            p.randoms.push(random);
        }
        for _ in 0..2 {
            let action = self.register_action(&p);
            p.register_actions.push(action);
        }
        for _ in 0..3 {
            let action = self.action(&p);
            p.actions.push(action);
        }
        for _ in 0..2 {
            let table = self.table(&p);
            p.tables.push(table);
        }
        for _ in 0..2 {
            let (gress, headers) = (self.of(&Gress::ALL), self.list(3, |d| d.entity(4)));
            p.stacks.push(StackData {
                name: self.name(),
                gress,
                headers,
                doc: self.doc(),
                loc: Loc::default(),
            });
        }
        for _ in 0..3 {
            let state = self.state(&p);
            p.states.push(state);
        }
        for gress in Gress::ALL {
            let control = self.block(&p, 2);
            let start = self.next();
            let checksums = self.list(1, |d| ChecksumUpdate {
                header: d.entity(4),
                field: d.field(&p),
                inputs: d.list(2, |d| d.field(&p)),
                zeros_as_ones: d.below(2) == 0,
                loc: Loc::default(),
            });
            let emit = self.list(2, |d| d.entity(4));
            let requests = self.list(2, |d| {
                let session = d.field(&p);
                let kinds = [RequestKind::Resubmit, RequestKind::Mirror(session), RequestKind::Digest];
                let kind = d.of(&[kinds[0], kinds[1], kinds[2], RequestKind::Pktgen]);
                let header = if d.below(2) == 0 { Some(d.entity(4)) } else { None };
                Request { kind, selector: d.below(16) as u8, header, loc: Loc::default() }
            });
            let deparser = Deparser { checksums, emit, requests };
            p.pipes[gress.index()] = PipeData { start, control, deparser };
        }
        for _ in 0..self.below(3) {
            let (name, doc) = (self.name(), self.doc());
            let registers = self.list(2, |d| d.entity(3));
            let ports = self.list(3, |d| match DevPort::new(d.below(512) as u16) {
                Some(port) if d.below(2) == 0 => PortName::Dev(port),
                _ => PortName::Front(FrontPort(d.below(64) as u16)),
            });
            p.together.push(TogetherData { name, registers, ports, doc, loc: Loc::default() });
        }
        if self.below(2) == 0 {
            p.ghost = self.block(&p, 2);
        }
        p
    }

    fn fields(&mut self, p: &mut Program) {
        let loc = Loc::default();
        let headers: Vec<(Gress, String)> = (0..4).map(|_| (self.of(&Gress::ALL), self.name())).collect();
        let mut own = vec![Vec::new(); 4];
        for _ in 0..14 {
            let (width, doc) = (1 + self.below(128) as u16, self.doc());
            let (home, gress, name) = match self.below(5) {
                4 => (Home::PortMetadata, self.of(&Gress::ALL), self.name()),
                0 => (Home::Metadata, self.of(&Gress::ALL), self.name()),
                1 => {
                    let info = self.of(&Intrinsic::TABLE);
                    let name = if self.below(4) == 0 { self.name() } else { info.name.to_owned() };
                    (Home::Intrinsic(info.field), self.of(&Gress::ALL), name)
                }
                _ => {
                    let h = self.below(4);
                    let next = p.fields.next_key();
                    let at = self.below(own[h].len() + 1);
                    own[h].insert(at, next);
                    let prefix = if self.below(8) == 0 { "" } else { &headers[h].1 };
                    (Home::Header(Header::new(h)), headers[h].0, format!("{prefix}.{}", self.name()))
                }
            };
            p.fields.push(FieldData { name, gress, width, home, doc, loc });
        }
        for ((gress, name), fields) in headers.into_iter().zip(own) {
            p.headers.push(HeaderData { name, gress, fields, doc: self.doc(), loc });
        }
    }

    fn field(&mut self, p: &Program) -> Field {
        self.entity(p.fields.len())
    }

    fn expr(&mut self, p: &Program, depth: usize) -> Expr {
        let choices = if depth == 0 { 3 } else { 7 };
        match self.below(choices) {
            0 => Expr::Const(self.value(), self.below(129) as u16),
            1 => Expr::Field(self.field(p)),
            2 => Expr::Param(self.below(3) as u16, 1 + self.below(20) as u16),
            3 => Expr::Slice(Box::new(self.expr(p, depth - 1)), self.below(99) as u16, self.below(50) as u16),
            4 => Expr::Cast(Box::new(self.expr(p, depth - 1)), self.below(128) as u16),
            5 => {
                let (high, low) = (self.expr(p, depth - 1), self.expr(p, depth - 1));
                Expr::Funnel(Box::new(high), Box::new(low), self.below(40) as u16)
            }
            _ => {
                let op = self.of(AluOp::ALL);
                Expr::Alu(op, Box::new(self.expr(p, depth - 1)), Box::new(self.expr(p, depth - 1)))
            }
        }
    }

    fn profile(&mut self) -> ProfileData {
        let selector = (self.below(3) > 0).then(|| SelectorData {
            mode: self.of(&[SelectorMode::Fair, SelectorMode::Resilient, SelectorMode::PlainModulo]),
            hash: self.entity(2),
            groups: self.word() as u32,
            max_group_size: self.word() as u32,
            scramble: self.below(2) == 0,
        });
        let (size, gress) = (self.word() as u32, self.of(&Gress::ALL));
        ProfileData { name: self.name(), gress, size, selector, doc: self.doc(), loc: Loc::default() }
    }

    fn action(&mut self, p: &Program) -> ActionData {
        let body = self.list(5, |d| {
            let kind = match d.below(12) {
                10 => PrimitiveKind::HashSlice(d.field(p), d.entity(2), d.below(60) as u16),
                6 => PrimitiveKind::SetMasked(d.field(p), d.expr(p, 1), d.expr(p, 1)),
                0 => PrimitiveKind::SetValid(d.entity(4), d.below(2) == 0),
                8 => PrimitiveKind::CopyValid(d.entity(4), d.entity(4)),
                1 => PrimitiveKind::Hash(d.field(p), d.entity(2)),
                2 => PrimitiveKind::Count(d.entity(2), d.expr(p, 1)),
                3 => PrimitiveKind::CountDirect(d.entity(2)),
                4 => PrimitiveKind::Drop(d.entity(2)),
                5 => PrimitiveKind::Register(RegisterAccess {
                    action: d.entity(2),
                    index: d.index(p),
                    outputs: d.list(2, |d| (d.below(4) as u8, d.field(p))),
                }),
                9 => PrimitiveKind::Meter(MeterAccess {
                    meter: d.entity(2),
                    index: d.index(p),
                    input: (d.below(2) == 0).then(|| d.expr(p, 1)),
                    to: d.field(p),
                }),
                7 => PrimitiveKind::Random(d.field(p), d.entity(2)),
                _ => PrimitiveKind::Set(d.field(p), d.expr(p, 3)),
            };
            Primitive { kind, loc: Loc::default() }
        });
        // Some parameters hide a field.
        let params = self.list(3, |d| {
            let name =
                if d.below(3) == 0 { p.fields[Field::new(d.below(14))].name.clone() } else { d.name() };
            ParamData { name, width: 1 + d.below(20) as u16 }
        });
        let gress = self.of(&Gress::ALL);
        ActionData { name: self.name(), gress, params, body, doc: self.doc(), loc: Loc::default() }
    }

    fn call(&mut self) -> ActionCall {
        ActionCall { action: self.entity(3), args: self.list(2, Self::value) }
    }

    fn table(&mut self, p: &Program) -> TableData {
        let keys = self.list(3, |d| Key {
            field: d.field(p),
            kind: d.of(&[MatchKind::Exact, MatchKind::Ternary, MatchKind::Lpm, MatchKind::Range]),
        });
        let entries = self.list(2, |d| {
            let key = d.list(3, |d| match d.below(5) {
                0 => KeyValue::Exact(d.value()),
                1 => KeyValue::Ternary { value: d.value(), mask: d.value() },
                2 => KeyValue::Ternary { value: 0, mask: 0 },
                3 => KeyValue::Range { lo: d.value(), hi: d.value() },
                _ => KeyValue::Lpm { value: d.value(), len: d.below(129) as u16 },
            });
            ConstEntry { key, then: d.call() }
        });
        TableData {
            name: self.name(),
            gress: self.of(&Gress::ALL),
            keys,
            actions: self.list(3, |d| d.entity(3)),
            default: self.call(),
            size: self.word() as u32,
            entries,
            profile: (self.below(2) == 0).then(|| self.entity(2)),
            pin: (self.below(2) == 0).then(|| self.below(256) as u8),
            idle: (self.below(2) == 0).then(|| IdleTimeout {
                mode: self.of(&[IdleMode::Notify, IdleMode::Poll]),
                bits: self.of(&IdleTimeout::BITS),
                interval: Duration::from_ps(self.word() >> 20),
                ttl: Duration::from_ps(self.word() >> self.of(&[4, 63])),
            }),
            algorithmic: match self.below(3) {
                0 => Some(Algorithmic::Alpm { partitions: self.word() as u32, subtrees: self.word() as u32 }),
                1 => Some(Algorithmic::Atcam { partition: self.field(p), partitions: self.word() as u32 }),
                _ => None,
            },
            doc: self.doc(),
            loc: Loc::default(),
        }
    }

    fn block(&mut self, p: &Program, depth: usize) -> Block {
        self.list(3, |d| {
            let kind = match d.below(if depth == 0 { 2 } else { 4 }) {
                0 => StmtKind::Call(d.entity(3)),
                1 => StmtKind::Apply(d.entity(2), ApplyArms::default()),
                2 => {
                    let (hit, miss) = (d.block(p, depth - 1), d.block(p, depth - 1));
                    let run = d.list(2, |d| (d.entity(3), d.block(p, depth - 1)));
                    StmtKind::Apply(d.entity(2), ApplyArms { hit, miss, run })
                }
                _ => StmtKind::If(d.cond(p, 3), d.block(p, depth - 1), d.block(p, depth - 1)),
            };
            Stmt { kind, loc: Loc::default() }
        })
    }

    fn cond(&mut self, p: &Program, depth: usize) -> Cond {
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => Cond::Cmp(self.of(&CmpOp::ALL), self.expr(p, 1), self.expr(p, 1)),
            1 => Cond::Valid(self.entity(4)),
            2 => Cond::Not(Box::new(self.cond(p, depth - 1))),
            3 => Cond::And(Box::new(self.cond(p, depth - 1)), Box::new(self.cond(p, depth - 1))),
            _ => Cond::Or(Box::new(self.cond(p, depth - 1)), Box::new(self.cond(p, depth - 1))),
        }
    }
}
