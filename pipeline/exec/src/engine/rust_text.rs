//! Writes words and fields as Rust.

use crate::engine::batch::Slot;
use crate::engine::field::{FieldAt, ones};

/// Text written so far.
#[derive(Default)]
pub(in crate::engine) struct Out {
    pub(in crate::engine) text: String,
    depth: usize,
    /// Constants that the text refers to by their index.
    pub(in crate::engine) pool: Vec<u32>,
}

impl Out {
    /// Writes a line; nothing if it is empty.
    pub(in crate::engine) fn line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        self.text.extend(std::iter::repeat_n("    ", self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Returns the expression of a constant: its index in the pool, so that programs that differ only in constants have
    /// the same text. 0 and 1 are written out.
    pub(in crate::engine) fn constant(&mut self, value: u32) -> String {
        if value < 2 {
            return format!("{value}_u32");
        }
        self.pool.push(value);
        format!("x.constant({})", self.pool.len() - 1)
    }

    /// Opens a block.
    pub(in crate::engine) fn open(&mut self, head: &str) {
        self.line(format!("{head} {{").trim_start());
        self.depth += 1;
    }

    /// Closes the block that was opened last.
    pub(in crate::engine) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Writes `bits`, which are in their place already, to a word; the bits of `keep` do not change.
    pub(in crate::engine) fn deposit(&mut self, slot: Slot, keep: u32, bits: &str) {
        if keep == 0 {
            self.line(&format!("w[{slot}].set({bits});"));
        } else {
            self.line(&format!("w[{slot}].set(w[{slot}].get() & {keep:#x} | {bits});"));
        }
    }

    /// Writes a value of type `of` to a field.
    pub(in crate::engine) fn write(&mut self, at: &FieldAt, value: &str, of: &str) {
        if at.pieces.is_empty() {
            return self.line(&format!("let _ = {value};"));
        }
        self.open("");
        self.line(&format!("let v: {of} = {value};"));
        for p in &at.pieces {
            let bits = if u32::from(p.lo) >= bits_of(of) {
                "0".to_owned()
            } else {
                format!("(({}) as u32 & {:#x}) << {}", down("v", p.lo), p.mask(), p.at)
            };
            self.deposit(p.slot, p.keep, &format!("({bits})"));
        }
        self.close();
    }
}

/// Returns an expression shifted right.
pub(in crate::engine) fn down(value: &str, by: u8) -> String {
    if by == 0 { value.to_owned() } else { format!("{value} >> {by}") }
}

/// Returns the expression of bits of a word, right-aligned.
pub(in crate::engine) fn bits(slot: Slot, shift: u8, mask: u32) -> String {
    let word = down(&format!("w[{slot}].get()"), shift);
    if mask == ones(32_u8.saturating_sub(shift)) {
        format!("({word})")
    } else {
        format!("({word} & {mask:#x})")
    }
}

/// Returns the expression of a field as a value of type `of`; bits that do not fit are dropped.
pub(in crate::engine) fn read(at: &FieldAt, of: &str) -> String {
    let pieces = at.pieces.iter().filter(|p| u32::from(p.lo) < bits_of(of));
    let pieces = pieces.map(|p| {
        let bits = bits(p.slot, p.at, p.mask());
        let bits = if of == "u32" { bits } else { format!("{of}::from{bits}") };
        if p.lo == 0 { bits } else { format!("({bits} << {})", p.lo) }
    });
    let pieces: Vec<String> = pieces.collect();
    match pieces.as_slice() {
        [] => format!("0_{of}"),
        [one] => one.clone(),
        all => format!("({})", all.join(" | ")),
    }
}

/// Returns the smallest type of 32, 64 or 128 bits that holds this many bits.
pub(in crate::engine) const fn type_of(bits: u32) -> &'static str {
    match bits {
        0..=32 => "u32",
        33..=64 => "u64",
        _ => "u128",
    }
}

fn bits_of(of: &str) -> u32 {
    match of {
        "u32" => 32,
        "u64" => 64,
        _ => 128,
    }
}
