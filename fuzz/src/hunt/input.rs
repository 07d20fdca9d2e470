//! Inputs: packets with ports and times, and changes of the configuration between them; how they are drawn and mutated.

use super::configured::configured;
use super::corpus::{Corpus, Response};
use super::pools::{Masked, Pools, Wanted};
use super::responses::swap_addresses;
use super::shape::Packets;
use super::subject::Subject;
use crate::Draw;
use sluice_asic::salu::State as Element;
use sluice_asic::tm::ShaperConfig;
use sluice_asic::units::{BitRate, Bytes};
use sluice_control::{ControlOp, DeviceOp};
use sluice_exec::cover::Point;
use sluice_ir::{Field, Register, Table};
use std::collections::BTreeSet;

/// A packet of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shot {
    /// Time of the first bit on the wire, in ns from the start of the input.
    pub at: u64,
    /// Port on which the packet arrives, as dev_port.
    pub port: u16,
    /// Bytes without FCS.
    pub bytes: Vec<u8>,
    /// Number of the piece to which the packet belongs.
    pub piece: u32,
}

/// Packets and changes, each in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Packets.
    pub shots: Vec<Shot>,
    /// Changes of entries, queues and ports, with their times in ns. Each is valid when it is applied.
    pub ops: Vec<(u64, ControlOp)>,
    /// True if the senders obey PFC, so that packets of paused priorities wait.
    pub obeys: bool,
    /// For each piece of the input, the gap in ns before its first packet.
    pub pieces: Vec<u64>,
}

impl Input {
    /// Returns a piece of the input, to be kept if it reached a new point; `None` if there is no piece of this number, or
    /// its packets were removed.
    #[must_use]
    pub fn piece(&self, number: u32) -> Option<Piece> {
        let mut gap = *self.pieces.get(number as usize)?;
        let first = self.shots.partition_point(|shot| shot.piece < number);
        let own = self.shots.get(first..)?.iter().take_while(|shot| shot.piece == number);
        let mut last = self.shots.get(first)?.at;
        let mut shots = Vec::new();
        for shot in own {
            gap += shot.at - last;
            shots.push((std::mem::take(&mut gap), shot.port, shot.bytes.clone()));
            last = shot.at;
        }
        (!shots.is_empty()).then_some(Piece { shots })
    }

    /// Returns the operations that resume all paused queues and bring up all ports that are down, for the end of a run:
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

/// A few packets that belong together, each with the gap in ns after the packet before, its port and its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Packets: gap, port, bytes.
    pub shots: Vec<(u64, u16, Vec<u8>)>,
}

/// Material for the pieces that serve an aim.
struct Near<'a> {
    /// Pieces that reached one of the aim's points.
    pieces: Vec<&'a Piece>,
    /// Pieces that matched another entry of the same table.
    visitors: Vec<&'a Piece>,
    /// Alternative sets of field values that match the entry.
    wanted: &'a [Wanted],
}

/// Aim of an input: half of its pieces are made to reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// Coverage points, by number. Pieces that reached one of them are sent again, some with changes.
    pub points: Vec<u32>,
    /// Constant entry that packets are to match, as its table and position.
    pub entry: Option<(Table, usize)>,
}

/// Most packets of a piece.
const PIECE: usize = 24;
/// One piece in this many is made for a constant entry that no packet has matched.
const UNKNOWN: usize = 12;
/// One piece in this many counts up the value of a field.
const SWEEP: usize = 32;
/// Number of queues of a recirculation port that may be paused; programs use the first few.
const LOOPED: usize = 2;
/// One in this many mutated pieces has a packet for each of several entries of a table.
const CALL: usize = 16;
/// Approximate number of packets of an input.
const INPUT: usize = 192;
/// Approximate number of packets that the device may generate during an input.
const BY_ITSELF: u64 = 96;

/// Draws inputs for a subject.
#[derive(Clone, Debug)]
pub struct Maker<'s> {
    pub(crate) subject: &'s Subject<'s>,
    pub(crate) pools: Pools,
    /// Register elements that the control plane may write.
    pub(super) configured: Vec<(Register, u32, Element)>,
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {}", self.program.name, self.placement.chip.name)
    }
}

impl<'s> Maker<'s> {
    /// Returns a source of inputs for a subject.
    #[must_use]
    pub fn new(subject: &'s Subject<'s>) -> Maker<'s> {
        let pools = Pools::new(&subject.program, &subject.control, &subject.ports);
        let configured = configured(&subject.program, &subject.control);
        Maker { subject, pools, configured }
    }

    /// Draws the input with this number. Half of its pieces are new, half come from `corpus`.
    #[must_use]
    pub fn input(&self, seed: u64, number: u64, corpus: &Corpus) -> Input {
        self.aimed(seed, number, corpus, &Aim::default())
    }

    /// As [`Self::input`], with an aim.
    #[must_use]
    pub fn aimed(&self, seed: u64, number: u64, corpus: &Corpus, aim: &Aim) -> Input {
        let near = Near {
            pieces: corpus.reaching(&aim.points),
            visitors: aim.entry.map_or(Vec::new(), |(table, _)| self.visitors(table, corpus)),
            wanted: aim.entry.map_or(&[][..], |(table, entry)| self.pools.entry(table, entry)),
        };
        let d = &mut Draw::endless(seed, number);
        let mut input = Input::default();
        let mut at = 0;
        // Changes of entries may reach an aim that packets alone do not reach.
        let changes = d.chance(1, if aim.entry.is_some() { 2 } else { 4 });
        let given = aim.entry.filter(|_| d.chance(1, 2));
        let runs = self.runs(aim).filter(|_| d.chance(1, 2));
        let mut entries =
            (changes || runs.is_some() || given.is_some()).then(|| self.subject.control.clone());
        if let (Some((table, action)), Some(entries)) = (runs, &mut entries) {
            let ops = self.all_run(table, action, entries, d);
            input.ops.extend(ops.into_iter().map(|op| (0, op)));
        }
        if let (Some(entry), Some(entries)) = (given, &mut entries) {
            input.ops.extend(self.given(entry, entries, d).into_iter().map(|op| (0, op)));
        }
        let steers = d.chance(1, 3);
        // Without a shared buffer, the device pauses no sender.
        input.obeys = self.subject.config.buffer.is_some() && d.chance(1, 2);
        let budget = self.pools.time_of(BY_ITSELF).zip(self.pools.time_of(1).map(|lap| lap / 8));
        while input.shots.len() < INPUT {
            if let Some(entries) = entries.as_mut().filter(|_| changes && d.chance(1, 2)) {
                let ops = self.changes(entries, d);
                input.ops.extend(ops.into_iter().map(|op| (at, op)));
            }
            if steers && d.chance(1, 2) {
                input.ops.extend(self.steer(d).map(|op| (at, ControlOp::Device(op))));
            }
            let aimed = self.near(&near, corpus, d);
            let piece = aimed.unwrap_or_else(|| self.any(corpus, d));
            let number = input.pieces.len() as u32;
            // The device should generate fewer packets than it is sent, so later pieces come close together.
            let most = budget.filter(|(end, _)| at >= *end).map_or(self.pools.longest, |(_, gap)| gap);
            input.pieces.push(piece.shots.first().map_or(0, |(gap, ..)| *gap.min(&most)));
            for (gap, port, bytes) in piece.shots {
                at += gap.min(most);
                input.shots.push(Shot { at, port, bytes, piece: number });
            }
            at += self.pools.gap(d).min(most);
        }
        input
    }

    /// Draws a piece: a new one, a response of the device, or a mutated one.
    fn any(&self, corpus: &Corpus, d: &mut Draw<'_>) -> Piece {
        let pieces = &corpus.pieces;
        let unknown = if d.chance(1, UNKNOWN) { self.unknown(corpus, d) } else { None };
        if let Some(piece) = unknown {
            return piece;
        }
        if pieces.is_empty() || d.chance(1, 2) {
            return self.piece(&[], d);
        }
        let called = if d.chance(1, CALL) { self.called(&pieces[d.below(pieces.len())], d) } else { None };
        if let Some(piece) = called {
            return piece;
        }
        let response = if d.chance(1, 3) { self.response(corpus.responses(), pieces, d) } else { None };
        response.unwrap_or_else(|| self.mutated(&pieces[d.below(pieces.len())], pieces, d))
    }

    /// Repeats a packet of a piece for several entries of a table, such as flows that compete, traffic classes or ports.
    fn called(&self, piece: &Piece, d: &mut Draw<'_>) -> Option<Piece> {
        let packets = Packets::new(&self.subject.program, &self.pools);
        let (_, port, bytes) = piece.shots.get(d.below(piece.shots.len()))?;
        let (list, gap) = (self.pools.list(d), self.pools.gap(d));
        let (first, way) = (d.below(list.len()), d.below(8));
        let entries = list.iter().cycle().skip(first).take(list.len().min(PIECE));
        let wanted = entries.filter_map(|ways| ways.get(way % ways.len().max(1)));
        let shots: Vec<_> = wanted.map(|wanted| (gap, *port, packets.with(bytes, wanted, d))).collect();
        (!shots.is_empty()).then_some(Piece { shots })
    }

    /// With some probability, draws a piece for a constant entry that no packet has matched.
    fn unknown(&self, corpus: &Corpus, d: &mut Draw<'_>) -> Option<Piece> {
        let (table, at) = self.pools.any_entry(d)?;
        let known = self.subject.points.entry(table, at).is_none_or(|number| corpus.knows(number));
        let ways = self.pools.entry(table, at);
        let wanted = ways.get(d.below(ways.len())).filter(|_| !known)?;
        Some(self.piece(wanted, d))
    }

    /// In half of all cases, draws a piece that reached the aim, or one for the aim's entry.
    fn near(&self, near: &Near<'_>, corpus: &Corpus, d: &mut Draw<'_>) -> Option<Piece> {
        let Near { pieces, visitors, wanted } = near;
        if (pieces.is_empty() && wanted.is_empty()) || d.chance(1, 2) {
            return None;
        }
        if !wanted.is_empty() && !visitors.is_empty() && d.chance(1, 2) {
            let (piece, way) = (visitors.get(d.below(visitors.len()))?, wanted.get(d.below(wanted.len()))?);
            return Some(self.grafted(piece, way, d));
        }
        if pieces.is_empty() || (!wanted.is_empty() && d.chance(1, 2)) {
            return Some(self.piece(wanted.get(d.below(wanted.len()))?, d));
        }
        let piece = *pieces.get(d.below(pieces.len()))?;
        Some(match d.below(3) {
            0 => piece.clone(),
            1 => self.swept(piece, wanted.first().map_or(&[][..], Vec::as_slice), d),
            _ => self.mutated(piece, &corpus.pieces, d),
        })
    }

    /// Returns the pieces that matched an entry of a table.
    fn visitors<'c>(&self, table: Table, corpus: &'c Corpus) -> Vec<&'c Piece> {
        let (points, entries) = (&self.subject.points, self.subject.program.tables[table].entries.len());
        let found = (0..entries).filter_map(|at| points.entry(table, at));
        corpus.reaching(&points.number(Point::Hit(table)).into_iter().chain(found).collect::<Vec<_>>())
    }

    /// Draws copies of a packet that reached deep into the program, with the `wanted` values, and mostly with a sweep of a
    /// field in the same header.
    fn grafted(&self, piece: &Piece, wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Piece {
        let packets = Packets::new(&self.subject.program, &self.pools);
        let Some((gap, port, bytes)) = piece.shots.get(d.below(piece.shots.len())) else {
            return piece.clone();
        };
        let bytes = packets.with(bytes, wanted, d);
        let frames = if d.chance(3, 4) { packets.sweep(&bytes, wanted, PIECE - 1, d) } else { Vec::new() };
        let shot = |bytes| (*gap, *port, bytes);
        Piece { shots: std::iter::once(bytes).chain(frames).map(shot).collect() }
    }

    /// Draws a packet of a piece and a sweep of one of its fields.
    fn swept(&self, piece: &Piece, wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Piece {
        let packets = Packets::new(&self.subject.program, &self.pools);
        let Some((gap, port, bytes)) = piece.shots.get(d.below(piece.shots.len())) else {
            return piece.clone();
        };
        let frames = packets.sweep(bytes, wanted, PIECE - 1, d);
        let shot = |bytes| (*gap, *port, bytes);
        Piece { shots: std::iter::once(bytes.clone()).chain(frames).map(shot).collect() }
    }

    /// Draws a response of the device and sends it back: on the ports on which it was sent or all on one port, unchanged or
    /// with addresses swapped, alone or after its request.
    fn response(&self, responses: &[Response], corpus: &[Piece], d: &mut Draw<'_>) -> Option<Piece> {
        let response = responses.get(d.below(responses.len()))?;
        let mut back = response.frames.clone();
        let shots = &mut back.shots;
        if d.chance(1, 2) {
            shots.iter_mut().for_each(|(.., bytes)| swap_addresses(bytes));
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
        let mut piece = if d.chance(1, 2) { response.request.clone() } else { Piece::default() };
        piece.shots.append(shots);
        Some(if d.chance(1, 2) { self.mutated(&piece, corpus, d) } else { piece })
    }

    /// Draws a piece: a packet with the `wanted` values and packets that differ from it in few fields or none (a flow), or
    /// a sweep of a field. One piece in six arrives on many ports at once, so that queues fill.
    fn piece(&self, wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Piece {
        let packets = Packets::new(&self.subject.program, &self.pools);
        let crowd = d.chance(1, 6);
        let (port, gap) = (self.pools.port(d), if crowd { 0 } else { self.pools.gap(d) });
        let mut bytes = packets.draw(wanted, d);
        let mut shots = vec![(0, port, bytes.clone())];
        if d.chance(1, if wanted.is_empty() { SWEEP } else { 2 }) {
            let frames = packets.sweep(&bytes, wanted, PIECE - 1, d);
            shots.extend(frames.into_iter().map(|bytes| (gap, port, bytes)));
            return Piece { shots };
        }
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

    /// Draws a change of the device, mostly of queues and ports that packets use: a queue pauses or resumes, a port gets
    /// slower, goes down or comes up.
    fn steer(&self, d: &mut Draw<'_>) -> Option<DeviceOp> {
        if let Some(port) = self.pools.looped(d).filter(|_| d.chance(1, 4)) {
            let queue = d.below(LOOPED) as u8;
            return Some(DeviceOp::PauseQueue { port, queue, paused: !d.chance(1, 2) });
        }
        let port = self.pools.out(d);
        if d.chance(1, 4) {
            return Some(DeviceOp::SetPort { port, up: !d.chance(1, 2) });
        }
        if d.chance(1, 3) {
            // Slow enough for queues to build up, fast enough for them to drain.
            let rate = BitRate::from_gbps([1, 5, 10, 25][d.below(4)]);
            let most = (!d.chance(1, 3)).then_some(ShaperConfig { rate, burst: Bytes(2_000) });
            return Some(DeviceOp::ShapePort { port, most });
        }
        let most = self.subject.queues_of(port)?;
        let queue = if d.chance(1, 3) { d.below(usize::from(most)) as u8 } else { 0 };
        Some(DeviceOp::PauseQueue { port, queue, paused: !d.chance(1, 3) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_control::Then;
    use sluice_ir::KeyValue;
    use std::collections::BTreeSet;

    #[test]
    fn a_sweep_runs_through_a_field() {
        let subject = Subject::shipped("int");
        let maker = Maker::new(&subject);
        let packets = Packets::new(&subject.program, &maker.pools);
        let mut swept = 0;
        for number in 0..60 {
            let d = &mut Draw::endless(1, number);
            let bytes = packets.draw(&[], d);
            let frames = packets.sweep(&bytes, &[], 16, d);
            let different: BTreeSet<&Vec<u8>> = frames.iter().collect();
            assert!(frames.is_empty() || frames.len() == 16);
            assert!(frames.iter().all(|frame| frame.len() == bytes.len()));
            swept += usize::from(different.len() == 16);
        }
        assert!(swept > 20, "{swept} of 60 sweeps have 16 values");
    }

    #[test]
    fn packets_are_none_that_only_the_device_makes() {
        // Half of the packets that its parser accepts come from a packet generator.
        let subject = Subject::shipped("conga");
        let maker = Maker::new(&subject);
        let packets = Packets::new(&subject.program, &maker.pools);
        let ip = |number| {
            let frame = packets.draw(&[], &mut Draw::endless(3, number));
            matches!(frame.get(12..14), Some([8, 0] | [0x86, 0xdd]))
        };
        let found = (0..400).filter(|n| ip(*n)).count();
        assert!(found > 240, "{found} of 400 packets are IP");
    }

    #[test]
    fn entries_for_other_values_say_so_in_their_arguments() {
        // Priorities 3 and 4 have limits.
        let subject = Subject::shipped("pfc");
        let maker = Maker::new(&subject);
        let table = subject.program.table_named("limits").unwrap();
        let (mut classes, mut d) = (BTreeSet::new(), Draw::endless(1, 1));
        for _ in 0..2_000 {
            let mut entries = subject.control.clone();
            for op in maker.changes(&mut entries, &mut d) {
                if let ControlOp::InsertEntry { table: t, key, then: Then::Call(call), .. } = &op
                    && *t == table
                    && let [_, KeyValue::Exact(class)] = key[..]
                    && call.args[0] == class
                    && call.args[1] == 1 << class
                {
                    classes.insert(class);
                }
            }
        }
        assert!(classes.len() > 3, "{classes:?}");
    }

    #[test]
    fn entries_lead_to_a_fixed_one_that_names_what_they_write() {
        // Entries for code points name its queues.
        let subject = Subject::shipped("int");
        let maker = Maker::new(&subject);
        let table = subject.program.table_named("queue").unwrap();
        let said = |number| {
            let mut entries = subject.control.clone();
            let ops = maker.given((table, 77), &mut entries, &mut Draw::endless(1, number));
            let says = |op: &ControlOp| matches!(op, ControlOp::SetDefault { call, .. } if call.args.first() == Some(&77));
            ops.iter().any(says)
        };
        assert!((0..10).any(said));
    }
}
