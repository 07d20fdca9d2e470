//! The words of a ConWeave flow's story: the paper's packet types, epochs and paths.

use super::wire::{Frame, Header, REACH, opcode, read};
use sluice_catalogue::story::{Message, Narrator, Note, Part, QueueUse, RoceFlow};

/// Number within its pipe of the port that control packets and timer packets recirculate by.
const RECIRCULATION: u16 = 6;
/// Bits of a dev_port that count within the pipe.
const LOCAL: u16 = 0x7f;
/// First queue that packets may wait in to be put in order.
const FIRST_REORDER_QUEUE: u8 = 2;

/// Reads ConWeave's frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConWeaveNarrator;

impl Narrator for ConWeaveNarrator {
    fn reach(&self) -> usize {
        REACH
    }

    fn read(&self, frame: &[u8]) -> Option<(RoceFlow, Message)> {
        let frame = read(frame)?;
        Some((flow(&frame), message(&frame)))
    }

    fn queue_use(&self, port: u16, qid: u8) -> QueueUse {
        if port & LOCAL == RECIRCULATION {
            QueueUse::Recirculation
        } else if qid >= FIRST_REORDER_QUEUE {
            QueueUse::Reorder
        } else {
            QueueUse::Transit
        }
    }

    fn outcome(&self, message: &Message, label: &str) -> Option<String> {
        match (label, message.label) {
            ("reply_done", _) => Some(format!("ends epoch {}", message.note(EPOCH))),
            ("reply_late", CLEAR) => Some("changes nothing".to_owned()),
            ("reply_late", _) => Some("is late".to_owned()),
            ("notify_done", _) => Some(format!("path {} is busy", message.note(PATH))),
            _ => None,
        }
    }

    fn empty_pause(&self) -> &'static str {
        "is empty: it pauses for its next owner"
    }
}

/// Names of the notes.
const EPOCH: &str = "epoch";
const PATH: &str = "path";
/// A label that [`Narrator::outcome`] looks at.
const CLEAR: &str = "CLEAR";

/// The flow that a frame belongs to or answers.
fn flow(frame: &Frame) -> RoceFlow {
    let &Frame { src, dst, src_port, .. } = frame;
    match frame.header.opcode {
        0 | opcode::DATA => RoceFlow { src, src_port, dst },
        _ => RoceFlow { src: dst, src_port, dst: src },
    }
}

fn message(frame: &Frame) -> Message {
    let Header { opcode, phase, ask_reply, tail, epoch, path, .. } = frame.header;
    // Label, colour, part, and whether the text shows epoch and path.
    let (label, colour, part, epoch_shown, path_shown) = match (opcode, phase, ask_reply, tail) {
        (opcode::DATA, _, _, true) => ("TAIL", "#b02a37", Part::Signal, true, true),
        (opcode::DATA, _, true, _) => ("RTT_REQUEST", "#2b6cb0", Part::Signal, true, true),
        (opcode::DATA, 1, ..) => ("REROUTED", "#b7602b", Part::Data, false, true),
        (opcode::DATA, ..) => ("DATA", "#a0aec0", Part::Data, false, true),
        (opcode::REPLY, 1, ..) => (CLEAR, "#6e4a9e", Part::Answer, true, false),
        (opcode::REPLY, ..) => ("RTT_REPLY", "#2f855a", Part::Answer, true, false),
        (opcode::NOTIFY, ..) => ("NOTIFY", "#188996", Part::FrequentAnswer, true, true),
        // As a host sends and receives it.
        _ => ("DATA", "#a0aec0", Part::Data, false, false),
    };
    let note = |name, value: u8, shown| Some(Note { name, value: value.into(), shown });
    let notes = [note(EPOCH, epoch, epoch_shown), note(PATH, path, path_shown)];
    Message { label, colour, part, psn: frame.psn, notes }
}
