//! Pools of field values that are significant to a program: from its entries, parser selects, conditions and registers.

use super::copies::{Copies, Source, part};
use super::egress_headers::EgressHeaders;
use super::ports::{loops, outs};
use crate::Draw;
use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;
use sluice_asic::pktgen::{AppConfig, Trigger};
use sluice_asic::port::PortMap;
use sluice_control::{ControlState, SetMember, Then};
use sluice_ir::entity::EntityMap;
use sluice_ir::{
    Action, ActionData, Block, CellCond, CellStmtKind, CellValue, Cond, Expr, Field, Home, Intrinsic,
    KeyValue, Primitive, PrimitiveKind, Program, SelectArm, SelectKey, StateData, StmtKind, Table, ValueSet,
};
use std::collections::{BTreeMap, BTreeSet};

/// A value, and a mask of the bits that matter.
pub(crate) type Masked = (u128, u128);

/// Field values that one packet is to have.
pub(crate) type Wanted = Vec<(Field, Masked)>;

/// Most values that are taken from one table, because a large table does not say more than a few of its entries.
const MOST: usize = 256;

/// Value pools of a program with its entries.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    /// Values of each field.
    fields: EntityMap<Field, Vec<Masked>>,
    /// Values of all fields of a width, by width.
    widths: BTreeMap<u16, Vec<Masked>>,
    /// Entries of tables, each as values of its key fields.
    entries: Vec<Wanted>,
    /// For each table with several entries: for each entry, the alternative sets of field values that match it.
    lists: Vec<Vec<Vec<Wanted>>>,
    /// For each constant entry, by table and position, the alternative sets of field values that match it.
    fixed: BTreeMap<(Table, usize), Vec<Wanted>>,
    /// Members of value sets.
    members: EntityMap<ValueSet, Vec<SetMember>>,
    /// Constant entries, as tables and positions.
    places: Vec<(Table, usize)>,
    /// Fields to which actions write parameters.
    params: BTreeMap<(Action, u16), Field>,
    /// All front-panel ports, as dev_ports.
    front: Vec<u16>,
    /// Some front-panel ports; those that entries name come first.
    ports: Vec<u16>,
    /// Front-panel ports to which entries send packets.
    outs: Vec<u16>,
    /// Recirculation ports to which the program sends packets.
    loops: Vec<u16>,
    /// Constants of conditions and register actions that could be times, in ns.
    times: Vec<u64>,
    /// Longest gap between packets, in ns.
    pub(crate) longest: u64,
    /// Average time in which the device generates one packet, in ns; `None` if it generates none.
    lap: Option<u64>,
    /// Headers that only the egress parser takes from the wire; `None` if there are none.
    pub(crate) egress: Option<EgressHeaders>,
    copies: Copies,
}

/// Longest gap, in ns, of a program without packet generators.
const LONGEST: u64 = 20_000_000;
/// Most packets that packet generators may make in a gap, because the input's own packets are the subject.
const GENERATED: u64 = 8;

/// Longest gap, in ns, that is derived from a constant in a larger unit; programs with timers run during all of it.
const SCALED: u64 = 400_000;

/// One gap in this many may be longer than the device needs to generate a packet; other gaps are cut to that time.
const SELDOM: usize = 8;

/// Returns the average time, in ns, in which all enabled periodic applications together generate one packet.
fn lap(control: &ControlState) -> Option<u64> {
    const MILLISECOND: u64 = 1_000_000_000;
    let on = control.device.apps.values().filter(|app| app.enabled);
    let rate = |config: &AppConfig| match config.trigger {
        Trigger::Periodic { period } => {
            let packets = u64::from(config.batches).saturating_mul(config.packets.into());
            packets.saturating_mul(MILLISECOND) / period.as_ps().max(1)
        }
        _ => 0,
    };
    let rate: u64 = on.map(|app| rate(&app.config)).fold(0, u64::saturating_add);
    (rate > 0).then(|| (1_000_000 / rate).max(1))
}

/// Returns a column of an entry as a value and a mask; of a range, its lower bound.
pub(crate) fn column(value: KeyValue, width: u16) -> Masked {
    let full = width_mask(u32::from(width));
    match value {
        KeyValue::Exact(v) => (v, full),
        KeyValue::Ternary { value, mask } => (value, mask),
        KeyValue::Lpm { len: 0, .. } => (0, 0),
        KeyValue::Lpm { value, len } => (value, full << (width - len.min(width)) & full),
        KeyValue::Range { lo, .. } => (lo, full),
    }
}

impl Pools {
    /// Collects the values of a program with these entries.
    #[must_use]
    pub fn new(program: &Program, control: &ControlState, ports: &PortMap) -> Pools {
        let fields = EntityMap::filled(program.fields.len(), |_| Vec::new());
        let egress = EgressHeaders::of(program);
        let copies = Copies::of(program);
        let params = params(program);
        let lap = lap(control);
        let longest = lap.map_or(LONGEST, |lap| lap.saturating_mul(GENERATED)).min(LONGEST);
        let members = control.value_sets.clone();
        let mut pools = Pools { fields, longest, lap, egress, copies, params, members, ..Pools::default() };
        for table in program.tables.keys() {
            pools.table(program, control, table);
        }
        pools.places = pools.fixed.keys().copied().collect();
        for state in program.states.values() {
            for (at, key) in state.select.iter().enumerate() {
                let Some(width) = key.width(program) else { continue };
                for arm in &state.arms {
                    let Some(&value) = arm.values.get(at) else { continue };
                    pools.note(key.field(), width, value);
                    let Some(of) = arm.set else { continue };
                    let Some(field) = at.checked_sub(of.first.into()) else { continue };
                    for member in control.value_sets[of.set].iter().take(MOST) {
                        member.get(field).iter().for_each(|value| pools.note(key.field(), width, **value));
                    }
                }
            }
        }
        for block in [&program.pipes[0].control, &program.pipes[1].control, &program.ghost] {
            pools.block(program, block);
        }
        pools.registers(program);
        pools.find_ports(program, control, ports);
        pools.units(program, control);
        pools.times.sort_unstable();
        pools.times.dedup();
        pools
    }

    /// Adds times: constants found so far and arguments of entries, in each unit to which the program cuts timestamps.
    fn units(&mut self, program: &Program, control: &ControlState) {
        let entries = control.tables.values().flat_map(|t| t.entries().take(MOST));
        let args = entries.flat_map(|(_, e)| match &e.then {
            Then::Call(call) => call.args.as_slice(),
            _ => &[],
        });
        self.times.extend(args.filter_map(|v| u64::try_from(*v).ok()));
        self.times.sort_unstable();
        self.times.dedup();
        let (plain, longest) = (self.times.clone(), self.longest);
        for shift in cuts(program) {
            let scaled = plain.iter().filter_map(|t| t.checked_mul(1 << shift));
            self.times.extend(scaled.filter(|t| *t <= longest.min(SCALED)));
        }
    }

    fn note(&mut self, field: Option<Field>, width: u16, value: Masked) {
        let add = |list: &mut Vec<Masked>, value: Masked| {
            if list.len() < MOST && !list.contains(&value) {
                list.push(value);
            }
        };
        add(self.widths.entry(width).or_default(), value);
        if let Some(field) = field {
            for (source, at) in self.copies.sources(field) {
                add(&mut self.fields[*source], (value.0 << at, value.1 << at));
            }
        }
    }

    fn table(&mut self, program: &Program, control: &ControlState, table: Table) {
        let data = &program.tables[table];
        let of_program = data.entries.iter().map(|e| &e.key);
        let of_control = control.tables[table].entries().map(|(_, e)| &e.key);
        let fixed = data.entries.len();
        let mut list = Vec::new();
        for (at, key) in of_program.chain(of_control).take(MOST).enumerate() {
            let mut columns = Vec::new();
            for (value, k) in key.iter().zip(&data.keys) {
                // A validity bit is no field that a packet could carry; the parser's selects give valid headers.
                let Some(field) = k.field() else { continue };
                let (width, lo) = (program.fields[field].width, k.lo());
                let moved = |(value, mask): Masked| (value << lo, mask << lo);
                let (found, mask) = column(*value, k.width(program));
                let masked = moved((found, mask & k.compared(program)));
                self.note(Some(field), width, masked);
                if let KeyValue::Range { hi, .. } = value {
                    let all = width_mask(u32::from(k.width(program)));
                    self.note(Some(field), width, moved((*hi, all)));
                }
                columns.push((field, masked));
            }
            // The n-th source of a field goes with the n-th sources of the others, because the program sets them
            // together.
            let most = columns.iter().map(|(f, _)| self.copies.sources(*f).len()).max().unwrap_or(1);
            let nth = |n: usize| {
                let from = |(field, (value, mask)): (Field, Masked)| {
                    let (source, at) = self.copies.sources(field).iter().cycle().nth(n)?;
                    Some((*source, (value << at, mask << at)))
                };
                columns.iter().copied().filter_map(from).collect()
            };
            let variants: Vec<Wanted> = (0..most).map(nth).collect();
            if at < fixed {
                self.fixed.insert((table, at), variants.clone());
            }
            self.entries.extend(variants.iter().cloned());
            list.push(variants);
        }
        if list.len() > 1 {
            self.lists.push(list);
        }
    }

    fn block(&mut self, program: &Program, block: &Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::If(cond, then, otherwise) => {
                    self.cond(program, cond);
                    self.block(program, then);
                    self.block(program, otherwise);
                }
                StmtKind::Apply(_, arms) => {
                    self.block(program, &arms.hit);
                    self.block(program, &arms.miss);
                    arms.run.iter().for_each(|(_, block)| self.block(program, block));
                }
                StmtKind::Call(_) => {}
            }
        }
    }

    fn cond(&mut self, program: &Program, cond: &Cond) {
        match cond {
            Cond::Cmp(_, a, b) => {
                for (e, c) in [(a, b), (b, a)] {
                    let Expr::Const(value, _) = c else { continue };
                    let mut field = None;
                    e.fields(&mut |f| field = Some(f));
                    let width = e.width(program);
                    let full = width_mask(u32::from(width));
                    let whole = field.filter(|f| program.fields[*f].width == width);
                    for near in [*value, value.wrapping_add(1) & full, value.wrapping_sub(1) & full] {
                        self.note(whole, width, (near, full));
                    }
                    self.times.extend(u64::try_from(*value).ok());
                }
            }
            Cond::Valid(_) => {}
            Cond::Not(a) => self.cond(program, a),
            Cond::And(a, b) | Cond::Or(a, b) => {
                self.cond(program, a);
                self.cond(program, b);
            }
        }
    }

    fn registers(&mut self, program: &Program) {
        let mut constants = Vec::new();
        for action in program.register_actions.values() {
            let width = program.registers[action.register].format.half_bits() as u16;
            action.statements(&mut |stmt| {
                let mut value = |v: &CellValue| constants_of(v, &mut |c| constants.push((width, c)));
                match &stmt.kind {
                    CellStmtKind::Write(_, v) | CellStmtKind::Output(_, v) => value(v),
                    CellStmtKind::If(cond, ..) => cond_values(cond, &mut value),
                    CellStmtKind::Search(_) => {}
                }
            });
        }
        for (width, constant) in constants {
            self.times.push(constant);
            let full = width_mask(u32::from(width));
            for near in [constant, constant.wrapping_add(1), constant.wrapping_sub(1)] {
                self.note(None, width, (u128::from(near) & full, full));
            }
        }
    }

    /// Returns the front-panel ports: those that keys name first, then the first few of each pipe.
    fn find_ports(&mut self, program: &Program, control: &ControlState, ports: &PortMap) {
        let front: Vec<u16> = ports.front_ports().iter().map(|p| p.dev_port.number()).collect();
        let port = program.intrinsic(Gress::Ingress, Intrinsic::IngressPort);
        let named = port.map_or(&[][..], |f| &self.fields[f]);
        let named = named.iter().filter_map(|(v, _)| u16::try_from(*v).ok()).filter(|p| front.contains(p));
        let mut list: Vec<u16> = front.iter().copied().take(4).chain(named).collect();
        list.extend(front.iter().copied().step_by((front.len() / 4).max(1)));
        let mut seen = Vec::new();
        list.retain(|p| {
            !seen.contains(p) && {
                seen.push(*p);
                true
            }
        });
        list.truncate(24);
        self.ports = list;
        self.front.clone_from(&front);
        self.outs = outs(program, control, &front);
        self.loops = loops(program, ports);
    }

    /// Returns true if a packet from the front panel can take an arm of the parser, as far as intrinsic metadata decides
    /// it.
    pub(crate) fn can_come(&self, program: &Program, state: &StateData, arm: &SelectArm) -> bool {
        state.select.iter().zip(&arm.values).all(|(key, (value, mask))| {
            let SelectKey::Field(field) = key else { return true };
            match program.fields[*field].home {
                Home::Intrinsic(Intrinsic::IngressPort) => {
                    self.front.iter().any(|port| u128::from(*port) & mask == value & mask)
                }
                Home::Intrinsic(Intrinsic::ResubmitFlag) => value & mask == 0,
                _ => true,
            }
        })
    }

    /// Returns values for the keys of a select with which a packet takes an arm: of an arm with a value set, those of
    /// one of its members.
    pub(crate) fn arm_values(&self, arm: &SelectArm, d: &mut Draw<'_>) -> Vec<(u128, u128)> {
        let mut values = arm.values.clone();
        if let Some(of) = arm.set
            && let Some(members) = self.members.get(of.set)
            && !members.is_empty()
        {
            let member = &members[d.below(members.len())];
            let keys = values.iter_mut().skip(of.first.into());
            keys.zip(member).for_each(|(key, value)| *key = *value);
        }
        values
    }

    /// Returns the time in which the device generates `packets` packets, in ns; `None` if it generates none.
    pub(crate) fn time_of(&self, packets: u64) -> Option<u64> {
        self.lap.map(|lap| lap.saturating_mul(packets))
    }

    /// Draws a port on which packets arrive.
    pub(crate) fn port(&self, d: &mut Draw<'_>) -> u16 {
        let first = self.ports.first().filter(|_| d.chance(1, 2)).copied();
        first.unwrap_or_else(|| self.any_port(d))
    }

    /// Draws a port, all with equal probability.
    pub(crate) fn any_port(&self, d: &mut Draw<'_>) -> u16 {
        d.pick(&self.ports).unwrap_or(0)
    }

    /// Draws a recirculation port to which the program sends packets.
    pub(crate) fn looped(&self, d: &mut Draw<'_>) -> Option<u16> {
        d.pick(&self.loops)
    }

    /// Draws an output port, mostly one to which entries send packets.
    pub(crate) fn out(&self, d: &mut Draw<'_>) -> u16 {
        let known = if d.chance(3, 4) { d.pick(&self.outs) } else { None };
        known.unwrap_or_else(|| self.port(d))
    }

    /// Draws a value for a key: one of the table's entries or of conditions, or any.
    pub(crate) fn key(&self, field: Field, width: u16, d: &mut Draw<'_>) -> u128 {
        let known = self.copies.sources(field).iter().find(|(f, at)| *at == 0 && !self.fields[*f].is_empty());
        let value = match known {
            Some((field, _)) => self.value(*field, width, d),
            None => d.value(width),
        };
        value & width_mask(width.into())
    }

    /// Draws a value for a field: one of its own, one of similar fields, or any.
    pub(crate) fn value(&self, field: Field, width: u16, d: &mut Draw<'_>) -> u128 {
        let own = &self.fields[field];
        let list = if !own.is_empty() && d.chance(2, 3) {
            own.as_slice()
        } else {
            self.widths.get(&width).filter(|_| d.chance(1, 3)).map_or(&[][..], Vec::as_slice)
        };
        let any = d.value(width);
        d.pick(list).map_or(any, |(value, mask)| value & mask | any & !mask)
    }

    /// Draws the field values that an entry needs, or entries of several tables.
    pub(crate) fn wanted(&self, d: &mut Draw<'_>) -> Vec<(Field, Masked)> {
        let entries = (0..d.below(4)).filter_map(|_| self.entries.get(d.below(self.entries.len())));
        entries.flatten().copied().collect()
    }

    /// Returns the entries of a table, each with the alternative sets of field values that match it.
    pub(crate) fn list(&self, d: &mut Draw<'_>) -> &[Vec<Wanted>] {
        self.lists.get(d.below(self.lists.len())).map_or(&[], Vec::as_slice)
    }

    /// Draws one of the sets of field values that match the constant entry at this position of a table.
    pub(crate) fn entry(&self, table: Table, at: usize) -> &[Wanted] {
        self.fixed.get(&(table, at)).map_or(&[], Vec::as_slice)
    }

    /// Returns the action parameters that are written to a field, or to a field that it is copied from.
    pub(crate) fn givers(&self, field: Field) -> Vec<(Action, u16)> {
        let passed = self.copies.passed(field);
        self.params.iter().filter(|(_, to)| passed.contains(to)).map(|(from, _)| *from).collect()
    }

    /// Returns table and position of the constant entry with this number over all tables.
    pub(crate) fn any_entry(&self, d: &mut Draw<'_>) -> Option<(Table, usize)> {
        d.pick(&self.places)
    }

    /// Draws a value for an action parameter: one of the field to which it is written, or any.
    pub(crate) fn argument(&self, action: Action, param: u16, width: u16, d: &mut Draw<'_>) -> u128 {
        let field = self.params.get(&(action, param)).filter(|_| d.chance(2, 3));
        let sources = field.map_or(&[][..], |f| self.copies.sources(*f));
        let whole = |(f, at): &&Source| *at == 0 && !self.fields[*f].is_empty();
        let known = sources.iter().find(whole).map(|(f, _)| *f);
        match known {
            Some(field) => self.value(field, width, d) & width_mask(width.into()),
            None if d.chance(1, 2) => {
                let list = self.widths.get(&width).map_or(&[][..], Vec::as_slice);
                d.pick(list).map_or(0, |(value, _)| value)
            }
            None => d.value(width),
        }
    }

    /// Draws a gap in ns: a constant of the program or close to one, or a value of one of several scales. If the device
    /// generates packets, most gaps are shorter than the time between two of them.
    pub(crate) fn gap(&self, d: &mut Draw<'_>) -> u64 {
        let gap = self.any_gap(d);
        match self.lap {
            Some(lap) if gap > lap && !d.chance(1, SELDOM) => gap % lap,
            _ => gap,
        }
    }

    fn any_gap(&self, d: &mut Draw<'_>) -> u64 {
        if d.chance(1, 3)
            && let Some(time) = d.pick(&self.times)
        {
            let near = [0, 1, 40][d.below(3)];
            return if d.chance(1, 2) { time.saturating_add(near) } else { time.saturating_sub(near) }
                .min(self.longest);
        }
        let scale = [0, 0, 0, 10, 100, 1_000, 10_000, 100_000, 1_000_000][d.below(9)];
        (scale + d.below(scale as usize / 2 + 1) as u64).min(self.longest)
    }
}

/// Returns the numbers of low bits that statements cut off timestamps.
fn cuts(program: &Program) -> BTreeSet<u16> {
    let stamp = |field: Field| {
        let home = program.fields[field].home;
        matches!(home, Home::Intrinsic(Intrinsic::IngressMacTstamp | Intrinsic::GlobalTstamp))
    };
    let set = program.actions.values().flat_map(|a| &a.body).filter_map(|p| match &p.kind {
        PrimitiveKind::Set(_, value) | PrimitiveKind::SetSlice(.., value) => part(value),
        _ => None,
    });
    let inputs = program.hashes.values().flat_map(|h| &h.inputs).filter_map(part);
    set.chain(inputs).filter(|(field, at)| stamp(*field) && *at < 32).map(|(_, at)| at).collect()
}

/// Returns the metadata fields to which parameters are written as a whole.
fn params(program: &Program) -> BTreeMap<(Action, u16), Field> {
    let of = |(action, data): (Action, &ActionData)| -> Vec<((Action, u16), Field)> {
        let set = |p: &Primitive| match &p.kind {
            PrimitiveKind::Set(field, Expr::Param(n, _)) => Some(((action, *n), *field)),
            _ => None,
        };
        data.body.iter().filter_map(set).collect()
    };
    program.actions.iter().flat_map(of).collect()
}

fn constants_of(value: &CellValue, found: &mut impl FnMut(u64)) {
    match value {
        CellValue::Const(c) => found(*c),
        CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            constants_of(a, found);
            constants_of(b, found);
        }
        CellValue::Math(_, a) => constants_of(a, found),
        CellValue::Predicate(conds) => {
            conds.iter().for_each(|c| cond_values(c, &mut |v| constants_of(v, found)));
        }
        _ => {}
    }
}

fn cond_values(cond: &CellCond, found: &mut dyn FnMut(&CellValue)) {
    cond.values(&mut |v| found(v));
}
