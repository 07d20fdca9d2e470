//! What is sent: packets with times and ports, and changes of entries between them; how it is drawn and mutated. What
//! may not live here: devices, bytes of headers.

use super::PORT_BITS;
use super::corpus::{Corpus, Echo};
use super::echo::turn_round;
use super::pools::{Masked, Pools, Wanted};
use super::shape::Packets;
use super::subject::Subject;
use crate::{Draw, Limits, entries};
use sluice_asic::tm::ShaperConfig;
use sluice_asic::units::{BitRate, Bytes};
use sluice_pipeline::control::{ControlOp, ControlState, DeviceOp, GroupMember, Then};
use sluice_pipeline::cover::Point;
use sluice_pipeline::ir::{Action, ActionCall, Field, Home, Intrinsic, KeyValue, Profile, Table};
use std::collections::BTreeSet;

/// A packet of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shot {
    /// First bit on the wire, in ns from the start of the input.
    pub at: u64,
    /// dev_port.
    pub port: u16,
    /// Without FCS.
    pub bytes: Vec<u8>,
    /// The piece that it came from.
    pub piece: u32,
}

/// Packets and changes, each in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Packets.
    pub shots: Vec<Shot>,
    /// Changes with their times in ns: of entries, each of which fits what it finds, of queues and of ports.
    pub ops: Vec<(u64, ControlOp)>,
    /// Whether senders obey PFC: packets of paused priorities wait.
    pub obeys: bool,
    /// Pieces that it was put together from; those that reach something new are kept.
    pub pieces: Vec<Piece>,
}

impl Input {
    /// What lets all queues go on that are left paused, and brings ports up that are left down: the end of a run, for
    /// packets that wait for ever are no fault of a program.
    #[must_use]
    pub fn release(&self) -> Vec<DeviceOp> {
        let (mut paused, mut down, mut shaped) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (_, op) in &self.ops {
            let ControlOp::Device(op) = op else { continue };
            _ = match *op {
                DeviceOp::PauseQueue { port, queue, paused: true } => paused.insert((port, queue)),
                DeviceOp::PauseQueue { port, queue, paused: false } => paused.remove(&(port, queue)),
                DeviceOp::SetPort { port, up: false } => down.insert(port),
                DeviceOp::SetPort { port, up: true } => down.remove(&port),
                DeviceOp::ShapePort { port, most: Some(_) } => shaped.insert(port),
                DeviceOp::ShapePort { port, most: None } => shaped.remove(&port),
                _ => false,
            };
        }
        let up = down.into_iter().map(|port| DeviceOp::SetPort { port, up: true });
        let on = paused.into_iter().map(|(port, queue)| DeviceOp::PauseQueue { port, queue, paused: false });
        let fast = shaped.into_iter().map(|port| DeviceOp::ShapePort { port, most: None });
        up.chain(fast).chain(on).collect()
    }
}

/// A few packets that belong together: each with the ns since the one before, its port and its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The packets.
    pub shots: Vec<(u64, u16, Vec<u8>)>,
}

/// What an input is to reach: half of its pieces are made for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// Points of the program, by number: pieces that reached one are sent again, as they were or changed.
    pub points: Vec<u32>,
    /// Tables whose entry, by its position among the fixed ones, packets are to match.
    pub entry: Option<(Table, usize)>,
}

/// Packets of a piece at most.
const PIECE: usize = 24;
/// Packets of an input, about.
const INPUT: usize = 192;
/// Entries of a table that are changed at once, at most.
const MOST_CHANGED: usize = 64;
/// Words that one piece is drawn from.
const WORDS: usize = 1024;

/// Makes inputs for a subject.
#[derive(Clone, Debug)]
pub struct Maker<'s> {
    subject: &'s Subject<'s>,
    pools: Pools,
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {}", self.program.name, self.placement.chip.name)
    }
}

impl<'s> Maker<'s> {
    /// Inputs for a subject.
    #[must_use]
    pub fn new(subject: &'s Subject<'s>) -> Maker<'s> {
        let pools = Pools::new(&subject.program, &subject.control, &subject.ports);
        Maker { subject, pools }
    }

    /// The input with this number: half of its pieces are new, half come from `corpus`.
    #[must_use]
    pub fn input(&self, seed: u64, number: u64, corpus: &Corpus) -> Input {
        self.aimed(seed, number, corpus, &Aim::default())
    }

    /// The same, with an aim.
    #[must_use]
    pub fn aimed(&self, seed: u64, number: u64, corpus: &Corpus, aim: &Aim) -> Input {
        let near = corpus.reaching(&aim.points);
        let wanted = aim.entry.map_or(&[][..], |(table, entry)| self.pools.entry(table, entry));
        let mut words = Words::new(seed, number);
        let mut input = Input::default();
        let mut at = 0;
        let changes = words.next().is_multiple_of(4);
        let runs = self.runs(aim).filter(|_| words.next().is_multiple_of(2));
        let mut entries = (changes || runs.is_some()).then(|| self.subject.control.clone());
        if let (Some((table, action)), Some(entries)) = (runs, &mut entries) {
            let list: Vec<u32> = (0..WORDS).map(|_| words.next()).collect();
            let ops = self.all_run(table, action, entries, &mut Draw::new(&list));
            input.ops.extend(ops.into_iter().map(|op| (0, op)));
        }
        let steers = words.next().is_multiple_of(3);
        // Without a buffer nothing is paused.
        input.obeys = self.subject.config.buffer.is_some() && words.next().is_multiple_of(2);
        while input.shots.len() < INPUT {
            let list: Vec<u32> = (0..WORDS).map(|_| words.next()).collect();
            let d = &mut Draw::new(&list);
            if let Some(entries) = entries.as_mut().filter(|_| changes && d.chance(1, 2)) {
                let ops = self.changes(entries, d);
                input.ops.extend(ops.into_iter().map(|op| (at, op)));
            }
            if steers && d.chance(1, 2) {
                input.ops.extend(self.steer(d).map(|op| (at, ControlOp::Device(op))));
            }
            let aimed = self.near(&near, wanted, corpus, d);
            let piece = aimed.unwrap_or_else(|| self.any(corpus, d));
            let number = input.pieces.len() as u32;
            for (gap, port, bytes) in &piece.shots {
                at += gap;
                input.shots.push(Shot { at, port: *port, bytes: bytes.clone(), piece: number });
            }
            input.pieces.push(piece);
            at += self.pools.gap(d);
        }
        input
    }

    /// A new piece, an echo, or one that was mutated.
    fn any(&self, corpus: &Corpus, d: &mut Draw<'_>) -> Piece {
        let pieces = &corpus.pieces;
        if pieces.is_empty() || d.chance(1, 2) {
            return self.piece(&[], d);
        }
        let echo = if d.chance(1, 3) { self.echo(corpus.echoes(), pieces, d) } else { None };
        echo.unwrap_or_else(|| self.mutated(&pieces[d.below(pieces.len())], pieces, d))
    }

    /// In half of all cases a piece that reached what is aimed at, or one for the entry that is.
    fn near(&self, near: &[&Piece], wanted: &[Wanted], corpus: &Corpus, d: &mut Draw<'_>) -> Option<Piece> {
        if (near.is_empty() && wanted.is_empty()) || d.chance(1, 2) {
            return None;
        }
        if near.is_empty() || (!wanted.is_empty() && d.chance(1, 2)) {
            return Some(self.piece(wanted.get(d.below(wanted.len()))?, d));
        }
        let piece = *near.get(d.below(near.len()))?;
        Some(if d.chance(1, 2) { piece.clone() } else { self.mutated(piece, &corpus.pieces, d) })
    }

    /// What the device once sent comes in by the ports by which it left, as if from the other end, or all by one; as it was
    /// or turned round; behind what it was sent for, or alone.
    fn echo(&self, echoes: &[Echo], corpus: &[Piece], d: &mut Draw<'_>) -> Option<Piece> {
        let echo = echoes.get(d.below(echoes.len()))?;
        let mut back = echo.back.clone();
        let shots = &mut back.shots;
        if d.chance(1, 2) {
            shots.iter_mut().for_each(|(.., bytes)| turn_round(bytes));
        }
        if d.chance(1, 4) {
            let port = self.pools.port(d);
            shots.iter_mut().for_each(|(_, p, _)| *p = port);
        }
        if d.chance(1, 4) {
            let gap = self.pools.gap(d);
            shots.iter_mut().for_each(|(g, ..)| *g = gap);
        }
        if let Some((gap, ..)) = shots.first_mut() {
            *gap = self.pools.gap(d);
        }
        let mut piece = if d.chance(1, 2) { echo.of.clone() } else { Piece::default() };
        piece.shots.append(shots);
        Some(if d.chance(1, 2) { self.mutated(&piece, corpus, d) } else { piece })
    }

    /// A packet, which matches what is wanted if anything is, and others that differ from it a little, or not: a flow. One
    /// in six comes by many ports at once, so that queues fill.
    fn piece(&self, wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Piece {
        let packets = Packets::new(&self.subject.program, &self.pools);
        let crowd = d.chance(1, 6);
        let (port, gap) = (self.pools.port(d), if crowd { 0 } else { self.pools.gap(d) });
        let mut bytes = packets.draw(wanted, d);
        let mut shots = vec![(0, port, bytes.clone())];
        for _ in 0..d.below(PIECE) {
            match d.below(6) {
                0 => bytes = packets.draw(wanted, d),
                1 | 2 => packets.mutate(&mut bytes, d),
                _ => {}
            }
            let gap = if d.chance(1, 6) { self.pools.gap(d) } else { gap };
            let port = match crowd {
                true => self.pools.any_port(d),
                false if d.chance(1, 12) => self.pools.port(d),
                false => port,
            };
            shots.push((gap, port, bytes.clone()));
        }
        Piece { shots }
    }

    fn mutated(&self, from: &Piece, corpus: &[Piece], d: &mut Draw<'_>) -> Piece {
        let packets = Packets::new(&self.subject.program, &self.pools);
        let mut piece = from.clone();
        for _ in 0..=d.below(4) {
            let n = piece.shots.len();
            let at = d.below(n);
            match d.below(9) {
                0 if n < PIECE => piece.shots.push(piece.shots[at].clone()),
                1 if n > 1 => _ = piece.shots.remove(at),
                2 => piece.shots.swap(at, d.below(n)),
                3 => {
                    let gap = self.pools.gap(d);
                    piece.shots.iter_mut().skip(at).for_each(|(g, ..)| *g = gap);
                }
                4 => piece.shots[at].0 = self.pools.gap(d),
                5 => {
                    let port = self.pools.port(d);
                    piece.shots.iter_mut().skip(at).for_each(|(_, p, _)| *p = port);
                }
                6 => {
                    let other = corpus.get(d.below(corpus.len())).map_or(&[][..], |p| &p.shots);
                    piece.shots.extend_from_slice(other.get(d.below(other.len())..).unwrap_or(&[]));
                    piece.shots.truncate(PIECE);
                }
                _ => packets.mutate(&mut piece.shots[at].2, d),
            }
        }
        piece
    }

    /// Pauses a queue or lets it go on, slows a port, or takes it down or brings it up; mostly what packets use.
    fn steer(&self, d: &mut Draw<'_>) -> Option<DeviceOp> {
        let port = self.pools.out(d);
        if d.chance(1, 4) {
            return Some(DeviceOp::SetPort { port, up: !d.chance(1, 2) });
        }
        if d.chance(1, 3) {
            // Slow enough for queues, fast enough for what is left to leave.
            let rate = BitRate::from_gbps([1, 5, 10, 25][d.below(4)]);
            let most = (!d.chance(1, 3)).then_some(ShaperConfig { rate, burst: Bytes(2_000) });
            return Some(DeviceOp::ShapePort { port, most });
        }
        let most = self.subject.queues_of(port)?;
        let queue = if d.chance(1, 3) { d.below(usize::from(most)) as u8 } else { 0 };
        Some(DeviceOp::PauseQueue { port, queue, paused: !d.chance(1, 3) })
    }

    /// Changes of entries, applied to `entries`, so that each fits what it finds.
    fn changes(&self, entries: &mut ControlState, d: &mut Draw<'_>) -> Vec<ControlOp> {
        let program = &self.subject.program;
        let mut ops = Vec::new();
        for _ in 0..=d.below(3) {
            let Some(table) = d.pick(&program.tables.keys().collect::<Vec<_>>()) else { break };
            let data = &program.tables[table];
            let live: Vec<u32> = entries.tables[table].entries().map(|(id, _)| id).take(64).collect();
            let fixed = data.keys.is_empty() || !data.entries.is_empty();
            let op = match d.below(4) {
                _ if data.profile.is_some_and(|p| !entries.profiles[p].groups.is_empty())
                    && d.chance(1, 2) =>
                {
                    data.profile.and_then(|profile| self.regroup(profile, entries, d))
                }
                0 if !fixed => d.pick(&live).map(|entry| ControlOp::DeleteEntry { table, entry }),
                1 if !fixed && data.profile.is_none() => d.pick(&live).and_then(|entry| {
                    let then = Then::Call(self.call(table, d)?);
                    Some(ControlOp::ModifyEntry { table, entry, then })
                }),
                2 | 3 if !fixed => {
                    let limits = Limits { entries: 1, ..Limits::default() };
                    let drawn = entries_of(self.subject, table, d, &limits);
                    d.pick(&(0..drawn.len()).collect::<Vec<_>>()).map(|n| self.sensible(drawn[n].clone(), d))
                }
                _ => None,
            };
            // What a table with fixed entries does for the rest is the program's, too.
            let free = |_: &ActionCall| data.entries.is_empty();
            let default = |call| ControlOp::SetDefault { table, call };
            let op = op.or_else(|| self.call(table, d).filter(free).map(default));
            ops.extend(op.filter(|op| entries.apply(program, op.clone()).is_ok()));
        }
        ops
    }

    /// What every packet runs that comes to a table: an action that is to be reached.
    fn all_run(
        &self,
        table: Table,
        action: Action,
        entries: &mut ControlState,
        d: &mut Draw<'_>,
    ) -> Vec<ControlOp> {
        let program = &self.subject.program;
        let data = &program.tables[table];
        let mut ops = Vec::new();
        if !data.entries.is_empty() {
            return ops;
        }
        if data.profile.is_none() {
            for (entry, was) in entries.tables[table].entries().take(MOST_CHANGED) {
                let drawn = self.drawn_call(action, d);
                let args = match &was.then {
                    // Another action with parameters of the same kinds gets the same values.
                    Then::Call(call) if self.alike(call.action, action) => call.args.clone(),
                    _ => drawn.args,
                };
                let then = Then::Call(ActionCall { action, args });
                ops.push(ControlOp::ModifyEntry { table, entry, then });
            }
        }
        ops.push(ControlOp::SetDefault { table, call: self.drawn_call(action, d) });
        ops.retain(|op| entries.apply(program, op.clone()).is_ok());
        ops
    }

    /// Whether two actions have parameters of the same widths.
    fn alike(&self, a: Action, b: Action) -> bool {
        let widths = |action: Action| self.subject.program.actions[action].params.iter().map(|p| p.width);
        widths(a).eq(widths(b))
    }

    /// A table whose action is aimed at, if one is.
    fn runs(&self, aim: &Aim) -> Option<(Table, Action)> {
        let points = self.subject.points.list();
        aim.points.iter().find_map(|n| match points.get(*n as usize)?.point {
            Point::Ran(Some(table), action) => Some((table, action)),
            _ => None,
        })
    }

    /// Other members for a group.
    fn regroup(&self, profile: Profile, entries: &ControlState, d: &mut Draw<'_>) -> Option<ControlOp> {
        let state = &entries.profiles[profile];
        let groups: Vec<u32> = state.groups.keys().copied().take(64).collect();
        let known: Vec<u32> = state.members.keys().copied().take(64).collect();
        let group = d.pick(&groups)?;
        let mut members: Vec<GroupMember> = Vec::new();
        for _ in 0..2 + d.below(4) {
            let member = d.pick(&known)?;
            if members.iter().all(|m| m.member != member) {
                members.push(GroupMember { member, weight: 1, active: true });
            }
        }
        Some(ControlOp::SetGroup { profile, group, members })
    }

    /// The entry with a key and arguments that may mean something.
    fn sensible(&self, mut op: ControlOp, d: &mut Draw<'_>) -> ControlOp {
        if let ControlOp::InsertEntry { table, key, .. } = &mut op {
            let keys = &self.subject.program.tables[*table].keys;
            for (value, k) in key.iter_mut().zip(keys) {
                let data = &self.subject.program.fields[k.field];
                if let KeyValue::Exact(value) = value
                    && d.chance(3, 4)
                {
                    *value = match data.home {
                        Home::Intrinsic(Intrinsic::IngressPort) => self.pools.port(d).into(),
                        Home::Intrinsic(Intrinsic::EgressPort) => self.pools.out(d).into(),
                        _ => self.pools.key(k.field, data.width, d),
                    };
                }
            }
        }
        if let ControlOp::InsertEntry { table, then: Then::Call(call), .. } = &mut op {
            // As an entry that is there has it.
            if let Some(known) = self.known_call(*table, call.action, d).filter(|_| d.chance(1, 2)) {
                *call = known;
                return op;
            }
            let params = &self.subject.program.actions[call.action].params;
            for (n, (arg, param)) in (0u16..).zip(call.args.iter_mut().zip(params)) {
                if param.width == PORT_BITS || d.chance(1, 2) {
                    *arg = self.argument(call.action, n, param.width, d);
                }
            }
        }
        op
    }

    /// A call with arguments that entries have now, or small ones.
    fn call(&self, table: Table, d: &mut Draw<'_>) -> Option<ActionCall> {
        let program = &self.subject.program;
        let action = d.pick(&program.tables[table].actions)?;
        let known = self.known_call(table, action, d).filter(|_| d.chance(3, 4));
        Some(known.unwrap_or_else(|| self.drawn_call(action, d)))
    }

    /// A call of an action as an entry of the table has it.
    fn known_call(&self, table: Table, action: Action, d: &mut Draw<'_>) -> Option<ActionCall> {
        let known: Vec<&ActionCall> = self.subject.control.tables[table]
            .entries()
            .take(64)
            .filter_map(|(_, e)| if let Then::Call(call) = &e.then { Some(call) } else { None })
            .filter(|call| call.action == action)
            .collect();
        known.get(d.below(known.len())).map(|call| (*call).clone())
    }

    fn drawn_call(&self, action: Action, d: &mut Draw<'_>) -> ActionCall {
        let params = (0u16..).zip(&self.subject.program.actions[action].params);
        ActionCall { action, args: params.map(|(n, p)| self.argument(action, n, p.width, d)).collect() }
    }

    /// An argument that may mean something: what a table asks of the field that it goes to. One as wide as a dev_port is one of the front panel: entries that send
    /// packets in circles by a recirculation port are no mistake of the program.
    fn argument(&self, action: Action, param: u16, width: u16, d: &mut Draw<'_>) -> u128 {
        match width {
            PORT_BITS => self.pools.out(d).into(),
            _ => self.pools.argument(action, param, width, d),
        }
    }
}

/// Entries drawn for one table.
fn entries_of(subject: &Subject<'_>, table: Table, d: &mut Draw<'_>, limits: &Limits) -> Vec<ControlOp> {
    let drawn = entries(&subject.program, d, limits);
    let of = |op: &ControlOp| matches!(op, ControlOp::InsertEntry { table: t, .. } if *t == table);
    drawn.into_iter().filter(of).collect()
}

/// Words that follow from a seed and from nothing that inputs are made of.
pub fn words(seed: u64) -> impl Iterator<Item = u32> {
    let mut words = Words::new(seed, u64::MAX);
    std::iter::repeat_with(move || words.next())
}

/// A stream of words that follows from two numbers.
pub(crate) struct Words(u64);

impl Words {
    pub(crate) fn new(seed: u64, number: u64) -> Words {
        Words(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next word (splitmix64, upper half).
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 32) as u32
    }
}
