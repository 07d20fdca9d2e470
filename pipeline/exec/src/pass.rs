//! One pass of a packet through one gress: its input, its result, and the executor's interface.

use crate::cover::Coverage;
use crate::packet::{Packet, PacketStore};
use sluice_asic::counter::{CounterEntry, CounterLayout};
use sluice_asic::gress::Gress;
use sluice_asic::random::RandomStream;
use sluice_asic::salu::{Constant, State as Element};
use sluice_asic::tm::MirrorMetadata;
use sluice_asic::units::Bytes;
use sluice_control::cells::Cells;
use sluice_control::{ControlState, Entry, EntryId};
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::meter_array::{MeterArray, Origin};
use sluice_ir::{
    Counter, Intrinsic, Label, Meter, Profile, Program, Random, Register, RegisterData, Table, ValueSet,
};

/// Intrinsic metadata that the device gives to a pass. Timestamps are in ns; the executor takes the low bits that the chip
/// has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassIn {
    /// Ingress: dev_port on which the packet arrived. Egress: dev_port on which it leaves.
    pub port: u16,
    /// Time of the first bit at the ingress MAC (ingress only).
    pub mac_tstamp: u64,
    /// Time at which the PHV enters the gress.
    pub global_tstamp: u64,
    /// Egress: queue depth at enqueue, in cells.
    pub enq_qdepth: u32,
    /// Egress: time of enqueue.
    pub enq_tstamp: u32,
    /// Egress: queue depth at dequeue, in cells.
    pub deq_qdepth: u32,
    /// Egress: time in the queue.
    pub deq_timedelta: u32,
    /// Egress: queue.
    pub qid: u8,
    /// Ingress: true in the pass after a resubmit.
    pub resubmitted: bool,
    /// Egress: replication id of the multicast node that made the copy; 0 for other packets.
    pub rid: u16,
    /// Egress: true for the first copy of its multicast node.
    pub rid_first: bool,
    /// Egress: class of service that the packet had in ingress.
    pub cos: u8,
    /// Egress: true if the packet was deflected.
    pub deflected: bool,
    /// Egress: of a deflected packet, the port and queue at which it would have been dropped.
    pub enq_congest_stat: u8,
}

/// Verdict of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet continues: from ingress to a port and queue, from egress to the wire.
    Forward,
    /// The program dropped or consumed the packet.
    Label(Label),
    /// Parsing failed; bits as in `parser_err` (model: chip §10).
    ParserError(u16),
    /// Ingress wrote neither an egress port nor a multicast group.
    NoPort,
    /// The packet enters ingress again, with its original bytes after the resubmit header.
    Resubmit,
    /// The emitted headers do not fit in the packet's head slot.
    NoRoom,
}

/// Results of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassOut {
    /// Verdict.
    pub verdict: Verdict,
    /// Ingress: `ucast_egress_port`.
    pub port: u16,
    /// Ingress: `qid`.
    pub qid: u8,
    /// Ingress: `ingress_cos`.
    pub cos: u8,
    /// Parser cycles of the packet's parse path.
    pub parser_cycles: u16,
    /// Ingress: `bypass_egress`.
    pub bypass: bool,
    /// Ingress: `deflect_on_drop`.
    pub deflect: bool,
    /// Ingress: `packet_color`, two bits.
    pub colour: u8,
}

impl Default for PassOut {
    fn default() -> Self {
        PassOut {
            verdict: Verdict::Forward,
            port: 0,
            qid: 0,
            cos: 0,
            parser_cycles: 0,
            bypass: false,
            deflect: false,
            colour: 0,
        }
    }
}

/// A packet in a gress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Packet; its bytes are rewritten in place.
    pub packet: Packet,
    /// Input, set by the device.
    pub input: PassIn,
    /// Results, set by the executor.
    pub output: PassOut,
}

impl Pass {
    /// Returns a pass that has not run.
    #[must_use]
    pub fn new(packet: Packet, input: PassIn) -> Self {
        Pass { packet, input, output: PassOut::default() }
    }
}

/// A copy, digest or request that a deparser made in addition to the packet of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Pass that made it, as index in the batch.
    pub pass: u32,
    /// Product.
    pub kind: MadeKind,
}

/// Products of deparsers in addition to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeKind {
    /// Copy for a mirror session, with its mirror header in front and not yet truncated.
    Mirror {
        /// Mirror session.
        session: u16,
        /// Bytes of the mirror header.
        header: u16,
        /// Values that replace parameters of the session, if the session lets packets override them.
        packet: MirrorMetadata,
        /// Copy.
        copy: Packet,
    },
    /// Digest for the control plane.
    Digest {
        /// `digest_type`.
        kind: u8,
        /// Bytes of the digest, as a packet.
        data: Packet,
    },
    /// Request to the replication engine: multicast groups, or a copy to the CPU.
    Multicast(McastRequest),
    /// Flow-control word for a queue (`adv_flow_ctl`).
    FlowControl(u32),
    /// Request to the packet generator.
    Pktgen(PktgenRequest),
}

/// Request of a deparser to its pipe's packet generator (Tofino 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PktgenRequest {
    /// Bytes that the generator's applications compare.
    pub key: [u8; 16],
    /// `pktgen_address`: start of the packet's bytes in the generator's buffer.
    pub address: u16,
    /// `pktgen_length`: number of these bytes.
    pub length: u16,
}

impl PktgenRequest {
    /// Returns the request with the first sixteen bytes of a header.
    pub(crate) fn new(header: &[u8], address: u16, length: u16) -> PktgenRequest {
        let mut key = [0; 16];
        key.iter_mut().zip(header).for_each(|(to, from)| *to = *from);
        PktgenRequest { key, address, length }
    }
}

/// Prepends the header of a request to a packet. A packet without room gets its headroom back first, which is larger than
/// any such header.
pub(crate) fn put_in_front(packets: &mut PacketStore, packet: Packet, header: &[u8]) {
    if !packets.replace_front(packet, 0, header) {
        packets.settle(packet);
        packets.replace_front(packet, 0, header);
    }
}

/// Request of a packet to the replication engine (model: tm §9; chip §10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McastRequest {
    /// `mcast_grp_a` and `mcast_grp_b`; 0 = no group.
    pub groups: [u16; 2],
    /// `level1_exclusion_id`.
    pub level1_exclusion: u16,
    /// `level2_exclusion_id`.
    pub level2_exclusion: u16,
    /// `rid`.
    pub rid: u16,
    /// `copy_to_cpu`: class of service of that copy; `None`: no copy.
    pub cpu: Option<u8>,
    /// `level1_mcast_hash` and `level2_mcast_hash`.
    pub hashes: [u16; 2],
}

/// One counter cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets counted.
    pub packets: u64,
    /// Bytes counted.
    pub bytes: u64,
}

impl Count {
    /// Counts a packet of this length as the cell layout prescribes.
    #[inline]
    pub fn count(&mut self, layout: CounterLayout, bytes: u32) {
        let mut entry = CounterEntry { packets: self.packets, bytes: self.bytes };
        entry.count(layout, Bytes(bytes.into()));
        (self.packets, self.bytes) = (entry.packets, entry.bytes);
    }
}

/// State of a program in one pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// One array per counter; direct counters are indexed by entry.
    pub counters: EntityMap<Counter, Cells<Count>>,
    /// One array per register.
    pub registers: EntityMap<Register, Cells<Element>>,
    /// Parameters of each register, by position.
    pub params: EntityMap<Register, [u32; Constant::PARAMS]>,
    /// For each table that ages, the sweeps since the last hit of each entry; empty for other tables.
    pub ages: EntityMap<Table, Vec<u8>>,
    /// For each table, the lookups without a matching entry, then those that matched the entry of each slot; empty unless
    /// [`State::count_hits`] was called.
    pub hits: EntityMap<Table, Vec<u64>>,
    /// One array per meter, low-pass filter or WRED.
    pub meters: EntityMap<Meter, MeterArray>,
    /// For each register that is being cleared, the output word that packets read meanwhile.
    pub busy: EntityMap<Register, Option<u32>>,
    /// One stream per random number generator. Every pass of its gress takes one number, in entry order, used or not.
    pub randoms: EntityMap<Random, RandomStream>,
}

impl State {
    /// Returns the initial state of a pipe: counters at zero, registers at their initial value, meters as the program
    /// configures them.
    #[must_use]
    pub fn new(program: &Program, origin: &Origin) -> State {
        let counters = program.counters.values();
        let counters = counters.map(|c| Cells::new(program.cells(c.home) as usize, Count::default()));
        let registers = program.registers.values();
        let registers = registers.map(|r| Cells::new(program.cells(r.home) as usize, r.first()));
        let (counters, registers) = (counters.collect(), registers.collect());
        State { counters, registers, ..State::without_arrays(program, origin) }
    }

    /// Returns the initial state without registers and counters.
    fn without_arrays(program: &Program, origin: &Origin) -> State {
        let first = |r: &RegisterData| std::array::from_fn(|n| r.params.get(n).map_or(0, |p| p.init));
        let params = program.registers.values().map(first).collect();
        let meters = program.meters.iter();
        let meters = meters
            .map(|(m, data)| MeterArray::new(data, program.cells(data.home), m.index() as u32, origin))
            .collect();
        let ages =
            program.tables.values().map(|t| vec![0; if t.idle.is_some() { t.size as usize } else { 0 }]);
        let randoms = program.randoms.iter().map(|(r, data)| origin.stream(data.gress, r.index() as u32));
        let busy = program.registers.values().map(|_| None).collect();
        let hits = program.tables.values().map(|_| Vec::new()).collect();
        let (ages, randoms) = (ages.collect(), randoms.collect());
        State { params, ages, hits, meters, busy, randoms, ..State::default() }
    }

    /// Returns the initial state in the memory of an old state, best of the same program: of its large arrays only cells
    /// that were written are reset.
    #[must_use]
    pub fn again(mut self, program: &Program, origin: &Origin) -> State {
        fn refill<T: Copy + Default + PartialEq>(
            old: Option<&mut Cells<T>>,
            cells: u32,
            first: T,
        ) -> Cells<T> {
            old.map(std::mem::take).unwrap_or_default().again(cells as usize, first)
        }
        let (mut old_counters, mut old_registers) = (self.counters.values_mut(), self.registers.values_mut());
        let counters = program.counters.values();
        let counters = counters.map(|c| refill(old_counters.next(), program.cells(c.home), Count::default()));
        let registers = program.registers.values();
        let registers = registers.map(|r| refill(old_registers.next(), program.cells(r.home), r.first()));
        let (counters, registers) = (counters.collect(), registers.collect());
        State { counters, registers, ..State::without_arrays(program, origin) }
    }
}

/// Most passes of one batch: one bit each in a `u64`.
pub const MAX_BATCH: usize = 64;

/// Update of a queue's depth for the ghost control (Tofino 2; model: tm §6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GhostUpdate {
    /// `ping_pong`: changes with every update.
    pub ping_pong: bool,
    /// `qlength`: queue depth in cells.
    pub qlength: u32,
    /// `qid`: MAC, and queue of the MAC.
    pub qid: u16,
    /// `pipe_id`: pipe of the queue.
    pub pipe: u8,
}

impl GhostUpdate {
    /// Returns the value of a field of the ghost control; zero for any other field.
    #[must_use]
    pub(crate) const fn field(&self, which: Intrinsic) -> u32 {
        match which {
            Intrinsic::GhostPingPong => self.ping_pong as u32,
            Intrinsic::GhostQlength => self.qlength,
            Intrinsic::GhostQid => self.qid as u32,
            Intrinsic::GhostPipeId => self.pipe as u32,
            _ => 0,
        }
    }
}

/// Executor of passes: the reference interpreter or the engine. A device owns it as `Box<dyn Executor>`, so that the device is
/// compiled once for all executors.
pub trait Executor: Send {
    /// Runs up to [`MAX_BATCH`] passes of one gress in entry order.
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore);

    /// Runs the ghost control on an update, between batches of ingress.
    fn ghost(&mut self, update: &GhostUpdate);

    /// Returns the copies, digests and requests of the last batch, ascending by pass. Within a pass they are in the order
    /// of requests, except that flow-control words come first, egress mirror copies after all others, and multicast last.
    /// The caller empties the list; the next batch starts with an empty one.
    fn made(&mut self) -> &mut Vec<Made>;

    /// Notifies the executor that this table has changed; `control` is the new configuration.
    fn table_changed(&mut self, table: Table, control: &ControlState);

    /// Notifies the executor that this action profile has changed.
    fn profile_changed(&mut self, profile: Profile, control: &ControlState);

    /// Notifies the executor that one entry was added, changed or deleted; `was` is the old entry, `None` if the entry is
    /// new. Nothing else of the table has changed.
    fn entry_changed(&mut self, table: Table, entry: EntryId, was: Option<&Entry>, control: &ControlState) {
        let _ = (entry, was);
        self.table_changed(table, control);
    }

    /// Notifies the executor that only the default action of this table has changed.
    fn default_changed(&mut self, table: Table, control: &ControlState) {
        self.table_changed(table, control);
    }

    /// Notifies the executor that one member of this profile has changed.
    fn member_changed(&mut self, profile: Profile, member: u32, control: &ControlState) {
        let _ = member;
        self.profile_changed(profile, control);
    }

    /// Notifies the executor that one group of this profile has changed.
    fn group_changed(&mut self, profile: Profile, group: u32, control: &ControlState) {
        let _ = group;
        self.profile_changed(profile, control);
    }

    /// Notifies the executor that port metadata has changed.
    fn port_metadata_changed(&mut self, control: &ControlState);

    /// Notifies the executor that members of this value set were added or removed.
    fn value_set_changed(&mut self, set: ValueSet, control: &ControlState);

    /// Returns the state of the program.
    fn state(&self) -> &State;

    /// Returns the state of the program, for writes of the control plane.
    fn state_mut(&mut self) -> &mut State;

    /// Exchanges the state of the program for that of another pipe, without a copy.
    fn swap_state(&mut self, state: &mut Box<State>);

    /// Runs passes as [`run`](Self::run) does on the state of a pipe, and exchanges the lists of what the batch made. A
    /// switch makes this one call for each batch, which may hold one packet.
    fn run_on(
        &mut self,
        state: &mut Box<State>,
        gress: Gress,
        batch: &mut [Pass],
        packets: &mut PacketStore,
        made: &mut Vec<Made>,
    ) {
        self.swap_state(state);
        self.run(gress, batch, packets);
        self.swap_state(state);
        std::mem::swap(self.made(), made);
    }

    /// Returns a copy with the same entries, for a pipe whose entries will differ from those of other pipes; `None` if the
    /// executor cannot be copied.
    fn fork<'e>(&self) -> Option<Box<dyn Executor + 'e>>
    where
        Self: 'e,
    {
        None
    }

    /// Adds the coverage since the last call; adds nothing if the executor does not count coverage.
    fn take_coverage(&mut self, coverage: &mut Coverage) {
        let _ = coverage;
    }
}

/// A borrowed executor is an executor, so that its owner has it back when the device is dropped.
impl<E: Executor + ?Sized> Executor for &mut E {
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        (**self).run(gress, batch, packets);
    }

    fn ghost(&mut self, update: &GhostUpdate) {
        (**self).ghost(update);
    }

    fn made(&mut self) -> &mut Vec<Made> {
        (**self).made()
    }

    fn table_changed(&mut self, table: Table, control: &ControlState) {
        (**self).table_changed(table, control);
    }

    fn profile_changed(&mut self, profile: Profile, control: &ControlState) {
        (**self).profile_changed(profile, control);
    }

    fn entry_changed(&mut self, table: Table, entry: EntryId, was: Option<&Entry>, control: &ControlState) {
        (**self).entry_changed(table, entry, was, control);
    }

    fn default_changed(&mut self, table: Table, control: &ControlState) {
        (**self).default_changed(table, control);
    }

    fn member_changed(&mut self, profile: Profile, member: u32, control: &ControlState) {
        (**self).member_changed(profile, member, control);
    }

    fn group_changed(&mut self, profile: Profile, group: u32, control: &ControlState) {
        (**self).group_changed(profile, group, control);
    }

    fn port_metadata_changed(&mut self, control: &ControlState) {
        (**self).port_metadata_changed(control);
    }

    fn value_set_changed(&mut self, set: ValueSet, control: &ControlState) {
        (**self).value_set_changed(set, control);
    }

    fn state(&self) -> &State {
        (**self).state()
    }

    fn state_mut(&mut self) -> &mut State {
        (**self).state_mut()
    }

    fn swap_state(&mut self, state: &mut Box<State>) {
        (**self).swap_state(state);
    }

    fn run_on(
        &mut self,
        state: &mut Box<State>,
        gress: Gress,
        batch: &mut [Pass],
        packets: &mut PacketStore,
        made: &mut Vec<Made>,
    ) {
        (**self).run_on(state, gress, batch, packets, made);
    }

    fn take_coverage(&mut self, coverage: &mut Coverage) {
        (**self).take_coverage(coverage);
    }
}
