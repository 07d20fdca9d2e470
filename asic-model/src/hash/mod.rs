//! Hash semantics: the algorithms, the bit string that they read, and their compilation to GF(2) maps.
//!
//! The module has the bit-serial definition of every algorithm that a program can name, output shaping (width,
//! extension, seed, rotation), and the table form that hashes PHV words directly.
//!
//! The chip computes a hash as a GF(2)-linear map of its input bits, XOR a seed, for every algorithm
//! (model: chip §11.1). [`LinearHash`] is that map, and [`HashFunction::hash`] is the definition that it must equal.
//!
//! **Input.** Fields are concatenated in the order in which the program lists them, most significant bit first, into
//! one [`BitString`]. Its length need not be a multiple of eight. A CRC reads the string extended with zero bits *in
//! front*, up to a whole byte; an XOR fold appends zero bits at the *end*, up to a whole word; identity reads the
//! string as one big number. These are the rules of the vendor's matrix generator (p4c,
//! `backends/tofino/bf-utils/dynamic_hash/dynamic_hash.cpp`; model: chip §11.2).

mod algorithm;
mod bits;
mod crc;
mod function;
mod layout;
mod linear;
mod names;
mod packed;
pub mod rank;
pub mod rtag7;
mod splitmix;

pub use algorithm::{HashAlgorithm, XorWidth};
pub use bits::BitString;
pub use crc::{CrcError, CrcParams};
pub use function::{HashFunction, HashFunctionError, Seed};
pub use layout::{HashLayout, LayoutError, Piece};
pub use linear::{HashMatrix, LinearHash};
pub use names::UnknownHashName;
pub use packed::{KeyHash, PackedHash};
pub use splitmix::splitmix64;
