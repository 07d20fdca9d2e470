//! Model of SrcToR in plain Rust: the paper's decision on every DATA packet, and the verdict on every reply (model:
//! conweave §1.2 to §1.5).
//!
//! The timestamp in ConWeave's header is the clock that the program read, so the model knows the time of a DATA packet
//! to the tick. The time of a reply is known to within [`MARGIN`]; what depends on less is not judged.

use super::Params;
use super::model::{Role, TorFlow, TorModel};
use super::wire::{Header, opcode, read};
use crate::model::Entries;
use sluice_asic::units::Time;
use sluice_switch::property::{Departed, Ended, Entered, Finding, Property, Settled};
use std::collections::BTreeMap;

/// Picoseconds of a tick.
const TICK: u64 = 1_024_000;
/// Picoseconds that a device's clock shows at time zero.
const CLOCK_ORIGIN: u64 = 1_000_000_000_000;
/// Largest number of ticks from arrival to the program's clock on ports of usual speed.
const MARGIN: u32 = 2;
/// Congestion experienced.
const CE: u8 = 3;

/// A packet that arrived.
#[derive(Clone, Debug)]
struct Arrived {
    port: u16,
    time: Time,
    bytes: Vec<u8>,
    /// ConWeave's header of the sent packet.
    sent: Option<Header>,
    /// Name of the reason and time, if the packet ended inside.
    ended: Option<(String, Time)>,
}

/// `epochs_as_modelled`: epochs, phases, paths and timestamps of sent DATA follow from the times of DATA and replies, as in the
/// paper's decision table; a reply ends an epoch if the reply is of this epoch and phase and in time. Not judged: runs in
/// which entries change, and races of less than two ticks.
#[derive(Clone, Debug)]
pub(super) struct Epochs {
    p: Params,
    packets: Vec<Arrived>,
    changed: bool,
}

/// Largest number of packets that are kept per run.
const MOST: usize = 1 << 16;

impl Epochs {
    /// Returns the model for these parameters.
    pub(super) fn new(p: &Params) -> Epochs {
        Epochs { p: p.clone(), packets: Vec::new(), changed: false }
    }
}

/// State of a flow at SrcToR.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Time of the last DATA, ticks.
    last: u32,
    epoch: u8,
    /// 1 after TAIL.
    phase: u8,
    /// Time of TAIL in this epoch; 0 = none.
    tail: u16,
    /// PathID; `None` if a move has just chosen another one.
    path: Option<u8>,
    /// Time until which a reply is timely; `None`: no reply is waited for.
    deadline: Option<u32>,
    /// True if a reply ended the epoch.
    ended: bool,
    /// True if a reply may have come at nearly the same time as the last DATA, so that the next packet may open an epoch or
    /// not.
    raced: bool,
}

/// An event of a flow.
#[derive(Clone, Debug)]
enum Event {
    Data {
        now: u32,
        header: Header,
        port: u16,
    },
    /// DATA whose fate is not known, so that the flow's state is not.
    Lost,
    Reply {
        done: bool,
        header: Header,
    },
}

/// Returns the tick of a time.
fn tick(time: Time) -> u32 {
    ((time.as_ps() + CLOCK_ORIGIN) / TICK) as u32
}

/// Returns true if a tick is later than another.
fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Epochs {
    /// Returns the events of each flow by time, and true if some path may be busy. `None`: a port is slow.
    #[allow(clippy::type_complexity, reason = "one caller")]
    fn events(
        &self,
        entries: &Entries<'_>,
    ) -> Result<Option<(BTreeMap<u128, (TorFlow, Vec<(u32, u64, Event)>)>, bool)>, String> {
        let tor = TorModel { pipe: self.p.pipe as u16 };
        let mut flows: BTreeMap<u128, (TorFlow, Vec<(u32, u64, Event)>)> = BTreeMap::new();
        let mut busy = false;
        for (tag, packet) in (0u64..).zip(&self.packets) {
            if read(&packet.bytes).is_none() && packet.bytes.len() < 58 {
                continue;
            }
            let Some(routed) = tor.routed(entries, packet.port, &packet.bytes) else { continue };
            let came = tick(packet.time);
            let (flow, time, event) = match (routed.role, &packet.sent, &packet.ended) {
                (Role::Source(flow), Some(header), _) => {
                    let late = header.ts_tx.wrapping_sub(came as u16);
                    if header.opcode != opcode::DATA {
                        return Err(format!("packet {tag} was sent without ConWeave's header"));
                    }
                    if late > 64 {
                        return Err(format!(
                            "packet {tag} of tick {} has timestamp {}",
                            came as u16, header.ts_tx
                        ));
                    }
                    if u32::from(late) > MARGIN {
                        return Ok(None);
                    }
                    let now = came.wrapping_add(late.into());
                    (flow, now, Event::Data { now, header: *header, port: packet.port })
                }
                (Role::Source(_), None, Some((reason, _))) if is_refused(reason) => continue,
                (Role::Source(flow), ..) => (flow, came, Event::Lost),
                (Role::Reply(Some(flow)), None, Some((reason, end))) => {
                    let Some(frame) = read(&packet.bytes) else { continue };
                    busy |= frame.header.opcode == opcode::NOTIFY || frame.header.phase == 0;
                    let done = match reason.as_str() {
                        "reply_done" => true,
                        "reply_late" => false,
                        reason if is_refused(reason) || reason == "notify_done" => continue,
                        _ => return Ok(None),
                    };
                    if tick(*end).wrapping_sub(came) > MARGIN {
                        return Ok(None);
                    }
                    (flow, came, Event::Reply { done, header: frame.header })
                }
                (Role::Reply(Some(_)), ..) => return Ok(None),
                _ => continue,
            };
            flows.entry(flow.row).or_insert((flow, Vec::new())).1.push((time, tag, event));
        }
        Ok(Some((flows, busy)))
    }

    /// Checks the events of one flow, in order of time.
    fn flow(&self, flow: TorFlow, events: &[(u32, u64, Event)], busy: bool) -> Finding {
        let mut state: Option<State> = None;
        // Before the first DATA all registers are 0.
        let mut fresh = true;
        for (at, (time, tag, event)) in events.iter().enumerate() {
            let near = |other: &(u32, u64, Event)| time.abs_diff(other.0) <= MARGIN;
            match event {
                Event::Lost => (state, fresh) = (None, false),
                Event::Data { now, header, port } => {
                    let other_port = |other: &&(u32, u64, Event)| {
                        near(other) && matches!(&other.2, Event::Data { port: p, .. } if p != port)
                    };
                    let raced = events[..at].iter().rev().take_while(|o| near(o)).any(|o| other_port(&o))
                        || events[at + 1..].iter().take_while(|o| near(o)).any(|o| other_port(&o));
                    if raced {
                        (state, fresh) = (None, false);
                        continue;
                    }
                    let next = match state {
                        _ if fresh => Some(self.opens(*tag, header, *now, flow, 1)?),
                        Some(state) if !state.raced => {
                            Some(self.data(*tag, header, *now, flow, state, busy)?)
                        }
                        _ => None,
                    };
                    fresh = false;
                    state = next.or_else(|| known(header, *now, flow));
                }
                Event::Reply { done, header } => {
                    let data_near = events[..at]
                        .iter()
                        .rev()
                        .take_while(|o| near(o))
                        .any(|o| !matches!(o.2, Event::Reply { .. }))
                        || events[at + 1..]
                            .iter()
                            .take_while(|o| near(o))
                            .any(|o| !matches!(o.2, Event::Reply { .. }));
                    let reply_near = events[..at]
                        .iter()
                        .rev()
                        .take_while(|o| near(o))
                        .any(|o| matches!(o.2, Event::Reply { .. }));
                    if data_near || reply_near {
                        if let Some(state) = &mut state {
                            state.raced = true;
                        }
                        continue;
                    }
                    if fresh && *done && header.phase == 0 {
                        return Err(format!("packet {tag}, a reply, ended an epoch before any DATA"));
                    }
                    if let Some(state) = state.as_mut().filter(|state| !state.raced) {
                        self.reply(*tag, *time, *done, header, state)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks DATA that opens an epoch.
    fn opens(&self, tag: u64, header: &Header, now: u32, flow: TorFlow, epoch: u8) -> Result<State, String> {
        let expected = Header {
            path: header.path,
            opcode: opcode::DATA,
            phase: 0,
            epoch,
            ask_reply: true,
            tail: false,
            ts_tx: header.ts_tx,
            ts_tail: 0,
        };
        differs(tag, header, &expected)?;
        let deadline = Some(now.wrapping_add(flow.reply as u32));
        let path = Some(header.path);
        Ok(State { last: now, epoch, phase: 0, tail: 0, path, deadline, ended: false, raced: false })
    }

    /// Checks DATA after other DATA: the paper's decision table.
    fn data(
        &self,
        tag: u64,
        header: &Header,
        now: u32,
        flow: TorFlow,
        state: State,
        busy: bool,
    ) -> Result<State, String> {
        let silent = now.wrapping_sub(state.last) > self.p.inactive;
        if silent || state.ended {
            let next = self.opens(tag, header, now, flow, (state.epoch + 1) & 3)?;
            // Only silence lets a flow move at once.
            return match state.path {
                Some(path) if !silent && path != 0 && path != header.path => {
                    Err(format!("packet {tag} took path {}, expected {path} as before", header.path))
                }
                _ => Ok(next),
            };
        }
        let late = state.deadline.is_some_and(|deadline| after(now, deadline));
        let moves = late && (header.tail || !busy && header.path != 0);
        let expected = Header {
            path: state.path.filter(|path| *path != 0).unwrap_or(header.path),
            opcode: opcode::DATA,
            phase: if moves { 0 } else { state.phase },
            epoch: state.epoch,
            ask_reply: moves,
            tail: moves,
            ts_tx: header.ts_tx,
            ts_tail: if moves { header.ts_tx } else { state.tail },
        };
        differs(tag, header, &expected)?;
        let mut next = State { last: now, path: Some(header.path), raced: false, ..state };
        if moves {
            next = State { phase: 1, tail: header.ts_tx, path: None, deadline: None, ..next };
        }
        Ok(next)
    }

    /// Checks a reply, and ends the epoch if the reply does.
    fn reply(&self, tag: u64, time: u32, done: bool, header: &Header, state: &mut State) -> Finding {
        let agrees = header.epoch == state.epoch && header.phase == state.phase && !state.ended;
        let near = state.deadline.is_some_and(|deadline| time.abs_diff(deadline) <= MARGIN + 1);
        let timely = header.phase == 1 || state.deadline.is_some_and(|deadline| !after(time, deadline));
        if near && header.phase == 0 || state.ended {
            (state.ended, state.raced) = (state.ended || done, !state.ended && !done || state.raced);
        } else if done != (agrees && timely) {
            let (found, epoch, phase) =
                (if done { "ended the epoch" } else { "was late" }, state.epoch, state.phase);
            return Err(format!(
                "packet {tag}, a reply of epoch {} and phase {}, {found}; the flow is in epoch {epoch}, phase {phase}",
                header.epoch, header.phase
            ));
        }
        if done {
            (state.ended, state.deadline) = (true, None);
        }
        Ok(())
    }
}

/// Returns the state that a header shows; `None` if it does not show all of it.
fn known(header: &Header, now: u32, flow: TorFlow) -> Option<State> {
    // The deadline of an epoch that is open is that of its first packet.
    let opens = header.ask_reply && !header.tail;
    opens.then(|| State {
        last: now,
        epoch: header.epoch,
        phase: 0,
        tail: 0,
        path: Some(header.path),
        deadline: Some(now.wrapping_add(flow.reply as u32)),
        ended: false,
        raced: false,
    })
}

/// Returns true for a reason for which a packet ends before the flow's state is looked up.
fn is_refused(reason: &str) -> bool {
    matches!(reason, "bad_checksum" | "ttl_expired" | "no_route" | "foreign" | "parser_partial_header")
}

fn differs(tag: u64, found: &Header, expected: &Header) -> Finding {
    if found == expected {
        return Ok(());
    }
    Err(format!("packet {tag} was sent with {found:?}, expected {expected:?}"))
}

impl Property for Epochs {
    fn name(&self) -> &'static str {
        "epochs_as_modelled"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        if self.packets.len() < MOST && !self.changed {
            let origin = packet.packet;
            let bytes = origin.bytes.to_vec();
            self.packets.push(Arrived {
                port: origin.port,
                time: origin.time,
                bytes,
                sent: None,
                ended: None,
            });
        }
        Ok(())
    }

    fn changed(&mut self) {
        self.changed = true;
        self.packets.clear();
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        if packet.left.made && self.changed {
            return Ok(());
        }
        if packet.left.made {
            return packet.from.map_or(Ok(()), |from| answer(&self.p, from.bytes, packet.bytes));
        }
        let tag = usize::try_from(packet.left.tag).unwrap_or(usize::MAX);
        if let Some(arrived) = self.packets.get_mut(tag) {
            arrived.sent = read(packet.bytes).map(|frame| frame.header);
        }
        Ok(())
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        let tag = usize::try_from(packet.lost.tag).unwrap_or(usize::MAX);
        if let Some(arrived) = self.packets.get_mut(tag) {
            arrived.ended.get_or_insert((packet.reason.to_owned(), packet.lost.time));
        }
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let run = std::mem::replace(self, Epochs::new(&self.p));
        if run.changed || device.held > 0 {
            return Ok(());
        }
        let entries = Entries::new(device.program, device.control);
        let Some((mut flows, busy)) = run.events(&entries)? else { return Ok(()) };
        for (flow, events) in flows.values_mut() {
            events.sort_by_key(|(time, tag, _)| (*time, *tag));
            run.flow(*flow, events, busy)?;
        }
        Ok(())
    }
}

/// Checks a control packet that DstToR made of a DATA packet.
fn answer(p: &Params, data: &[u8], made: &[u8]) -> Finding {
    let (Some(came), Some(sent)) = (read(data), read(made)) else {
        return Err("a copy was sent that is no control packet".to_owned());
    };
    let is = |ok: bool, what: &str| if ok { Ok(()) } else { Err(format!("a control packet has {what}")) };
    is(made.len() == 58, "a length other than 58 bytes")?;
    is(made[..6] == data[6..12] && made[6..12] == data[..6], "other MAC addresses than the sender's")?;
    is(sent.src == came.dst && sent.dst == came.src, "other IP addresses than the sender's")?;
    is(made[34..38] == data[34..38], "other UDP ports than DATA")?;
    is(u32::from(made[15]) == p.control_dscp << 2, "another DSCP or ECN than control packets")?;
    is(made[16..18] == [0, 44] && made[38..42] == [0, 24, 0, 0], "wrong lengths or a UDP checksum")?;
    is(made[22] == 64, "a TTL other than 64")?;
    let header = sent.header;
    is(
        header.epoch == came.header.epoch && header.path == came.header.path,
        "another epoch or path than DATA",
    )?;
    is(!header.ask_reply && !header.tail, "a flag of DATA")?;
    is(
        made[43] == if header.opcode == opcode::REPLY && header.phase == 0 { came.ecn } else { 0 },
        "wrong flags",
    )?;
    let asks = came.header.ask_reply && !came.header.tail && came.header.phase == 0;
    match (header.opcode, header.phase) {
        (opcode::REPLY, 0) => is(asks, "the form of an RTT_REPLY, but DATA asked for none"),
        (opcode::REPLY, _) => Ok(()),
        (opcode::NOTIFY, _) => is(came.ecn == CE, "the form of a NOTIFY, but DATA met no congestion"),
        _ => is(false, "an opcode that is neither REPLY nor NOTIFY"),
    }
}
