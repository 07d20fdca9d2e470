//! An interpreter of P4 programs that walks the syntax tree.
//!
//! The other steps make a program of the chip from the tree (`lower`), change it, place it, and run it. This crate shares no code
//! with any of them but the arithmetic of hashes, so that it can judge them: a packet that leaves the placed program otherwise
//! than it leaves this interpreter names a mistake of a step, or of this crate. It also computes constants itself. It does
//! share the names, types and instances that the front end found (`check`, `elaborate`).
//!
//! The data's way:
//!
//! | module | contents |
//! |---|---|
//! | `reference` | [`Reference`]: a program, its entries ([`Control`]), registers and counters |
//! | `pass`, `blocks` | a pass through a gress: [`PassIn`], parser, control and deparser, [`PassOut`] |
//! | `device` | [`Device`]: ports, sessions and groups around the passes, without time |
//! | `names`, `text` | entries whose parts have names, and values as text |
//! | `run` | the state of a pass: variables, packet, requests |
//! | `stmt`, `expr`, `place`, `call` | statements, values, places that are assigned, calls with copies in and out |
//! | `parser`, `table`, `externs` | states and keys, lookups, extern objects |
//! | `program`, `value`, `number`, `bits` | shapes of types, values, arithmetic, strings of bits |
//!
//! # Where P4 and the architecture leave a choice
//!
//! - Variables without a first value are zeros, and headers without one are invalid.
//! - A field keeps its value when its header becomes invalid. In checksums, fields of invalid headers are zeros.
//! - An element of a register past the end reads as zero, and a write to it has no effect.
//! - Statements of a register action run in order, each on the results of those before it. Unsigned sums on the sides of an order
//!   (`<`, `>`) do not wrap, also under a cast to a signed type that is not compared with zero: the chip's comparison units are wider
//!   than an element.
//! - A gress that names `parser_err` gets packets with parser errors, and the headers extracted before. Any other drops them.
//! - Copies, digests and checksums of a deparser have the values from before its updates, which the chip makes for emitted headers.
//! - A packet that is resubmitted has no output that a mirror could copy.
//! - Members of a structure in a digest end with a byte each. A request under type 0 is made only if code has written the type.
//! - `verify(condition, error)` has no effect, as in the vendor's compiler; `verify()` of a checksum returns true if the sum is wrong.
//! - Random numbers, filters, colours of meters and members of groups are the caller's ([`Outside`]).
//! - A header that is extracted in front of the packet is [`Unsupported`], except for intrinsic metadata and the data of a resubmit:
//!   Sluice does not have these bytes.
//!
//! A construct that the interpreter does not have is [`Unsupported`], never a guess.

mod bits;
mod blocks;
mod call;
mod control;
mod device;
mod expr;
mod externs;
mod names;
mod number;
mod outside;
mod parser;
mod pass;
mod place;
mod program;
mod reference;
mod run;
mod stmt;
mod stop;
mod table;
mod text;
mod value;

pub use control::{ActionCall, Control, Entry, Match, TableState, Then};
pub use device::{Device, Fate, Sent, Session};
pub use externs::Count;
pub use names::{NameError, NamedCall, NamedEntry};
pub use outside::{Nothing, Outside};
pub use pass::{Gress, PassIn, PassOut, Request, RequestKind, Verdict};
pub use reference::Reference;
pub use stop::Unsupported;
pub use value::Value;
