//! Why packets end inside the switch. Declared once: counters, summaries, captures and explanations take
//! names and texts from here.

use sluice_asic::tm::buffer::Rule;
use sluice_exec::pass::Verdict;
use sluice_ir::{Label, Program};

/// A reason of the device's own, not the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceDrop {
    /// No parser transition matched.
    ParserNoMatch,
    /// The packet ends inside a header.
    ParserPartialHeader,
    /// The program chose no egress port.
    NoEgressPort,
    /// The program chose a port that the switch does not have.
    UnknownEgressPort,
    /// The parser FIFO of the port was full.
    IngressOverrun,
    /// The queue was at its limit.
    QueueTailDrop,
    /// The packet buffer was full.
    BufferFull,
    /// The program chose a queue that the port does not have.
    NoSuchQueue,
    /// The headers to emit do not fit in front of the packet.
    HeadersTooLong,
    /// The multicast groups of the packet have no member for it.
    NoMulticastMember,
    /// The mirror session of the copy is not set up for it.
    MirrorSessionOff,
    /// Without time: the packet has gone around too often.
    TooManyLaps,
    /// The parser counter was loaded from a field above the largest value allowed.
    ParserCounterRange,
    /// The port was down.
    PortDown,
}

impl DeviceDrop {
    /// Every reason with its name, what it means and what to try.
    pub const TABLE: [(DeviceDrop, &'static str, &'static str, &'static str); 14] = [
        (
            DeviceDrop::ParserNoMatch,
            "parser_no_match",
            "no transition of the parser matched the packet and the program does not read parser_err",
            "give the parser state an accepting default",
        ),
        (
            DeviceDrop::ParserPartialHeader,
            "parser_partial_header",
            "the packet ends inside a header that the parser extracts",
            "look at the frame in the capture; have the program read parser_err to see such packets",
        ),
        (
            DeviceDrop::NoEgressPort,
            "no_egress_port",
            "ingress left ucast_egress_port unset and named no reason",
            "give the table that should choose the port a default action",
        ),
        (
            DeviceDrop::UnknownEgressPort,
            "unknown_egress_port",
            "the program chose a dev_port that the switch does not have at this port speed",
            "compare the port in the entry with the port map of the chip",
        ),
        (
            DeviceDrop::IngressOverrun,
            "ingress_overrun",
            "packets came in faster than the pipe takes PHVs, one per clock, and the port's parser FIFO was full",
            "spread the input over ports of other pipes or use longer frames",
        ),
        (
            DeviceDrop::QueueTailDrop,
            "queue_tail_drop",
            "the queue was at its limit",
            "raise --queue-limit, or send less to that port",
        ),
        (
            DeviceDrop::BufferFull,
            "buffer_full",
            "all cells of the packet buffer were in use",
            "lower the queue limits",
        ),
        (
            DeviceDrop::NoSuchQueue,
            "no_such_queue",
            "the program chose a queue that the port does not have",
            "keep qid below the number of queues of the port",
        ),
        (
            DeviceDrop::HeadersTooLong,
            "headers_too_long",
            "the deparser emits more headers than there is room in front of the packet",
            "emit fewer headers at once",
        ),
        (
            DeviceDrop::NoMulticastMember,
            "no_multicast_member",
            "no group that the program named has a member that exclusion ids left over, and there is no unicast port",
            "set the group up, or look at the exclusion ids",
        ),
        (
            DeviceDrop::MirrorSessionOff,
            "mirror_session_off",
            "the program mirrored to a session that is not set up for copies of this direction",
            "set the session up, or look at the session that the program names",
        ),
        (
            DeviceDrop::TooManyLaps,
            "too_many_laps",
            "in functional mode a packet went around, or copies were made of copies, more often than allowed",
            "run it with time, where laps have no end; or look for the condition that should end the loop",
        ),
        (
            DeviceDrop::ParserCounterRange,
            "parser_counter_range",
            "a field that sets the parser counter is above the largest value that the program allows",
            "look at the frame in the capture; have the program read parser_err to see such packets",
        ),
        (
            DeviceDrop::PortDown,
            "port_down",
            "the packet came in or would have left by a port that the control plane took down",
            "bring the port up, or have the program choose another one",
        ),
    ];

    /// Name as counted and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

/// Why a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The program said so.
    Label(Label),
    /// The device did it.
    Device(DeviceDrop),
    /// A rule of the shared buffer.
    Buffer(Rule),
}

impl Reason {
    /// The reason of a verdict that is not "forward".
    pub(super) fn of(verdict: Verdict) -> Reason {
        match verdict {
            Verdict::Label(label) => Reason::Label(label),
            // 0x002 is "partial header", 0x004 "counter range" (model: chip §10); what else ends parsing is 0x001.
            Verdict::ParserError(bits) if bits & 0x002 != 0 => {
                Reason::Device(DeviceDrop::ParserPartialHeader)
            }
            Verdict::ParserError(bits) if bits & 0x004 != 0 => Reason::Device(DeviceDrop::ParserCounterRange),
            Verdict::ParserError(_) => Reason::Device(DeviceDrop::ParserNoMatch),
            Verdict::NoRoom => Reason::Device(DeviceDrop::HeadersTooLong),
            Verdict::NoPort | Verdict::Forward | Verdict::Resubmit => {
                Reason::Device(DeviceDrop::NoEgressPort)
            }
        }
    }

    /// Name as counted and printed.
    #[must_use]
    pub fn name(self, program: &Program) -> &str {
        match self {
            Reason::Label(label) => &program.labels[label].name,
            Reason::Device(drop) => drop.name(),
            Reason::Buffer(rule) => rule.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_own_index() {
        for (i, (drop, name, ..)) in DeviceDrop::TABLE.iter().enumerate() {
            assert_eq!(*drop as usize, i);
            assert_eq!(drop.name(), *name);
        }
    }
}
