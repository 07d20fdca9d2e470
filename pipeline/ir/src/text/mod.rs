//! Text form of a stage program. It reads like P4, and parses back to an equal program.
//!
//! The form, by example:
//!
//! ```text
//! sluice 1;                             // version of the text form
//!
//! /// Routes IPv4.
//! program l3;
//!
//! /// Flows that are counted
//! param flows = 1024 : 1 .. 65536;      // users set it; its name is a number from here on
//! const last = flows - 1;
//!
//! header ipv4 : ingress {
//!     bit<8> ttl;                       // the field `ipv4.ttl`
//! }
//! intrinsic : ingress {
//!     bit<9> ig_tm.ucast_egress_port;
//! }
//! register seen : ingress {
//!     element = "32";                   // "32x2" for a pair
//!     size = flows;
//! }
//! register_action count (seen) {
//!     if (@lo < 9) { @lo = add(@lo, 1); }
//!     @out0 = @lo;
//! }
//! action forward : ingress (bit<9> port) {
//!     ig_tm.ucast_egress_port = port;
//!     ipv4.ttl = add(ipv4.ttl, 8w0xff);
//!     m.seen = execute(count, m.slot);  // `m.a, m.b:2 = ..` where a word is not the first
//! }
//! parser ingress {
//!     start = parse_ipv4;
//!     state parse_ipv4 {
//!         extract(ipv4);
//!         select (lookahead(0, 4)) { (4) : parse_option; default : accept; }
//!     }
//!     state parse_option {
//!         extract_next(options);        // of `stack options : ingress { option_0; option_1; }`
//!         select (last(options, 0)) { (1) : parse_option; default : accept; }
//!     }
//! }
//! ```
//!
//! - `/// text` documents the next declaration; `//` and `/* */` are comments.
//! - Names consist of letters, digits, `_`, `.`, `-` and `$`; any other name is written in backticks (`` `odd
//!   name` ``).
//! - `.name` is a field whose name does not start with its header's, or that a parameter hides;
//!   `egress::name` is an entity of the other gress; `#3` is the entity with index 3 of its kind.
//! - `@index(3)` before a declaration sets its index, if that is not the position in the text.
//! - `meter police : ingress { kind = bytes; size = 16; }` and `random dice : ingress { width = 8; }` declare
//!   the arrays that `m.colour = meter(police, m.slot)` and `m.roll = random(dice)` use. An index may be
//!   `@entry`, the matched entry's cell of a `direct` array, or `hash(h)`.
//! - In a deparser, `resubmit(1, again)`, `mirror(2, m.session, header)` and `digest(3, header)` are made if
//!   the type field of their kind has that value. The header of a resubmit or copy may be left out.
//! - In a parser state, `advance(4)` skips bytes, and `m.x = lookahead(8)` copies bits from the 8th bit ahead
//!   on; `m.x[7:4] = h.a[3:0]` copies bits of a field, and `set_valid(h)` makes a header valid without bytes of the
//!   packet. `set_counter(5)`, `set_counter(field, max, rotate, mask, add)`, `increment(1)` and `decrement(1)`
//!   change the counter; `push_counter(..)` and `pop_counter()` save and restore it; after
//!   `push_linked_counter(..)` the saved value changes with it. `m.x =
//!   subtract_checksum({ h.a, h.b })` subtracts fields from a sum. Keys of a select are fields,
//!   `lookahead(at, width)`, `last(stack, position)`, `counter_is_zero()` and `counter_is_negative()`.
//! - `port_metadata : ingress { … }` declares port metadata, first bit first; `copy_valid(a, b)` in an action
//!   makes element `a` of a stack valid if `b` is.
//! - In an action, `add(a, b)` and similar calls are ALU instructions, `cast(a, 16)` and `a[7:0]` change the
//!   width, and `funnel_shift(high, low, 5)` shifts two concatenated fields.
//! - `32w(last * 2)` is a constant of 32 bits that is computed from parameters and constants with `+`, `-`, `*`, `/`, `%`,
//!   `log2(n)`, `pow2(n)` and parentheses. `param routes = "1024";`, with a text, records a value with which the program was
//!   built, and cannot be set.
//! - `entries`, `routes`, `role` and `property` declare what a file says in addition to the program ([`FileParts`]).
//! - `16w0x800` is a constant of 16 bits, `v &&& m` a value under a mask, `v / n` a prefix.

mod code;
mod cursor;
mod decls;
pub mod grammar;
mod hashes;
mod lex;
mod meters;
mod numbers;
mod parts;
mod print;
mod print_code;
mod print_deparser;
mod property;
mod registers;
mod rules;
mod scan;
mod scope;
mod source;
#[cfg(test)]
mod tests;
mod words;

use crate::Program;

pub(crate) use lex::is_plain as is_plain_name;
pub use parts::{FileParts, RoleDecl, RolePlace, RouteValue, RoutesDecl};
pub use property::{Moment, PropertyDecl, Test, Value};
pub use source::{Source, SourceParam, VERSION};

/// Syntax error: the token found, and the tokens expected in its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{col}: found {found}, expected {expected}{}{help}", if .help.is_empty() { "" } else { "; " })]
pub struct ParseError {
    /// Line from 1.
    pub line: u32,
    /// Column from 1, in characters.
    pub col: u32,
    /// Token found.
    pub found: String,
    /// Tokens expected.
    pub expected: String,
    /// How to fix it; empty if there is no useful advice.
    pub help: String,
}

/// Prints a program. The text is complete except for source locations.
///
/// [`parse`] turns it into an equal program if headers and fields agree about which field belongs to which header (a rule of
/// the verifier).
#[must_use]
pub fn print(program: &Program) -> String {
    print::program(program)
}

/// Parses the text of a program, with the default values of its parameters. Locations refer to the text, with the file name
/// `<text>`.
///
/// # Errors
/// Refuses the text at the first token that the grammar does not allow there.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let (program, _) = Source::read(text, "<text>")?.build(&[])?;
    Ok(program)
}
