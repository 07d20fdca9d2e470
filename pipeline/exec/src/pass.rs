//! One pass of a packet through one gress: what goes in, what comes out, and who executes it.

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
use sluice_ir::{Counter, Intrinsic, Label, Meter, Profile, Program, Random, Register, RegisterData, Table};

/// Intrinsic metadata that the device gives to a pass. Stamps are in ns; the executor takes the low bits
/// that the chip has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassIn {
    /// Ingress: the dev_port that the packet came in by. Egress: the one that it leaves by.
    pub port: u16,
    /// When the first bit reached the ingress MAC (ingress only).
    pub mac_tstamp: u64,
    /// When the PHV enters the gress.
    pub global_tstamp: u64,
    /// Egress: depth in cells found at enqueue.
    pub enq_qdepth: u32,
    /// Egress: time of enqueue.
    pub enq_tstamp: u32,
    /// Egress: depth in cells left at dequeue.
    pub deq_qdepth: u32,
    /// Egress: time in the queue.
    pub deq_timedelta: u32,
    /// Egress: the queue.
    pub qid: u8,
    /// Ingress: this is the pass that follows a resubmit.
    pub resubmitted: bool,
    /// Egress: replication id of the multicast node that made the copy, 0 for other packets.
    pub rid: u16,
    /// Egress: the first copy of its node.
    pub rid_first: bool,
    /// Egress: class of service that the packet had at ingress.
    pub cos: u8,
    /// Egress: the packet was deflected.
    pub deflected: bool,
    /// Egress: of a deflected packet, where it would have been dropped.
    pub enq_congest_stat: u8,
}

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet goes on: ingress to a port and queue, egress to the wire.
    Forward,
    /// The program dropped or consumed it.
    Label(Label),
    /// The parser gave up; bits as in `parser_err` (model: chip §10).
    ParserError(u16),
    /// Ingress wrote neither an egress port nor a multicast group.
    NoPort,
    /// Ingress once more, with the bytes that the packet came with behind the resubmitted header.
    Resubmit,
    /// The headers to emit do not fit in the packet's head slot.
    NoRoom,
}

/// What comes out of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassOut {
    /// How it ended.
    pub verdict: Verdict,
    /// Ingress: `ucast_egress_port`.
    pub port: u16,
    /// Ingress: `qid`.
    pub qid: u8,
    /// Ingress: `ingress_cos`.
    pub cos: u8,
    /// Parser cycles of the path that the packet took.
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

/// A packet on its way through a gress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The packet; its bytes are rewritten in place.
    pub packet: Packet,
    /// Given by the device.
    pub input: PassIn,
    /// Filled by the executor.
    pub output: PassOut,
}

impl Pass {
    /// A pass about to run.
    #[must_use]
    pub fn new(packet: Packet, input: PassIn) -> Self {
        Pass { packet, input, output: PassOut::default() }
    }
}

/// What a deparser made beside the packet of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The pass: its position in the batch.
    pub pass: u32,
    /// What it is.
    pub kind: MadeKind,
}

/// What deparsers make beside packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeKind {
    /// A copy for a mirror session, with its mirror header in front and not yet truncated.
    Mirror {
        /// The session.
        session: u16,
        /// Bytes of the mirror header.
        header: u16,
        /// What replaces parameters of the session, if that lets packets override them.
        packet: MirrorMetadata,
        /// The copy.
        copy: Packet,
    },
    /// A digest for the control plane.
    Digest {
        /// `digest_type`.
        kind: u8,
        /// Its bytes, as a packet.
        data: Packet,
    },
    /// Multicast: the packet goes to groups, or to the CPU.
    Multicast(McastRequest),
    /// `adv_flow_ctl`: a word for a queue.
    FlowControl(u32),
    /// The packet generator is asked for packets.
    Pktgen(PktgenRequest),
}

/// What a deparser asks of its pipe's packet generator (Tofino 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PktgenRequest {
    /// The bytes that applications compare.
    pub key: [u8; 16],
    /// `pktgen_address`: where the packet's bytes stand in the buffer.
    pub address: u16,
    /// `pktgen_length`: how many they are.
    pub length: u16,
}

impl PktgenRequest {
    /// The request with the bytes of a header, of which the first sixteen count.
    pub(crate) fn new(header: &[u8], address: u16, length: u16) -> PktgenRequest {
        let mut key = [0; 16];
        key.iter_mut().zip(header).for_each(|(to, from)| *to = *from);
        PktgenRequest { key, address, length }
    }
}

/// Puts the header of a request in front of a packet. A packet without room gets its headroom back first,
/// which is larger than any such header.
pub(crate) fn put_in_front(packets: &mut PacketStore, packet: Packet, header: &[u8]) {
    if !packets.replace_front(packet, 0, header) {
        packets.settle(packet);
        packets.replace_front(packet, 0, header);
    }
}

/// What a packet asks of the replication engine (model: tm §9; chip §10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McastRequest {
    /// `mcast_grp_a` and `mcast_grp_b`; 0 is no group.
    pub groups: [u16; 2],
    /// `level1_exclusion_id`.
    pub level1_exclusion: u16,
    /// `level2_exclusion_id`.
    pub level2_exclusion: u16,
    /// `rid`.
    pub rid: u16,
    /// `copy_to_cpu`: the class of service of that copy.
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
    /// Counts a packet of this length as a layout says.
    #[inline]
    pub fn count(&mut self, layout: CounterLayout, bytes: u32) {
        let mut entry = CounterEntry { packets: self.packets, bytes: self.bytes };
        entry.count(layout, Bytes(bytes.into()));
        (self.packets, self.bytes) = (entry.packets, entry.bytes);
    }
}

/// Everything a program remembers between packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// One array per counter; direct counters are indexed by entry.
    pub counters: EntityMap<Counter, Cells<Count>>,
    /// One array per register.
    pub registers: EntityMap<Register, Cells<Element>>,
    /// Parameters of each register, by position.
    pub params: EntityMap<Register, [u32; Constant::PARAMS]>,
    /// Sweeps since the last hit per entry of a table that ages; nothing for other tables.
    pub ages: EntityMap<Table, Vec<u8>>,
    /// One array per meter, filter or WRED.
    pub meters: EntityMap<Meter, MeterArray>,
    /// Of registers that are being cleared at once the output word that packets find meanwhile.
    pub busy: EntityMap<Register, Option<u32>>,
    /// One stream per generator. Every pass of its gress takes one number, in entry order, drawn or not.
    pub randoms: EntityMap<Random, RandomStream>,
}

impl State {
    /// As a pipe starts: counters at zero, registers at their first value, meters as the program configures
    /// them.
    #[must_use]
    pub fn new(program: &Program, origin: &Origin) -> State {
        let counters = program.counters.values();
        let counters = counters.map(|c| Cells::new(program.cells(c.home) as usize, Count::default()));
        let registers = program.registers.values();
        let registers = registers.map(|r| Cells::new(program.cells(r.home) as usize, r.first()));
        let (counters, registers) = (counters.collect(), registers.collect());
        State { counters, registers, ..State::without_arrays(program, origin) }
    }

    /// The same without its two kinds of large arrays.
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
        let (ages, randoms) = (ages.collect(), randoms.collect());
        State { params, ages, meters, busy, randoms, ..State::default() }
    }

    /// As [`State::new`], in the memory of a state that is of no use any more, best one of the same program: of its large
    /// arrays only what was written is worked on.
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

/// An update of a queue's depth for the ghost thread (Tofino 2; model: tm §6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GhostUpdate {
    /// `ping_pong`: flips from one update to the next.
    pub ping_pong: bool,
    /// `qlength`: the depth in cells.
    pub qlength: u32,
    /// `qid`: MAC and queue of the MAC.
    pub qid: u16,
    /// `pipe_id`: the queue's pipe.
    pub pipe: u8,
}

impl GhostUpdate {
    /// The value of a field of the ghost control; zero for any other.
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

/// Executes passes: the reference interpreter and the fast engine.
pub trait Executor {
    /// Runs up to [`MAX_BATCH`] passes of one gress in entry order.
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore);

    /// Runs the ghost control on an update; between batches of ingress, in entry order.
    fn ghost(&mut self, update: &GhostUpdate);

    /// What the last batch made beside its packets, ascending by pass; of one pass in the order of the
    /// requests, but flow control before and copies of what leaves behind all others, and multicast last. The
    /// caller takes it; the next batch begins with an empty list.
    fn made(&mut self) -> &mut Vec<Made>;

    /// The control plane changed this table; `control` is the new state of everything.
    fn table_changed(&mut self, table: Table, control: &ControlState);

    /// The control plane changed this profile.
    fn profile_changed(&mut self, profile: Profile, control: &ControlState);

    /// The control plane added, changed or took out one entry; `was` is the entry as it was before, `None` if it
    /// is new. Everything else about the table is as it was.
    fn entry_changed(&mut self, table: Table, entry: EntryId, was: Option<&Entry>, control: &ControlState) {
        let _ = (entry, was);
        self.table_changed(table, control);
    }

    /// The control plane changed only the default action of this table.
    fn default_changed(&mut self, table: Table, control: &ControlState) {
        self.table_changed(table, control);
    }

    /// The control plane changed one member of this profile.
    fn member_changed(&mut self, profile: Profile, member: u32, control: &ControlState) {
        let _ = member;
        self.profile_changed(profile, control);
    }

    /// The control plane changed one group of this profile.
    fn group_changed(&mut self, profile: Profile, group: u32, control: &ControlState) {
        let _ = group;
        self.profile_changed(profile, control);
    }

    /// The control plane changed port metadata.
    fn port_metadata_changed(&mut self, control: &ControlState);

    /// What the program remembers.
    fn state(&self) -> &State;

    /// What the program remembers, for control-plane writes.
    fn state_mut(&mut self) -> &mut State;

    /// Another one that looks up the same, for a pipe whose entries will differ from those of the others; `None` from one
    /// that cannot be had twice.
    fn fork(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Adds what packets have reached since the last call; nothing from an executor that does not count.
    fn take_coverage(&mut self, coverage: &mut Coverage) {
        let _ = coverage;
    }
}

/// A borrowed executor is one, so that its owner has it back when the device is gone.
impl<E: Executor> Executor for &mut E {
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

    fn state(&self) -> &State {
        (**self).state()
    }

    fn state_mut(&mut self) -> &mut State {
        (**self).state_mut()
    }

    fn take_coverage(&mut self, coverage: &mut Coverage) {
        (**self).take_coverage(coverage);
    }
}
