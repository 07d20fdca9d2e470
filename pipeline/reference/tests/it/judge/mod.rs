//! The interpreter judges the program that the tree was lowered to, and the placed program.
//!
//! Each pass runs three times with the same input: on the tree, on the lowered program by the interpreter of `sluice-exec`, and on
//! the placed program by the engine. Verdicts, bytes, ports, copies, digests, registers and counters have to be equal.

mod around;
mod entries;
mod plain;
mod programs;
mod record;
mod state;
mod switch;

use crate::tree::Tree;
use around::Around;
use record::Record;
use sluice_asic::gress::Gress;
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, Packet, PacketStore};
use sluice_exec::pass::{Executor, GhostUpdate, Pass, PassIn};
use sluice_exec::reference::{Options, Reference as Core};
use sluice_ir::Program;
use sluice_ir::meter_array::Origin;
use sluice_place::Placement;
use sluice_reference::{self as tree, Reference, RequestKind};

/// Numbers of packets by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) packets: usize,
    pub(super) passes: usize,
    pub(super) sent: usize,
    pub(super) requests: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.packets += other.packets;
        self.passes += other.passes;
        self.sent += other.sent;
        self.requests += other.requests;
    }
}

/// Reason for which there is no comparison, or its result.
#[derive(Debug)]
pub(super) enum Failed {
    /// The interpreter does not have a construct.
    Missing(String),
    /// The results differ.
    Differs(String),
}

/// A program that is lowered and placed, with entries.
pub(super) struct Subject<'s> {
    pub(super) tree: &'s Tree,
    /// The lowered program, with the names that `lower` gave.
    pub(super) program: &'s Program,
    pub(super) placement: &'s Placement,
    pub(super) control: &'s ControlState,
}

/// An executor of the lowered program, with its packet.
struct Side {
    name: &'static str,
    executor: Box<dyn Executor>,
    store: PacketStore,
    packet: Option<Packet>,
}

impl Subject<'_> {
    /// Sends packets, by port and bytes, through the tree, the lowered program and the placed program.
    pub(super) fn judge(&self, packets: &[(u16, Vec<u8>)]) -> Result<Counts, Failed> {
        let mut reference = self.tree.reference();
        entries::convert(self.program, self.control, &mut reference).map_err(Failed::Missing)?;
        let mut sides = self.sides();
        state::copy(self.program, sides[0].executor.state(), &mut reference);
        let mut counts = Counts::default();
        for (number, (port, bytes)) in packets.iter().enumerate() {
            self.ghost(number, &mut reference, &mut sides)?;
            let packet = self.packet(&mut reference, &mut sides, number, *port, bytes);
            counts += packet.map_err(|failed| match failed {
                Failed::Differs(text) => {
                    Failed::Differs(format!("packet {number} on {port}, {bytes:02x?}:\n{text}"))
                }
                missing => missing,
            })?;
        }
        for side in &sides {
            state::compare(self.program, side.executor.state(), &mut reference)
                .map_err(|text| Failed::Differs(format!("after all packets, {}: {text}", side.name)))?;
        }
        Ok(counts)
    }

    fn sides(&self) -> [Side; 2] {
        let writes_once = !self.placement.chip.parser.clear_on_write;
        let options = Options { origin: Origin::of(&self.placement.chip), writes_once, ..Options::default() };
        let core = Box::new(Core::new(self.program, self.control, options));
        let engine = Box::new(Engine::new(self.program, self.placement, self.control).unwrap());
        let executors: [(&'static str, Box<dyn Executor>); 2] = [("lowered", core), ("placed", engine)];
        executors.map(|(name, mut executor)| {
            for change in self.control.arrays.changes() {
                executor.state_mut().apply(self.program, change).unwrap();
            }
            Side { name, executor, store: PacketStore::new(HeadLayout::default()), packet: None }
        })
    }

    fn ghost(&self, n: usize, reference: &mut Reference<'_>, sides: &mut [Side; 2]) -> Result<(), Failed> {
        if self.program.ghost.is_empty() || !n.is_multiple_of(7) {
            return Ok(());
        }
        let update = GhostUpdate {
            ping_pong: n.is_multiple_of(2),
            qlength: (n as u32).wrapping_mul(0x9e37) & 0x3_ffff,
            qid: (n as u16 * 5) & 0x7ff,
            pipe: (n % 4) as u8,
        };
        let mut around =
            Around::new(self.program, self.control, sides[0].executor.state(), Gress::Ingress, 0, 0);
        let fields = [
            ("ping_pong", update.ping_pong.into()),
            ("qlength", update.qlength.into()),
            ("qid", update.qid.into()),
            ("pipe_id", update.pipe.into()),
        ];
        reference.ghost(&fields, &mut around).map_err(|missing| Failed::Missing(self.tree.show(&missing)))?;
        sides.iter_mut().for_each(|side| side.executor.ghost(&update));
        Ok(())
    }

    /// Sends one packet through ingress, twice after a resubmit, and through egress.
    fn packet(
        &self,
        reference: &mut Reference<'_>,
        sides: &mut [Side; 2],
        n: usize,
        port: u16,
        bytes: &[u8],
    ) -> Result<Counts, Failed> {
        for side in sides.iter_mut() {
            side.packet = Some(side.store.insert(bytes, 0));
        }
        let mut counts = Counts { packets: 1, ..Counts::default() };
        let now = 0xffff_ffff_ff00 + 400 * n as u64;
        let arrival = PassIn { port, mac_tstamp: now, global_tstamp: now + 25, ..PassIn::default() };
        let result = (|| {
            let mut out = self.pass(reference, sides, Gress::Ingress, &arrival, bytes, None, &mut counts)?;
            if out.verdict == tree::Verdict::Resubmit {
                let data = out.requests.iter().find(|one| one.kind == RequestKind::Resubmit);
                let data = data.map(|one| one.data.clone()).unwrap_or_default();
                let again = PassIn { resubmitted: true, ..arrival };
                out = self.pass(reference, sides, Gress::Ingress, &again, bytes, Some(data), &mut counts)?;
            }
            if out.verdict != tree::Verdict::Forward {
                return Ok(());
            }
            let depth = (n as u32 * 977) % 9000;
            let departure = PassIn {
                port: out.port.unwrap_or(0x1ff),
                qid: out.field("qid") as u8,
                cos: out.field("ingress_cos") as u8,
                enq_qdepth: depth,
                deq_qdepth: depth / 2,
                enq_tstamp: n as u32 * 100,
                deq_timedelta: n as u32,
                global_tstamp: now + 900,
                ..PassIn::default()
            };
            let out =
                self.pass(reference, sides, Gress::Egress, &departure, &out.bytes, None, &mut counts)?;
            counts.sent += usize::from(out.verdict == tree::Verdict::Forward);
            Ok(())
        })();
        for side in sides.iter_mut() {
            side.packet.take().into_iter().for_each(|packet| side.store.remove(packet));
        }
        result.map(|()| counts)
    }

    /// Runs one pass on all sides.
    #[allow(clippy::too_many_arguments, reason = "a test's helper")]
    fn pass(
        &self,
        reference: &mut Reference<'_>,
        sides: &mut [Side; 2],
        gress: Gress,
        input: &PassIn,
        bytes: &[u8],
        resubmitted: Option<Vec<u8>>,
        counts: &mut Counts,
    ) -> Result<tree::PassOut, Failed> {
        let length = bytes.len() + resubmitted.as_ref().map_or(0, Vec::len);
        let state = sides[0].executor.state();
        let mut around =
            Around::new(self.program, self.control, state, gress, input.global_tstamp, length as u32);
        let tree_input = record::tree_input(gress, input, bytes, resubmitted, length);
        let out = reference.pass(&tree_input, &mut around);
        let out = out.map_err(|missing| Failed::Missing(self.tree.show(&missing)))?;
        let expected = Record::of_tree(&tree_input, &out);
        counts.passes += 1;
        counts.requests += out.requests.len();
        let session_bits = self.placement.chip.tm.mirror_session_bits;
        for side in sides {
            let Some(packet) = side.packet else { continue };
            let mut batch = [Pass::new(packet, *input)];
            side.executor.run(gress, &mut batch, &mut side.store);
            let made: Vec<_> = side.executor.made().drain(..).collect();
            let found = Record::of_pass(gress, &batch[0], &made, (&mut side.store, session_bits));
            side.packet = Some(batch[0].packet);
            if found.verdict == "no room" {
                return Err(Failed::Missing("headers longer than the head of a packet".to_owned()));
            }
            if found != expected {
                let side = side.name;
                return Err(Failed::Differs(format!(
                    "{gress} of the tree\n  {expected:02x?}\n{gress} of the {side} program\n  {found:02x?}"
                )));
            }
        }
        Ok(out)
    }
}
