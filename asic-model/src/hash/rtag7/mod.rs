//! The RTAG7 hash unit, with which fixed-function switches of the Trident line hash flows.
//!
//! The key's bins, the nine functions, and the index into an ECMP group that a hash gives (model: hashing §1.2,
//! behaviour of a public SDK; no code of it).
//!
//! Every function is linear over GF(2), so a seed only XORs a constant onto the hash (model: hashing §2).
//!
//! | file | content |
//! |---|---|
//! | `function` | selector codes and the functions on 28 bytes |
//! | `key` | bins, field bitmaps, address folding, pre-processing |
//! | `unit` | two blocks of two values each, macro-flow, the ECMP stage with its two register sets |

mod function;
mod key;
mod unit;

pub use function::{Rtag7Function, Rtag7Message};
pub use key::{Addresses, BinMaps, Ipv6Fold, KeyConfig, Rtag7Packet, bins};
pub use unit::{
    Block, EcmpGroup, EcmpMask, EcmpSelect, HashValues, MacroByte, MacroFlow, Rtag7Error, Rtag7Unit,
    Selected, SubSelect,
};
