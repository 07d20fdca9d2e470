//! Random programs that keep one rule alone: a header and its fields name each other.
//!
//! A legal program gets operations, declarations and attributes of every kind, odd names, texts and order. They are what
//! a text form must print and read, and what a verifier must take without a panic.

mod cells;
mod code;
mod declare;
mod parser;
mod tables;

use crate::{Draw, Limits, program};
use sluice_asic::gress::Gress;
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::{Field, Home, Program};

/// Where references of an illegal program lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    /// To items of the program, of any gress.
    Sound,
    /// One in 16 leads to an item that does not exist.
    Dangling,
}

/// Draws a program that need not be legal.
#[must_use]
pub fn illegal_program(d: &mut Draw<'_>, limits: &Limits, references: References) -> Program {
    let p = program(d, limits);
    let mut w = Writer { d, p, references, names: 0 };
    w.declarations();
    w.register_actions();
    w.actions();
    w.tables();
    w.states();
    w.pipes();
    w.names();
    w.p
}

const STEMS: [&str; 12] = [
    "ipv4",
    "m.x",
    "a-b",
    "$inline",
    "accept",
    "reject",
    "bit",
    "odd name",
    "back`tick",
    "hash",
    "_",
    "x\\y\n",
];
const DOCS: [&str; 6] = ["", "One line.", "Two\nlines", "  spaces  ", "back\\slash \\r and \r", "\n"];

/// Adds to a program, one draw after the other.
struct Writer<'w, 'd> {
    d: &'w mut Draw<'d>,
    p: Program,
    references: References,
    names: usize,
}

impl Writer<'_, '_> {
    fn word(&mut self) -> u64 {
        u64::from(self.d.word()) << 32 | u64::from(self.d.word())
    }

    fn below(&mut self, n: usize) -> usize {
        self.d.below(n)
    }

    fn flip(&mut self) -> bool {
        self.d.chance(1, 2)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.d.below(list.len())]
    }

    fn gress(&mut self) -> Gress {
        self.of(&Gress::ALL)
    }

    /// Draws up to `most` items.
    fn list<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    /// Draws an item of a kind that the program has, or one beyond the last.
    fn any<K: Entity, V>(&mut self, of: impl Fn(&Program) -> &EntityMap<K, V>) -> K {
        let len = of(&self.p).len();
        match self.references {
            References::Dangling if self.d.chance(1, 16) => K::new(len + self.below(3)),
            _ => K::new(self.below(len)),
        }
    }

    fn field(&mut self) -> Field {
        self.any(|p| &p.fields)
    }

    /// Draws a number of up to 128 bits, often a small one.
    fn value(&mut self) -> u128 {
        let value = u128::from(self.word()) << 64 | u128::from(self.word());
        value >> self.of(&[127, 120, 112, 64, 0])
    }

    /// Draws a name, sometimes one that was used before.
    fn name(&mut self) -> String {
        self.names += self.of(&[1, 1, 1, 1, 0]);
        let stem = self.of(&STEMS);
        if self.d.chance(1, 6) { stem.to_owned() } else { format!("{stem}{}", self.names) }
    }

    fn doc(&mut self) -> String {
        self.of(&DOCS).to_owned()
    }

    /// Gives items odd names and texts, and moves some to the other gress.
    fn names(&mut self) {
        let mut p = std::mem::take(&mut self.p);
        p.name = self.name();
        p.doc = self.doc();
        macro_rules! each {
            ($($map:ident)*) => { $(for data in p.$map.values_mut() {
                if self.d.chance(1, 2) {
                    data.name = self.name();
                    data.doc = self.doc();
                }
            })* };
        }
        macro_rules! move_some {
            ($($map:ident)*) => { $(for data in p.$map.values_mut() {
                if self.d.chance(1, 6) {
                    data.gress = self.gress();
                }
            })* };
        }
        each!(headers states actions tables profiles counters hashes registers register_actions labels stacks meters randoms value_sets);
        move_some!(states actions tables profiles counters hashes registers stacks meters randoms value_sets);
        for header in p.headers.values_mut() {
            if self.d.chance(1, 6) {
                header.gress = self.gress();
            }
        }
        for field in p.fields.values_mut() {
            if self.d.chance(1, 4) {
                field.name = self.name();
                field.doc = self.doc();
            }
            if let Home::Header(header) = field.home {
                let header = &p.headers[header];
                field.gress = header.gress;
                if self.d.chance(7, 8) {
                    field.name = format!("{}.{}", header.name, field.name);
                }
            }
        }
        self.p = p;
    }
}
