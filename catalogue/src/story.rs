//! Stories: the meaning of the packets of one flow, for a sequence diagram of the flow's life.
//!
//! A program whose packets carry more than their hosts wrote offers a [`Narrator`] by
//! [`StageProgram::story`](crate::StageProgram::story). For other networks, [`RoceNarrator`] is used.

use sluice_pcaps::wire::roce;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use thiserror::Error;

/// A RoCEv2 flow in the direction of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoceFlow {
    /// Sender.
    pub src: Ipv4Addr,
    /// UDP source port.
    pub src_port: u16,
    /// Receiver.
    pub dst: Ipv4Addr,
}

/// Error: the text is not a flow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{found}` is not a flow; expected SENDER:UDP_PORT-RECEIVER, such as 10.0.0.1:49152-10.0.1.1")]
pub struct NoFlow {
    /// The text.
    pub found: String,
}

impl FromStr for RoceFlow {
    type Err = NoFlow;

    fn from_str(text: &str) -> Result<RoceFlow, NoFlow> {
        let parse = || {
            let (from, dst) = text.split_once('-')?;
            let (src, port) = from.split_once(':')?;
            let address = |a: &str| a.trim().parse().ok();
            Some(RoceFlow { src: address(src)?, src_port: port.trim().parse().ok()?, dst: address(dst)? })
        };
        parse().ok_or_else(|| NoFlow { found: text.to_owned() })
    }
}

impl fmt::Display for RoceFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}-{}", self.src, self.src_port, self.dst)
    }
}

/// A value of a frame other than its place in the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the value: `epoch`.
    pub name: &'static str,
    /// The value.
    pub value: u32,
    /// True if the text form shows the value. The drawing shows every note.
    pub shown: bool,
}

/// The part that a packet plays in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Data without a separate label: most packets of a flow.
    Data,
    /// Data that the program uses as a signal.
    Signal,
    /// A control packet back to the sender's switch.
    Answer,
    /// A control packet back to the sender's switch, of a type that comes in long sequences.
    FrequentAnswer,
}

/// A packet of the flow, or a control packet about the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Type of the packet, as the program's users call it: `TAIL`.
    pub label: &'static str,
    /// Colour in drawings, as CSS writes it.
    pub colour: &'static str,
    /// Part that the packet plays.
    pub part: Part,
    /// Packet sequence number; for a control packet, that of the packet answered.
    pub psn: u32,
    /// Other values of the frame, in display order. All messages of a program have the same names.
    pub notes: [Option<Note>; 2],
}

impl Message {
    /// Returns true for a control packet back to the sender's switch.
    #[must_use]
    pub const fn is_control(&self) -> bool {
        matches!(self.part, Part::Answer | Part::FrequentAnswer)
    }

    /// Returns true for data without a separate label.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        matches!(self.part, Part::Data)
    }

    /// Returns true if messages of this type that follow each other share a line of the text.
    #[must_use]
    pub const fn shares_lines(&self) -> bool {
        matches!(self.part, Part::Data | Part::FrequentAnswer)
    }

    /// Returns true if two messages differ in nothing but their sequence numbers.
    #[must_use]
    pub fn is_like(&self, other: &Message) -> bool {
        Message { psn: other.psn, ..*self } == *other
    }

    /// Returns the value of the note of this name, 0 if there is none.
    #[must_use]
    pub fn note(&self, name: &str) -> u32 {
        self.notes.iter().flatten().find(|n| n.name == name).map_or(0, |n| n.value)
    }
}

/// Purpose for which a program uses a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueUse {
    /// Packets pass.
    Transit,
    /// Packets wait to be put in order.
    Reorder,
    /// Packets recirculate.
    Recirculation,
}

/// Reads the frames of a network for a story.
pub trait Narrator: fmt::Debug + Send + Sync {
    /// Returns the most bytes from a frame's beginning that [`Narrator::read`] needs.
    fn reach(&self) -> usize;

    /// Reads a frame of which at least the first [`Narrator::reach`] bytes are given, unless the frame is shorter.
    /// Returns the flow to which the frame belongs or which it answers, and its message; `None` if the frame belongs to
    /// no flow.
    fn read(&self, frame: &[u8]) -> Option<(RoceFlow, Message)>;

    /// Returns the use of queue `qid` of a dev_port.
    fn queue_use(&self, port: u16, qid: u8) -> QueueUse {
        let _ = (port, qid);
        QueueUse::Transit
    }

    /// Returns the effect of a message that ended in a switch with this drop label; `None` if the label says enough.
    fn outcome(&self, message: &Message, label: &str) -> Option<String> {
        let _ = (message, label);
        None
    }

    /// Returns the line for a flow-control word that pauses a queue in which no packet of the flow waits.
    fn empty_pause(&self) -> &'static str {
        "is paused while it is empty"
    }
}

/// Reads RoCEv2 frames as their hosts send them. Every packet is data of its flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoceNarrator;

impl Narrator for RoceNarrator {
    fn reach(&self) -> usize {
        roce::REACH
    }

    fn read(&self, frame: &[u8]) -> Option<(RoceFlow, Message)> {
        let roce::Dissected { src, dst, src_port, psn, .. } = roce::dissect(frame)?;
        let message = Message { label: "DATA", colour: "#a0aec0", part: Part::Data, psn, notes: [None; 2] };
        Some((RoceFlow { src, src_port, dst }, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_written_as_they_are_read() {
        let flow: RoceFlow = "10.0.0.1:49152-10.0.1.1".parse().unwrap();
        assert_eq!(
            (flow.src.octets()[3], flow.src_port, flow.to_string()),
            (1, 49_152, "10.0.0.1:49152-10.0.1.1".into())
        );
        for bad in ["", "10.0.0.1-10.0.1.1", "10.0.0.1:x-10.0.1.1", "10.0.0.1:70000-10.0.1.1"] {
            assert!(bad.parse::<RoceFlow>().is_err(), "{bad}");
        }
    }
}
