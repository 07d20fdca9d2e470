//! From a packet to an ECMP index: four hash values, one of which is selected and rotated, and a modulo.
//!
//! The module has the two hash blocks, macro-flow, the two ECMP register sets, and group arithmetic with the widths of
//! the fields.

use super::{KeyConfig, Rtag7Function, Rtag7Packet};
use thiserror::Error;

/// Entries of the member table: base pointers and indices wrap at 12 bits (model: hashing §1.2).
const MEMBER_MASK: u16 = 0xfff;
/// An index within a group has 10 bits.
const INDEX_MASK: u16 = 0x3ff;

/// One hash block: a seed and two functions. `None` is a reserved selector code, which outputs 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Seed, in word 6 of the message.
    pub seed: u32,
    /// The functions of the block's first and second value.
    pub functions: [Option<Rtag7Function>; 2],
}

/// Hash value that the ECMP stage selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubSelect {
    /// First value of block A (code 0).
    A0,
    /// First value of block B (code 1).
    B0,
    /// The port's load-balancing number (code 2).
    PortLbn,
    /// The destination port where it is known, else A0 (code 3).
    DestinationPort,
    /// The load-balancing id, 8 bits (codes 4 and 5).
    Lbid,
    /// Second value of block A (code 6).
    A1,
    /// Second value of block B (code 7).
    B1,
}

impl SubSelect {
    /// Returns the meaning of a 3-bit code.
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::A0,
            1 => Self::B0,
            2 => Self::PortLbn,
            3 => Self::DestinationPort,
            4 | 5 => Self::Lbid,
            6 => Self::A1,
            7 => Self::B1,
            _ => return None,
        })
    }
}

/// Register set of the ECMP stage: the selected hash value, and its rotation to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EcmpSelect {
    /// Selected hash value.
    pub sub_select: SubSelect,
    /// Rotation to the right, 0..=15.
    pub offset: u8,
}

/// Byte of the macro-flow function that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacroByte {
    /// Bits 8..=15.
    High,
    /// Bits 0..=7.
    Low,
}

/// Macro-flow: a byte of one more hash chooses the register set per bucket of flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacroFlow {
    /// The function, with block A's seed.
    pub function: Rtag7Function,
    /// Byte that is used.
    pub byte: MacroByte,
    /// The set of each byte value.
    pub table: Box<[EcmpSelect; 256]>,
}

/// Bits of the rotated value that are divided: settings 0..=6 keep 10..=16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EcmpMask(u16);

impl EcmpMask {
    /// All sixteen bits.
    pub const FULL: Self = Self(0xffff);

    /// Returns the mask of a 3-bit setting.
    ///
    /// # Errors
    /// Fails above 6.
    pub const fn from_setting(setting: u8) -> Result<Self, Rtag7Error> {
        if setting > 6 {
            return Err(Rtag7Error::Mask { found: setting });
        }
        Ok(Self((0x3ff << setting) | ((1 << setting) - 1)))
    }

    /// Returns the mask.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

/// A group in the member table. The count field stores the size less one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EcmpGroup {
    base: u16,
    count_field: u16,
}

impl EcmpGroup {
    /// Creates a group of `size` (1..=1024) entries from `base` (0..=4095) on.
    ///
    /// # Errors
    /// Fails if either is out of range.
    pub const fn new(base: u16, size: u16) -> Result<Self, Rtag7Error> {
        if size < 1 || size > INDEX_MASK + 1 {
            return Err(Rtag7Error::GroupSize { found: size });
        }
        if base > MEMBER_MASK {
            return Err(Rtag7Error::Base { found: base });
        }
        Ok(Self { base, count_field: size - 1 })
    }

    /// Returns the value of the hardware's count field: the size less one.
    pub const fn count_field(self) -> u16 {
        self.count_field
    }

    /// Returns the entry of the member table that a value picks.
    pub const fn entry(self, value: u16, mask: EcmpMask) -> u16 {
        let remainder = (value & mask.0) % (self.count_field + 1);
        let index = remainder & INDEX_MASK;
        (self.base + index) & MEMBER_MASK
    }
}

/// Problem of a unit's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Rtag7Error {
    /// The group size does not exist.
    #[error("an ECMP group of {found} entries: the index has 10 bits, so sizes are 1 to 1024")]
    GroupSize {
        /// Requested size.
        found: u16,
    },
    /// The base does not exist.
    #[error("ECMP base pointer {found}: the member table has 4096 entries, 0 to 4095")]
    Base {
        /// Requested base.
        found: u16,
    },
    /// The mask does not exist.
    #[error("ECMP mask setting {found}: settings are 0 (10 bits) to 6 (16 bits)")]
    Mask {
        /// Requested setting.
        found: u8,
    },
    /// Offsets are 4 bits.
    #[error("ECMP offset {found}: a 16-bit value rotates by 0 to 15")]
    Offset {
        /// Requested offset.
        found: u8,
    },
    /// The ports need a third function on one switch.
    #[error(
        "ports ask for {found} different ECMP hashes; a switch has two register sets: give the north-facing \
         ports one and the south-facing ports the other"
    )]
    TooManySets {
        /// Number of different settings.
        found: usize,
    },
}

/// The values that the ECMP stage may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HashValues {
    /// Block A's two values.
    pub a: [u16; 2],
    /// Block B's two values.
    pub b: [u16; 2],
    /// The ingress port's load-balancing number.
    pub port_lbn: u16,
    /// The destination port, where it is known before the ECMP stage.
    pub destination: Option<u16>,
    /// Load-balancing id.
    pub lbid: u8,
}

/// Hash value and offset that the ECMP stage selects for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    /// The rotated value.
    pub value: u16,
    /// Register set that selected the value.
    pub by: EcmpSelect,
}

/// A configured unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rtag7Unit {
    key: KeyConfig,
    blocks: [Block; 2],
    sets: [EcmpSelect; 2],
    /// Ports that use the second set.
    second: Vec<bool>,
    macro_flow: Option<MacroFlow>,
}

impl Rtag7Unit {
    /// Creates a unit whose ingress port `p` uses `by_port[p]`; ports beyond the slice use the first entry.
    ///
    /// # Errors
    /// Fails if the ports need more than two different sets, and if an offset is above 15.
    pub fn new(key: KeyConfig, blocks: [Block; 2], by_port: &[EcmpSelect]) -> Result<Self, Rtag7Error> {
        let mut sets: Vec<EcmpSelect> = Vec::new();
        for select in by_port {
            if select.offset > 15 {
                return Err(Rtag7Error::Offset { found: select.offset });
            }
            if !sets.contains(select) {
                sets.push(*select);
            }
        }
        let default = EcmpSelect { sub_select: SubSelect::A0, offset: 0 };
        let first = sets.first().copied().unwrap_or(default);
        let second = sets.get(1).copied().unwrap_or(first);
        if sets.len() > 2 {
            return Err(Rtag7Error::TooManySets { found: sets.len() });
        }
        let uses = by_port.iter().map(|select| *select != first).collect();
        Ok(Self { key, blocks, sets: [first, second], second: uses, macro_flow: None })
    }

    /// Lets macro-flow choose the set instead of the port.
    ///
    /// # Errors
    /// Fails if an offset is above 15.
    pub fn with_macro_flow(mut self, macro_flow: MacroFlow) -> Result<Self, Rtag7Error> {
        if let Some(bad) = macro_flow.table.iter().find(|select| select.offset > 15) {
            return Err(Rtag7Error::Offset { found: bad.offset });
        }
        self.macro_flow = Some(macro_flow);
        Ok(self)
    }

    /// Returns the four hash values of a packet; load-balancing numbers and the destination are 0 and unknown.
    pub fn values(&self, packet: &Rtag7Packet) -> HashValues {
        let [a, b] = self.blocks.map(|block| {
            let message = self.key.message(packet, block.seed);
            block.functions.map(|f| f.map_or(0, |f| f.hash(&message)))
        });
        HashValues { a, b, ..HashValues::default() }
    }

    /// Selects by macro-flow bucket or ingress port.
    pub fn select(&self, packet: &Rtag7Packet, values: &HashValues) -> Selected {
        let by = match &self.macro_flow {
            Some(flow) => {
                let hash = flow.function.hash(&self.key.message(packet, self.blocks[0].seed));
                let bucket = match flow.byte {
                    MacroByte::High => hash >> 8,
                    MacroByte::Low => hash & 0xff,
                };
                flow.table[usize::from(bucket)]
            }
            None => {
                let second = self.second.get(usize::from(packet.ingress_port)).copied().unwrap_or(false);
                self.sets[usize::from(second)]
            }
        };
        let value = match by.sub_select {
            SubSelect::A0 => values.a[0],
            SubSelect::B0 => values.b[0],
            SubSelect::PortLbn => values.port_lbn,
            SubSelect::DestinationPort => values.destination.unwrap_or(values.a[0]),
            SubSelect::Lbid => values.lbid.into(),
            SubSelect::A1 => values.a[1],
            SubSelect::B1 => values.b[1],
        };
        Selected { value: value.rotate_right(by.offset.into()), by }
    }
}
