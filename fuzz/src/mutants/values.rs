//! Value analysis: the values that a field can have, and constant entries that therefore match no packet. Mutating such an
//! entry changes nothing.
//!
//! The analysis ignores the order of statements and the conditions around them:
//! - A field of a header that a parser extracts can have any value.
//! - Other fields and metadata have 0 and the values that statements write. Action arguments of entries can have any value,
//!   because entries change.
//! - A register element that no register action and no control plane writes has its initial value.
//! - A set that grows beyond a limit counts as all values.
//! - Without a shared buffer, a packet is in the queue that the program, its mirror session or a deflection names, or in
//!   queue 0.

use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;
use sluice_asic::salu::Half;
use sluice_control::ControlState;
use sluice_ir::entity::EntityMap;
use sluice_ir::{
    CellStmtKind, CellValue, CounterHome, Expr, Field, FieldData, Header, Home, Intrinsic, KeyValue,
    ParserOpKind, PrimitiveKind, Program, Register, RegisterAction, Table,
};
use std::collections::BTreeSet;

/// Most values of a set, and most pairs of values for which an operation is evaluated.
const MOST: usize = 4096;
/// Rounds after which a set that still grows counts as all values.
const ROUNDS: usize = 24;

/// Set of values; `None` for any value.
type Set = Option<BTreeSet<u128>>;

/// Values that the fields of a program can have.
pub(super) struct Values<'p> {
    program: &'p Program,
    control: &'p ControlState,
    fields: EntityMap<Field, Set>,
}

impl<'p> Values<'p> {
    /// Analyses the fields of a program on a device with these ports.
    pub(super) fn of(
        program: &'p Program,
        control: &'p ControlState,
        ports: &[u16],
        buffer: bool,
    ) -> Values<'p> {
        let ports: BTreeSet<u128> = ports.iter().map(|p| u128::from(*p)).collect();
        let queues = queues(control, buffer);
        let parsed = parsed(program);
        let first = |data: &FieldData| match data.home {
            Home::Metadata => Some([0].into()),
            Home::Header(header) if !parsed.contains(&header) => Some([0].into()),
            Home::Intrinsic(Intrinsic::IngressPort | Intrinsic::EgressPort) => Some(ports.clone()),
            Home::Intrinsic(Intrinsic::EgressQid) => queues.clone(),
            Home::Header(_) | Home::Intrinsic(_) | Home::PortMetadata => None,
        };
        let fields = program.fields.values().map(first).collect();
        let mut values = Values { program, control, fields };
        for round in 0.. {
            let writes = values.writes();
            let mut grew = false;
            for (field, set) in writes {
                let set = if round < ROUNDS { set } else { None };
                // A session may let packets override its queue.
                if matches!(
                    program.fields[field].home,
                    Home::Intrinsic(Intrinsic::Qid | Intrinsic::MirrorQid)
                ) && let Some(queue) = program.intrinsic(Gress::Egress, Intrinsic::EgressQid)
                {
                    grew |= values.add(queue, set.clone());
                }
                grew |= values.add(field, set);
            }
            if !grew {
                break;
            }
        }
        values
    }

    /// Adds values to a set; returns true if some were new.
    fn add(&mut self, field: Field, set: Set) -> bool {
        let Some(known) = &mut self.fields[field] else { return false };
        let before = known.len();
        match set {
            Some(set) if set.is_subset(known) => return false,
            Some(set) => known.extend(set),
            None => self.fields[field] = None,
        }
        if self.fields[field].as_ref().is_some_and(|s| s.len() > MOST) {
            self.fields[field] = None;
        }
        self.fields[field].as_ref().is_none_or(|s| s.len() > before)
    }

    /// Visits every write of the program with the values that it can write, as far as they are known so far.
    fn writes(&self) -> Vec<(Field, Set)> {
        let p = self.program;
        let mut list = Vec::new();
        for op in p.states.values().flat_map(|s| &s.ops) {
            match &op.kind {
                ParserOpKind::Set(to, value) => list.push((*to, self.expr(value))),
                ParserOpKind::SetSlice(to, ..) => list.push((*to, None)),
                ParserOpKind::VerifyChecksum(to, _) => list.push((*to, Some([0, 1].into()))),
                ParserOpKind::SubtractChecksum(to, _) | ParserOpKind::Lookahead(to, _) => {
                    list.push((*to, None));
                }
                ParserOpKind::Extract(_)
                | ParserOpKind::ExtractNext(_)
                | ParserOpKind::Advance(_)
                | ParserOpKind::SetCounter(_)
                | ParserOpKind::AddCounter(_)
                | ParserOpKind::PushCounter(..)
                | ParserOpKind::PopCounter
                | ParserOpKind::SetValid(..) => {}
            }
        }
        for primitive in p.actions.values().flat_map(|a| &a.body) {
            match &primitive.kind {
                PrimitiveKind::Set(to, value) | PrimitiveKind::DropCtl(to, value, _) => {
                    list.push((*to, self.expr(value)))
                }
                PrimitiveKind::Hash(to, _)
                | PrimitiveKind::HashSlice(to, ..)
                | PrimitiveKind::HashInto(to, ..)
                | PrimitiveKind::SetMasked(to, ..)
                | PrimitiveKind::SetSlice(to, ..)
                | PrimitiveKind::Random(to, _) => list.push((*to, None)),
                PrimitiveKind::Meter(access) => list.push((access.to, None)),
                PrimitiveKind::Register(access) => {
                    let outputs = access.outputs.iter();
                    list.extend(outputs.map(|(word, to)| (*to, self.output(access.action, *word, *to))));
                }
                PrimitiveKind::SetValid(..)
                | PrimitiveKind::CopyValid(..)
                | PrimitiveKind::Count(..)
                | PrimitiveKind::CountDirect(_)
                | PrimitiveKind::Drop(_) => {}
            }
        }
        list
    }

    fn expr(&self, expr: &Expr) -> Set {
        let mask = |bits: u16| width_mask(u32::from(bits));
        match expr {
            Expr::Const(v, _) => Some([*v].into()),
            Expr::Field(f) => self.fields[*f].clone(),
            Expr::Param(..) => None,
            Expr::Slice(e, hi, lo) => {
                let bits = (hi + 1).saturating_sub(*lo);
                Some(self.expr(e)?.into_iter().map(|v| v >> lo & mask(bits)).collect())
            }
            Expr::Cast(e, width) => Some(self.expr(e)?.into_iter().map(|v| v & mask(*width)).collect()),
            Expr::Alu(op, a, b) => {
                let width = u32::from(expr.width(self.program));
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                (a.len() * b.len() <= MOST)
                    .then(|| a.iter().flat_map(|a| b.iter().map(|b| op.eval(*a, *b, width))).collect())
            }
            Expr::Funnel(..) => None,
        }
    }

    /// Returns the values that a register action can put in an output word: those of its register, or none.
    fn output(&self, action: RegisterAction, word: u8, to: Field) -> Set {
        let data = &self.program.register_actions[action];
        let mut set: BTreeSet<u128> = [0].into();
        let mut known = self.is_constant(data.register);
        data.statements(&mut |stmt| match &stmt.kind {
            CellStmtKind::Output(w, value) if *w == word => match value {
                CellValue::Const(c) => _ = set.insert(u128::from(*c)),
                // Hunts write what the control plane has written.
                CellValue::Half(half) | CellValue::Old(half) if !self.written(data.register) => {
                    set.extend(self.elements(data.register, *half));
                }
                _ => known = false,
            },
            _ => {}
        });
        let mask = width_mask(u32::from(self.program.fields[to].width).min(32));
        // Words above the first two have the upper bits of a value.
        (known && word < 2).then(|| set.iter().map(|v| v & mask).collect())
    }

    /// Returns true if no register action writes the register.
    fn is_constant(&self, register: Register) -> bool {
        let of = self.program.register_actions.values().filter(|a| a.register == register);
        let mut constant = true;
        for action in of {
            action.statements(&mut |stmt| {
                constant &= !matches!(stmt.kind, CellStmtKind::Write(..) | CellStmtKind::Search(_));
            });
        }
        constant
    }

    /// Returns true if the control plane writes elements of a register.
    fn written(&self, register: Register) -> bool {
        let pipes = self.control.own_pipes().map(|(_, own)| own).chain([self.control]);
        pipes.flat_map(|c| c.arrays.registers.keys()).any(|(r, _)| *r == register)
    }

    /// Returns the values that the program and the control plane put in one half of a register's elements.
    fn elements(&self, register: Register, half: Half) -> BTreeSet<u128> {
        let first = self.program.registers[register].first();
        let pipes = self.control.own_pipes().map(|(_, own)| own).chain([self.control]);
        let of = |control: &'p ControlState| {
            control.arrays.registers.iter().filter(|((r, _), _)| *r == register).filter_map(|(_, v)| *v)
        };
        pipes
            .flat_map(of)
            .chain([first])
            .map(|e| u128::from(if half == Half::Lo { e.lo } else { e.hi }))
            .collect()
    }

    /// Returns true if a field has exactly one value.
    pub(super) fn is_single(&self, field: Field) -> bool {
        self.fields[field].as_ref().is_some_and(|set| set.len() == 1)
    }

    /// Returns true if no packet can match a constant entry, neither with its key nor, if given, with this other key.
    pub(super) fn dead_entry(&self, table: Table, entry: usize, other: Option<&[KeyValue]>) -> bool {
        let data = &self.program.tables[table];
        let dead = |key: &[KeyValue]| {
            key.iter().zip(&data.keys).any(|(value, k)| {
                let width = k.width(self.program);
                let known = k.field().and_then(|field| self.fields[field].as_ref());
                let found = |v: &u128| k.value(self.program, *v);
                known.is_some_and(|set| !set.iter().any(|v| value.matches(found(v), width)))
            })
        };
        // The cells of direct arrays belong to the positions of entries.
        let p = self.program;
        let mut homes = p.counters.values().map(|c| c.home).chain(p.registers.values().map(|r| r.home));
        let direct = homes.any(|h| h == CounterHome::Direct(table))
            || p.meters.values().any(|m| m.home == CounterHome::Direct(table))
            || data.idle.is_some();
        let own = data.entries.get(entry).is_some_and(|e| dead(&e.key));
        !direct && own && other.is_none_or(dead)
    }
}

/// Returns the headers that a parser extracts.
fn parsed(program: &Program) -> BTreeSet<Header> {
    let ops = program.states.values().flat_map(|s| &s.ops);
    let of = |kind: &ParserOpKind| match kind {
        ParserOpKind::Extract(header) => vec![*header],
        ParserOpKind::ExtractNext(stack) => program.stacks[*stack].headers.clone(),
        ParserOpKind::SetValid(header, true) => vec![*header],
        _ => Vec::new(),
    };
    ops.flat_map(|op| of(&op.kind)).collect()
}

/// Returns the queues that packets can be in other than those that the program chooses; `None` if something else chooses
/// queues.
fn queues(control: &ControlState, buffer: bool) -> Set {
    if buffer {
        return None;
    }
    let sessions = control.replication.sessions.values().map(|s| s.qid.into());
    // A deflected packet waits in the queue that its pipe names.
    let deflected = control.device.deflections.values().map(|(_, queue)| (*queue).into());
    Some(sessions.chain(deflected).chain([0]).collect())
}
