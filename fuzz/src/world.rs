//! Draws entries for a program's tables and packets for its parser.

use crate::{Draw, Limits};
use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;
use sluice_control::{ControlError, ControlOp, ControlState, GroupMember, Then};
use sluice_ir::{
    ActionCall, KeyValue, MatchKind, Next, ParserOpKind, ParserState, Profile, Program, SelectKey, Table,
    ValueSet,
};
use sluice_random::key_value;

/// Draws operations that give the tables of a program entries, members and groups. They are applied as they are drawn;
/// operations that the control plane refuses (a duplicate key, a full table) are left out.
#[must_use]
pub fn entries(program: &Program, d: &mut Draw<'_>, limits: &Limits) -> Vec<ControlOp> {
    let mut world = World { program, d, state: ControlState::new(program), ops: Vec::new() };
    let ports: Vec<u16> = program.port_metadata().map(|(_, field)| field.width).collect();
    for port in 0..if ports.is_empty() { 0 } else { 6 } {
        let values = ports.iter().map(|width| world.d.value(*width)).collect();
        world.apply(ControlOp::SetPortMetadata { port, values });
    }
    for (register, data) in program.registers.iter() {
        for param in 0..data.params.len() as u8 {
            let value = world.d.word() & data.most_param();
            world.apply(ControlOp::SetRegisterParam { register, param, value });
        }
    }
    for set in program.value_sets.keys() {
        for _ in 0..world.d.below(limits.entries + 1) {
            let op = set_member(program, set, world.d);
            world.apply(op);
        }
    }
    for (table, data) in program.tables.iter() {
        if data.keys.is_empty() || !data.entries.is_empty() {
            continue;
        }
        if let Some(profile) = data.profile {
            world.members(table, profile);
        }
        for _ in 0..world.d.below(limits.entries + 1) {
            world.entry(table);
        }
    }
    world.ops
}

/// Draws an operation that adds a member to a value set.
pub(crate) fn set_member(program: &Program, set: ValueSet, d: &mut Draw<'_>) -> ControlOp {
    let fields = program.value_sets[set].fields.iter().map(|field| {
        let full = width_mask(field.width.into());
        let mask = d.of([full, full & 0x0f, full & 0x0101, 0]);
        (d.value(field.width) & mask, mask)
    });
    ControlOp::InsertValue { set, value: fields.collect() }
}

/// Draws one more entry for a table with keys; `None` if none can be drawn.
pub(crate) fn entry(
    program: &Program,
    table: Table,
    state: &ControlState,
    d: &mut Draw<'_>,
) -> Option<ControlOp> {
    let data = &program.tables[table];
    let key = data.keys.iter().map(|k| key_value(d, k, program)).collect();
    let ordered = data.keys.iter().any(|k| matches!(k.kind, MatchKind::Ternary | MatchKind::Range));
    let priority = if ordered { d.below(4) as u32 } else { 0 };
    let then = match data.profile.and_then(|p| state.profiles.get(p)) {
        Some(profile) => {
            let (groups, members) = (profile.groups.keys(), profile.members.keys());
            let all: Vec<Then> =
                groups.map(|n| Then::Group(*n)).chain(members.map(|n| Then::Member(*n))).collect();
            all.get(d.below(all.len()))?.clone()
        }
        None => {
            let action = d.pick(&data.actions)?;
            let params = &program.actions[action].params;
            Then::Call(ActionCall { action, args: params.iter().map(|p| d.value(p.width)).collect() })
        }
    };
    Some(ControlOp::InsertEntry { table, key, priority, then })
}

struct World<'w, 'd> {
    program: &'w Program,
    d: &'w mut Draw<'d>,
    state: ControlState,
    ops: Vec<ControlOp>,
}

impl World<'_, '_> {
    fn apply(&mut self, op: ControlOp) {
        let applied: Result<_, ControlError> = self.state.apply(self.program, op.clone());
        if applied.is_ok() {
            self.ops.push(op);
        }
    }

    fn call(&mut self, table: Table) -> Option<ActionCall> {
        let action = self.d.pick(&self.program.tables[table].actions)?;
        let params = &self.program.actions[action].params;
        Some(ActionCall { action, args: params.iter().map(|p| self.d.value(p.width)).collect() })
    }

    fn members(&mut self, table: Table, profile: Profile) {
        for member in 0..1 + self.d.below(5) as u32 {
            if let Some(call) = self.call(table) {
                self.apply(ControlOp::SetMember { profile, member, call });
            }
        }
        if self.program.profiles[profile].selector.is_none() {
            return;
        }
        for group in 0..self.d.below(3) as u32 {
            let members = (0..1 + self.d.below(4) as u32)
                .map(|member| GroupMember {
                    member,
                    weight: 1 + self.d.below(2) as u32,
                    active: !self.d.chance(1, 5),
                })
                .collect();
            self.apply(ControlOp::SetGroup { profile, group, members });
        }
    }

    fn entry(&mut self, table: Table) {
        let data = &self.program.tables[table];
        let key: Vec<KeyValue> = data.keys.iter().map(|k| key_value(self.d, k, self.program)).collect();
        let ordered = data.keys.iter().any(|k| matches!(k.kind, MatchKind::Ternary | MatchKind::Range));
        let priority = if ordered { self.d.below(4) as u32 } else { 0 };
        let then = match data.profile {
            Some(_) if self.d.chance(1, 2) => Some(Then::Group(self.d.below(2) as u32)),
            Some(_) => Some(Then::Member(self.d.below(3) as u32)),
            None => self.call(table).map(Then::Call),
        };
        if let Some(then) = then {
            self.apply(ControlOp::InsertEntry { table, key, priority, then });
        }
    }
}

/// Draws packets along paths of the ingress parser, each with a port, small field values that match entries, and a payload.
/// Some are too short.
#[must_use]
pub fn frames(program: &Program, d: &mut Draw<'_>, limits: &Limits) -> Vec<(u16, Vec<u8>)> {
    let count = 1 + d.below(limits.frames);
    (0..count)
        .map(|_| {
            let port = d.below(8) as u16;
            let mut bytes = headers(program, d);
            let payload = d.of([46, 0, 1, 64, 300]);
            let fill = d.word() as u8;
            bytes.extend((0..payload).map(|i| fill.wrapping_add(i as u8)));
            if d.chance(1, 12) {
                let len = d.below(bytes.len());
                bytes.truncate(len);
            }
            (port, bytes)
        })
        .collect()
}

/// Draws the bytes of headers along a path of the parser.
fn headers(program: &Program, d: &mut Draw<'_>) -> Vec<u8> {
    let mut bits = Bits::default();
    let mut next = program.pipe(Gress::Ingress).start;
    while let Next::State(state) = next {
        next = step(program, d, state, &mut bits);
    }
    bits.bytes()
}

/// Writes the headers that a state extracts, so that one of its arms matches.
fn step(program: &Program, d: &mut Draw<'_>, state: ParserState, bits: &mut Bits) -> Next {
    let data = &program.states[state];
    let arm = match d.below(data.arms.len() + 1) {
        0 => None,
        n => data.arms.get(n - 1),
    };
    for op in &data.ops {
        let header = match &op.kind {
            ParserOpKind::Extract(header) => header,
            ParserOpKind::ExtractNext(stack) => {
                let Some(first) = program.stacks[*stack].headers.first() else { continue };
                first
            }
            ParserOpKind::Advance(bytes) => {
                (0..*bytes).for_each(|_| bits.push(d.value(8), 8));
                continue;
            }
            _ => continue,
        };
        for (place, &field) in program.headers[*header].fields.iter().enumerate() {
            let width = program.fields[field].width;
            let mut value = d.value(width);
            let last = |k: &SelectKey| matches!(k, SelectKey::Last(_, n) if usize::from(*n) == place);
            if let Some(at) = data.select.iter().position(|k| *k == SelectKey::Field(field) || last(k))
                && let Some((wanted, mask)) = arm.and_then(|a| a.values.get(at))
            {
                value = value & !mask | wanted;
            }
            bits.push(value, width);
        }
    }
    // Selects on metadata and intrinsic fields may choose otherwise; the walk follows the arm nevertheless.
    arm.map_or(data.default, |a| a.next)
}

/// Bits in wire order.
#[derive(Default)]
struct Bits {
    bits: Vec<bool>,
}

impl Bits {
    fn push(&mut self, value: u128, width: u16) {
        self.bits.extend((0..width).rev().map(|i| value >> i & 1 == 1));
    }

    fn bytes(&self) -> Vec<u8> {
        self.bits.chunks(8).map(|byte| byte.iter().fold(0, |b, &bit| b << 1 | u8::from(bit))).collect()
    }
}
