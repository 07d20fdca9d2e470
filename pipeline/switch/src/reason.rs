//! Reasons of packets' ends inside the switch. Counters, summaries, captures and explanations take names and
//! texts from this table.

use sluice_asic::tm::buffer::Rule;
use sluice_exec::pass::Verdict;
use sluice_ir::{Label, Program};

/// A drop reason of the device, independent of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceDrop {
    /// No parser transition matched the packet.
    ParserNoMatch,
    /// The packet ends inside a header.
    ParserPartialHeader,
    /// The program set no egress port.
    NoEgressPort,
    /// The program set a port that the switch does not have.
    UnknownEgressPort,
    /// The parser FIFO of the port was full.
    IngressOverrun,
    /// The queue was at its limit.
    QueueTailDrop,
    /// The packet buffer was full.
    BufferFull,
    /// The program set a queue that the port does not have.
    NoSuchQueue,
    /// The headers to emit do not fit in front of the packet.
    HeadersTooLong,
    /// The multicast groups have no member for the packet.
    NoMulticastMember,
    /// The mirror session is not set up for this direction.
    MirrorSessionOff,
    /// Functional mode: the packet recirculated too often.
    TooManyRecirculations,
    /// A field above the allowed largest value set the parser counter.
    ParserCounterRange,
    /// The control plane took the port down.
    PortDown,
}

impl DeviceDrop {
    /// Every reason: name, meaning, advice.
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
            "look at the frame in the capture; a program that reads parser_err also gets such packets",
        ),
        (
            DeviceDrop::NoEgressPort,
            "no_egress_port",
            "ingress set neither ucast_egress_port nor a drop reason",
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
            "packets arrived faster than the pipe accepts PHVs (one per clock), and the port's parser FIFO was full",
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
            "the deparser emits more headers than fit in front of the packet",
            "emit fewer headers at once",
        ),
        (
            DeviceDrop::NoMulticastMember,
            "no_multicast_member",
            "every member of the packet's multicast groups is excluded, or they have none, and there is no unicast port",
            "set up the group, or check the exclusion ids",
        ),
        (
            DeviceDrop::MirrorSessionOff,
            "mirror_session_off",
            "the program mirrored to a session that is not set up for copies of this direction",
            "set up the session, or check the session number that the program sets",
        ),
        (
            DeviceDrop::TooManyRecirculations,
            "too_many_laps",
            "a packet recirculated, or in functional mode copies were made of copies, more often than allowed",
            "find the condition that should end the loop with --trace, or raise --max-recirculations",
        ),
        (
            DeviceDrop::ParserCounterRange,
            "parser_counter_range",
            "a field that sets the parser counter is above the largest value that the program allows",
            "look at the frame in the capture; a program that reads parser_err also gets such packets",
        ),
        (
            DeviceDrop::PortDown,
            "port_down",
            "the packet arrived on, or was to be sent on, a port that the control plane took down",
            "bring the port up, or make the program choose another port",
        ),
    ];

    /// Returns the name, as counted and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

/// Reason of a packet's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A drop or consume label of the program.
    Label(Label),
    /// A reason of the device.
    Device(DeviceDrop),
    /// A rule of the shared buffer.
    Buffer(Rule),
}

impl Reason {
    /// Returns the reason of a verdict other than "forward".
    pub(super) fn of(verdict: Verdict) -> Reason {
        match verdict {
            Verdict::Label(label) => Reason::Label(label),
            // 0x002 is "partial header", 0x004 "counter range" (model: chip §10). Any other bit is reported
            // as 0x001, "no match".
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

    /// Returns what tells the author where a packet ended: the name, or place and text of a statement of P4.
    #[must_use]
    pub fn words(self, program: &Program) -> String {
        match self {
            Reason::Label(label) => sluice_ir::words::label(program, label),
            _ => self.name(program).to_owned(),
        }
    }

    /// Returns the name, as counted and printed.
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
