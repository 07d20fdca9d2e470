//! A test case: a program with entries and packets.

use crate::{Draw, Limits, entries, frames, program};
use sluice_control::ControlOp;
use sluice_ir::Program;
use sluice_ir::text;

/// A program, its entries and packets.
#[derive(Clone, PartialEq)]
pub struct Case {
    /// Program, legal by construction.
    pub program: Program,
    /// Control-plane operations before the first packet.
    pub ops: Vec<ControlOp>,
    /// Packets: arrival port and bytes.
    pub frames: Vec<(u16, Vec<u8>)>,
}

impl Case {
    /// Draws a case from these choices.
    #[must_use]
    pub fn drawn(words: &[u32], limits: &Limits) -> Case {
        // Packets draw from the end, so that shrinking a program leaves them alone.
        let (front, back) = words.split_at(words.len() - words.len() / 4);
        Case::with(program(&mut Draw::new(front), limits), back, limits)
    }

    /// Draws entries and packets for a program from these choices.
    #[must_use]
    pub fn with(program: Program, words: &[u32], limits: &Limits) -> Case {
        let mut d = Draw::new(words);
        let ops = entries(&program, &mut d, limits);
        let frames = frames(&program, &mut d, limits);
        Case { program, ops, frames }
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", text::print(&self.program))?;
        for op in &self.ops {
            writeln!(f, "{op:?}")?;
        }
        for (port, bytes) in &self.frames {
            writeln!(f, "port {port}: {bytes:02x?}")?;
        }
        Ok(())
    }
}
