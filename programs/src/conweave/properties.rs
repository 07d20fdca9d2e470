//! Properties of a ToR that must hold in every run, for any input.

use super::CONTROL_QUEUE;
use super::destination::status::WAITING;
use super::headers::TIMER_TYPE;
use super::wire::{Frame, HEADER_LEN, Header, opcode, read};
use sluice_catalogue::properties::SettlesUnchanged;
use sluice_ir::{Program, Register};
use sluice_switch::property::{
    self, Departed, Ended, Entered, Finding, Origin, Property, Settled, well_formed,
};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// All of them, fresh.
pub(super) fn all() -> Vec<Box<dyn Property>> {
    vec![
        Box::new(ReorderFree::default()),
        Box::new(TwoPaths::default()),
        Box::new(NothingLeft::default()),
        Box::new(Settles::default()),
        Box::new(HostsSeeNothing),
        Box::new(WellFormed),
        Box::new(L4Checksum),
    ]
}

/// Where packets of a flow came in, and the flow.
type Flow = (u16, Ipv4Addr, Ipv4Addr, u16);

fn flow(at: u16, frame: &Frame) -> Flow {
    (at, frame.src, frame.dst, frame.src_port)
}

/// The pipe of a dev_port.
fn pipe(port: u16) -> u16 {
    port >> 7
}

/// Packets that came in before entries changed say nothing of those behind: a packet may wait for long, so it is not
/// when one leaves that counts.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    /// The first packet that the present entries saw.
    first: u64,
    /// The next packet to come in.
    next: u64,
}

impl Since {
    fn entered(&mut self, packet: &Entered<'_>) {
        self.next = packet.tag + 1;
    }

    fn changed(&mut self) {
        self.first = self.next;
    }

    fn counts(&self, tag: u64) -> bool {
        tag >= self.first
    }
}

/// How often the program says, in a counter of this name, that it gave order up.
fn counted(device: &Settled<'_>, name: &str) -> u64 {
    let of = |p: &Program| p.counters.iter().find(|(_, c)| c.name == name).map(|(counter, _)| counter);
    let Some(counter) = of(device.program) else { return 0 };
    device.states.iter().flat_map(|s| s.counters.get(counter).into_iter().flatten()).map(|c| c.packets).sum()
}

/// DATA that reached its host.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// In the order in which packets came in.
    tag: u64,
    /// The flow, and the path that it came by.
    path: Flow,
    /// DSCP, which chooses the queue between packets that need not wait.
    dscp: u8,
    epoch: u8,
    phase: u8,
}

impl Reached {
    /// TAIL is the last by the old path: DstToR does not let it wait for itself, whatever phase it claims.
    fn new(tag: u64, path: Flow, dscp: u8, header: &Header) -> Reached {
        Reached { tag, path, dscp, epoch: header.epoch, phase: if header.tail { 0 } else { header.phase } }
    }
}

/// Packets of a flow's epoch that came by one path, all before TAIL or all REROUTED, reach the host in the order in which
/// they came, unless they have another DSCP, and so another queue, or take the control queue, which goes before the reorder
/// queues, or the program counted why not. Which packets are of one epoch is as DstToR has it, by two bits: what is one or
/// two ahead begins a new one (model: conweave §1.7).
#[derive(Clone, Debug, Default)]
struct ReorderFree {
    /// In the order in which they left.
    reached: Vec<Reached>,
    since: Since,
    broken: Option<String>,
}

impl ReorderFree {
    /// Returns the packets that were out of order, and forgets the sent packets.
    fn judge(&mut self) -> Finding {
        let reached = std::mem::take(&mut self.reached);
        let mut by_tag: Vec<&Reached> = reached.iter().collect();
        by_tag.sort_by_key(|packet| packet.tag);
        let mut present: BTreeMap<Flow, (u8, u64)> = BTreeMap::new();
        let mut turn_of: BTreeMap<u64, u64> = BTreeMap::new();
        for packet in by_tag {
            let (port, src, dst, src_port) = packet.path;
            let (epoch, turn) = present.entry((pipe(port), src, dst, src_port)).or_insert((packet.epoch, 0));
            let ahead = packet.epoch.wrapping_sub(*epoch) & 3;
            if ahead == 1 || ahead == 2 {
                (*epoch, *turn) = (packet.epoch, *turn + u64::from(ahead));
            }
            // One behind belongs to the epoch before.
            turn_of.insert(packet.tag, if ahead == 3 { turn.wrapping_sub(1) } else { *turn });
        }
        let mut last: BTreeMap<(Flow, u8, u64, u8), u64> = BTreeMap::new();
        for Reached { tag, path, dscp, epoch, phase } in reached {
            let turn = turn_of.get(&tag).copied().unwrap_or(0);
            let last = last.entry((path, dscp, turn, phase)).or_insert(tag);
            if tag < *last {
                return Err(format!(
                    "packet {tag} of epoch {epoch}, phase {phase} came to the host behind packet {last}"
                ));
            }
            *last = tag;
        }
        Ok(())
    }
}

impl Property for ReorderFree {
    fn name(&self) -> &'static str {
        "reorder_free"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        self.since.entered(packet);
        Ok(())
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let (tag, Some(from)) = (packet.left.tag, packet.from) else { return Ok(()) };
        let came = read(from.bytes).filter(|f| f.header.opcode == opcode::DATA);
        let other = packet.left.made || u64::from(packet.left.qid) == CONTROL_QUEUE;
        let Some(came) = came.filter(|_| !other && self.since.counts(tag)) else { return Ok(()) };
        // What goes on with ConWeave's header is not at its host.
        if read(packet.bytes).is_none_or(|f| f.header.opcode != 0) {
            return Ok(());
        }
        // The byte of DSCP and ECN: `read` takes IPv4 without a VLAN tag alone.
        let dscp = from.bytes.get(15).map_or(0, |byte| byte >> 2);
        self.reached.push(Reached::new(tag, flow(from.port, &came), dscp, &came.header));
        Ok(())
    }

    fn changed(&mut self) {
        self.broken = self.broken.take().or(self.judge().err());
        self.since.changed();
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let excused = counted(device, "unsorted") + counted(device, "forced");
        let broken = self.broken.take().or(self.judge().err());
        broken.filter(|_| excused == 0).map_or(Ok(()), Err)
    }
}

/// The packets of an epoch leave by at most two paths: one until TAIL, one behind it. What an epoch is, SrcToR says in
/// two bits: behind a packet that was lost inside, which may have opened one, nothing is known. Path 0 is none, where
/// entries have no sample for the destination: the flow's next packet may find one.
#[derive(Clone, Debug, Default)]
struct TwoPaths {
    /// Packets of a flow, with what they left with if they left.
    sent: BTreeMap<Flow, Vec<(u64, Option<Header>)>>,
    since: Since,
}

impl TwoPaths {
    fn note(&mut self, tag: u64, from: Option<Origin<'_>>, left: Option<Header>) {
        let Some(from) = from.filter(|_| self.since.counts(tag)) else { return };
        if let Some(came) = read(from.bytes).filter(|f| f.header.opcode == 0) {
            self.sent.entry(flow(pipe(from.port), &came)).or_default().push((tag, left));
        }
    }

    fn check(sent: &mut [(u64, Option<Header>)]) -> Finding {
        sent.sort_by_key(|(tag, _)| *tag);
        let (mut epoch, mut paths) = (None, [None; 2]);
        for (tag, header) in sent.iter() {
            let Some(header) = header else {
                epoch = None;
                continue;
            };
            let opens = header.ask_reply && !header.tail;
            if opens || epoch != Some(header.epoch) {
                (epoch, paths) = (Some(header.epoch), [None; 2]);
            }
            let path = &mut paths[usize::from(header.phase & 1)];
            match *path {
                Some(before) if before != header.path && before != 0 => {
                    let (phase, found) = (header.phase, header.path);
                    return Err(format!(
                        "packet {tag}, phase {phase}: found path {found}, expected {before} as before"
                    ));
                }
                _ => *path = Some(header.path),
            }
        }
        Ok(())
    }
}

impl Property for TwoPaths {
    fn name(&self) -> &'static str {
        "two_paths"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        self.since.entered(packet);
        Ok(())
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let sent = read(packet.bytes).filter(|f| f.header.opcode == opcode::DATA);
        if let Some(sent) = sent.filter(|_| !packet.left.made) {
            self.note(packet.left.tag, packet.from, Some(sent.header));
        }
        Ok(())
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        if packet.is_loss() {
            self.note(packet.lost.tag, packet.from, None);
        }
        Ok(())
    }

    fn changed(&mut self) {
        self.sent.clear();
        self.since.changed();
    }

    fn settled(&mut self, _: &Settled<'_>) -> Finding {
        let mut sent = std::mem::take(&mut self.sent);
        sent.values_mut().try_for_each(|sent| TwoPaths::check(sent))
    }
}

/// Where no packet is inside, not even a timer packet, no queue has an owner and no flow waits: nothing leaked. Entries
/// that changed may have taken row or queue from under a flow that waited; a timer packet that was lost on its way round
/// is made anew by a packet of its flow, which may not have come; a packet whose port goes down before its second pass
/// leaves its flow waiting.
#[derive(Clone, Copy, Debug, Default)]
struct NothingLeft {
    excused: bool,
}

impl Property for NothingLeft {
    fn name(&self) -> &'static str {
        "nothing_left"
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        let timer = packet.bytes.get(12..14).is_some_and(|of| of == (TIMER_TYPE as u16).to_be_bytes());
        // One that came from outside is refused.
        let foreign = packet.from.is_some_and(|from| from.bytes.get(12..14) == packet.bytes.get(12..14));
        self.excused |= timer && !foreign && packet.is_loss() || packet.reason == "port_down";
        Ok(())
    }

    fn changed(&mut self) {
        self.excused = true;
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        if std::mem::take(&mut self.excused) || device.held > 0 {
            return Ok(());
        }
        for (register, data) in device.program.registers.iter() {
            if !(data.name.starts_with("owner") || data.name == "reorder_status_rx") {
                continue;
            }
            let elements = |s: &&sluice_exec::pass::State| {
                s.registers
                    .get(register)
                    .and_then(|all| all.changed().find(|(_, e)| e.lo != 0))
                    .map(|(at, _)| at)
            };
            if let Some(at) = device.states.iter().find_map(elements) {
                return Err(format!("nothing is inside, but `{}` is still set at {at}", data.name));
            }
        }
        Ok(())
    }
}

/// What came in ends. Nothing is said of runs in which entries change: a reorder queue's port, number, cell and word stand
/// in four tables, and where one of them says something else a queue is paused and another one goes on. Nor of one that
/// ends before a T_resume, which lies ahead as far as stamps in packets claim: up to a turn of theirs, 67 ms.
#[derive(Clone, Copy, Debug, Default)]
struct Settles(SettlesUnchanged);

impl Settles {
    /// Whether the T_resume of a flow whose packets wait is still to come.
    fn ahead(device: &Settled<'_>) -> bool {
        let named =
            |name: &str| device.program.registers.iter().find(|(_, r)| r.name == name).map(|(r, _)| r);
        let [Some(clock), Some(status), Some(resume)] =
            ["ticks", "reorder_status_rx", "resume_time_rx"].map(named)
        else {
            return false;
        };
        device.states.iter().any(|state| {
            let cell = |register: Register, at: usize| {
                state.registers.get(register).and_then(|all| all.get(at)).map_or(0, |e| e.lo)
            };
            let left = |row| (cell(resume, row) as u32).wrapping_sub(cell(clock, 0) as u32) as i32;
            let rows = state.registers.get(status).into_iter().flat_map(|all| all.changed());
            rows.into_iter().any(|(row, e)| e.lo == WAITING && left(row) >= 0)
        })
    }
}

impl Property for Settles {
    fn name(&self) -> &'static str {
        "settles"
    }

    fn changed(&mut self) {
        self.0.changed();
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        if Settles::ahead(device) { Ok(()) } else { self.0.settled(device) }
    }
}

/// A host gets the frame that the other host sent: nothing of ConWeave is in it.
#[derive(Clone, Copy, Debug)]
struct HostsSeeNothing;

impl Property for HostsSeeNothing {
    fn name(&self) -> &'static str {
        "hosts_see_nothing"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        let came = read(from.bytes).filter(|f| f.header.opcode == opcode::DATA);
        let Some((came, left)) = came.zip(read(packet.bytes)) else { return Ok(()) };
        let stripped = left.header.opcode == 0;
        if stripped && left.header != Header::default() {
            return Err(format!("its reserved bits are {:?}", left.header));
        }
        if stripped && packet.bytes.len() + HEADER_LEN != from.bytes.len() {
            let (found, expected) = (packet.bytes.len(), from.bytes.len() - HEADER_LEN);
            return Err(format!("found {found} bytes, expected {expected}"));
        }
        if stripped && left.psn != came.psn {
            return Err(format!("found sequence number {}, expected {}", left.psn, came.psn));
        }
        Ok(())
    }
}

/// As the general property of this name. The lengths in a frame with ConWeave's header are those of the host's frame
/// (model: conweave §1.16, gotcha F), so a frame whose lengths count the header is none that a ToR sent.
#[derive(Clone, Copy, Debug)]
struct WellFormed;

impl Property for WellFormed {
    fn name(&self) -> &'static str {
        "well_formed"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        let Err(text) = well_formed(packet.bytes) else { return Ok(()) };
        let header = if read(from.bytes).is_some_and(|f| f.header.opcode != 0) { HEADER_LEN } else { 0 };
        let of_host = from.bytes.len().checked_sub(header).and_then(|len| from.bytes.get(..len));
        match of_host.map(well_formed) {
            Some(Ok(())) => Err(text),
            _ => Ok(()),
        }
    }
}

/// As the general property of this name, of packets that neither come nor leave with ConWeave's header: RoCEv2 has no UDP
/// check sum, so nothing keeps one right that hosts put in all the same.
#[derive(Clone, Copy, Debug)]
struct L4Checksum;

impl Property for L4Checksum {
    fn name(&self) -> &'static str {
        "l4_checksum"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from else { return Ok(()) };
        let marked = |bytes: &[u8]| read(bytes).is_some_and(|f| f.header != Header::default());
        if marked(from.bytes) || marked(packet.bytes) {
            return Ok(());
        }
        property::L4Checksum.left(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(tag: u64, epoch: u8, phase: u8, path: u8, ask: bool, tail: bool) -> (u64, Option<Header>) {
        let header = Header { path, opcode: 1, phase, epoch, ask_reply: ask, tail, ts_tx: 0, ts_tail: 0 };
        (tag, Some(header))
    }

    #[test]
    fn an_epoch_has_two_paths_and_not_three() {
        let good = [
            sent(0, 1, 0, 1, true, false),
            sent(1, 1, 0, 1, true, true),
            sent(2, 1, 1, 3, false, false),
            sent(3, 2, 0, 2, true, false),
        ];
        assert_eq!(TwoPaths::check(&mut good.clone()), Ok(()));
        let mut bad = good.to_vec();
        bad.push(sent(4, 2, 0, 3, false, false));
        assert!(TwoPaths::check(&mut bad).is_err_and(|e| e.contains("found path 3, expected 2")));
        // What was lost between them may have opened four epochs.
        bad.push((4, None));
        bad.swap(4, 5);
        assert_eq!(TwoPaths::check(&mut bad), Ok(()));
    }

    #[test]
    fn packets_from_before_a_change_do_not_count_whenever_they_leave() {
        let mut since = Since::default();
        let packet = |tag| Entered { tag, packet: Origin { port: 8, time: Default::default(), bytes: &[] } };
        since.entered(&packet(0));
        since.changed();
        since.entered(&packet(1));
        assert_eq!([0, 1].map(|tag| since.counts(tag)), [false, true]);
    }

    /// What is found of packets of one flow and path, each with its number and epoch, in the order in which they left.
    fn judged_order(left: &[(u64, u8)]) -> Finding {
        let path = (8, Ipv4Addr::new(10, 0, 2, 1), Ipv4Addr::new(10, 0, 1, 1), 49_152);
        let reached =
            left.iter().map(|(tag, epoch)| Reached { tag: *tag, path, dscp: 0, epoch: *epoch, phase: 1 });
        ReorderFree { reached: reached.collect(), ..ReorderFree::default() }.judge()
    }

    #[test]
    fn another_dscp_may_be_another_queue() {
        let path = (8, Ipv4Addr::new(10, 0, 2, 1), Ipv4Addr::new(10, 0, 1, 1), 49_152);
        let judged = |dscp| {
            let reached =
                [(1, 48), (0, dscp)].map(|(tag, dscp)| Reached { tag, path, dscp, epoch: 2, phase: 0 });
            ReorderFree { reached: reached.into(), ..ReorderFree::default() }.judge()
        };
        assert_eq!(judged(8), Ok(()));
        assert!(judged(48).is_err());
    }

    #[test]
    fn a_tail_does_not_come_behind_what_waits_for_it() {
        let path = (8, Ipv4Addr::new(10, 0, 2, 1), Ipv4Addr::new(10, 0, 1, 1), 49_152);
        let reached = |tail| {
            let sent = [sent(1, 2, 1, 1, false, tail), sent(0, 2, 1, 3, false, false)];
            let reached =
                sent.iter().filter_map(|(tag, header)| Some(Reached::new(*tag, path, 0, header.as_ref()?)));
            ReorderFree { reached: reached.collect(), ..ReorderFree::default() }.judge()
        };
        assert_eq!(reached(true), Ok(()));
        assert!(reached(false).is_err());
    }

    #[test]
    fn an_epoch_of_the_same_two_bits_is_another_one() {
        assert_eq!(judged_order(&[(0, 1), (1, 1), (2, 1)]), Ok(()));
        assert!(
            judged_order(&[(0, 1), (2, 1), (1, 1)])
                .is_err_and(|text| text.starts_with("packet 1 of epoch 1"))
        );
        // Between the two epochs 1 was an epoch 3: what came first may leave last.
        assert_eq!(judged_order(&[(3, 1), (2, 3), (1, 1)]), Ok(()));
        // What is one behind is of the epoch before, and in order with that alone.
        assert_eq!(judged_order(&[(0, 1), (2, 2), (1, 1), (3, 1)]), Ok(()));
        assert!(judged_order(&[(0, 1), (1, 2), (3, 1), (2, 1)]).is_err());
    }
}
