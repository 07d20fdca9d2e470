//! Shim, INT header and metadata stack (model: int §2.2 to §2.4).

use super::IntError;
use super::bytes::Bytes;

/// INT-MD or INT-MX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntKind {
    /// Instructions and metadata.
    Md,
    /// Instructions.
    Mx,
}

/// Metadata of one hop; `None` for a value that was not requested, or that is the reserved value of all ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hop {
    /// Node ID.
    pub node: Option<u32>,
    /// Level-1 ingress interface.
    pub ingress_port: Option<u16>,
    /// Level-1 egress interface.
    pub egress_port: Option<u16>,
    /// Time in the device.
    pub latency: Option<u32>,
    /// Queue.
    pub queue: Option<u8>,
    /// Occupancy of the queue, 24 bits.
    pub occupancy: Option<u32>,
    /// Ingress timestamp.
    pub ingress_time: Option<u64>,
    /// Egress timestamp.
    pub egress_time: Option<u64>,
    /// Level-2 ingress interface.
    pub ingress_l2: Option<u32>,
    /// Level-2 egress interface.
    pub egress_l2: Option<u32>,
    /// TX utilisation of the egress interface.
    pub utilisation: Option<u32>,
    /// Buffer.
    pub buffer: Option<u8>,
    /// Occupancy of the buffer, 24 bits.
    pub buffer_occupancy: Option<u32>,
    /// First word of domain specific metadata.
    pub ds: Option<u32>,
    /// Checksum complement.
    pub complement: Option<u32>,
}

/// INT of one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntPacket {
    /// Kind of header.
    pub kind: IntKind,
    /// NPT of the shim.
    pub npt: u8,
    /// Last 16 bits of the shim: the original DSCP, port or protocol.
    pub original: u16,
    /// D: the sink discards the packet.
    pub discard: bool,
    /// E: hop count exceeded.
    pub hops_exceeded: bool,
    /// M: MTU exceeded.
    pub mtu_exceeded: bool,
    /// Words per hop.
    pub hop_ml: u8,
    /// Number of hops that may still add metadata.
    pub remaining: u8,
    /// Instruction bitmap.
    pub bitmap: u16,
    /// Domain specific ID.
    pub domain: u16,
    /// Domain specific instruction.
    pub ds_instruction: u16,
    /// Hops in order of the path.
    pub hops: Vec<Hop>,
    /// Bytes of source-only domain specific metadata at the end of the stack.
    pub source_only: usize,
}

/// Returns `None` for the reserved value of all ones.
fn known<const BITS: u32>(value: u64) -> Option<u64> {
    (value != u64::MAX >> (64 - BITS)).then_some(value)
}

impl Hop {
    /// Reads the metadata that a bitmap requests, in the bitmap's order, then the domain specific words up to `end`,
    /// then the complement.
    pub(super) fn read(mut block: Bytes<'_>, bitmap: u16) -> Result<Hop, IntError> {
        let mut hop = Hop::default();
        let asked = |bit: u16| bitmap & 0x8000 >> bit != 0;
        let what = "metadata of a hop";
        let word = |block: &mut Bytes<'_>| Ok(known::<32>(block.u32(what)?.into()).map(|v| v as u32));
        if asked(0) {
            hop.node = word(&mut block)?;
        }
        if asked(1) {
            let both = word(&mut block)?;
            hop.ingress_port = both.map(|v| (v >> 16) as u16);
            hop.egress_port = both.map(|v| v as u16);
        }
        if asked(2) {
            hop.latency = word(&mut block)?;
        }
        if asked(3) {
            let both = word(&mut block)?;
            hop.queue = both.map(|v| (v >> 24) as u8);
            hop.occupancy = both.map(|v| v & 0xff_ffff);
        }
        if asked(4) {
            hop.ingress_time = known::<64>(block.number(what, 8)?);
        }
        if asked(5) {
            hop.egress_time = known::<64>(block.number(what, 8)?);
        }
        if asked(6) {
            hop.ingress_l2 = word(&mut block)?;
            hop.egress_l2 = word(&mut block)?;
        }
        if asked(7) {
            hop.utilisation = word(&mut block)?;
        }
        if asked(8) {
            let both = word(&mut block)?;
            hop.buffer = both.map(|v| (v >> 24) as u8);
            hop.buffer_occupancy = both.map(|v| v & 0xff_ffff);
        }
        for _ in (9..15).filter(|bit| asked(*bit)) {
            block.u32(what)?;
        }
        if block.left() > if asked(15) { 4 } else { 0 } {
            hop.ds = word(&mut block)?;
        }
        while block.left() > if asked(15) { 4 } else { 0 } {
            block.u32(what)?;
        }
        if asked(15) {
            hop.complement = word(&mut block)?;
        }
        Ok(hop)
    }
}

/// Returns the number of words that a bitmap's standard bits request.
pub(super) fn standard_words(bitmap: u16) -> u32 {
    bitmap.count_ones() + (bitmap & 0x0e00).count_ones()
}

impl IntPacket {
    /// Reads a shim, an INT header and its stack; `Ok(None)` for other types and versions.
    pub(super) fn read(mut at: Bytes<'_>) -> Result<Option<(IntPacket, usize)>, IntError> {
        let types = at.u8("INT shim")?;
        let kind = match types >> 4 {
            1 => IntKind::Md,
            3 => IntKind::Mx,
            _ => return Ok(None),
        };
        let length_at = at.offset;
        let words = at.u8("INT shim length")?;
        let original = at.u16("INT shim")?;
        if words < 3 {
            return Err(IntError {
                offset: length_at,
                what: "INT shim length",
                found: words.into(),
                expected: "3 words or more".to_owned(),
            });
        }
        let mut int = at.take("INT header and stack", 4 * usize::from(words))?;
        let flags = int.u16("INT header")?;
        if flags >> 12 != 2 {
            return Ok(None);
        }
        let hop_ml_at = int.offset;
        let hop_ml = int.u8("Hop ML")? & 0x1f;
        let mut packet = IntPacket {
            kind,
            npt: types >> 2 & 3,
            original,
            discard: flags & 0x0800 != 0,
            hops_exceeded: kind == IntKind::Md && flags & 0x0400 != 0,
            mtu_exceeded: kind == IntKind::Md && flags & 0x0200 != 0,
            hop_ml,
            remaining: int.u8("remaining hop count")?,
            bitmap: int.u16("instruction bitmap")?,
            domain: int.u16("domain specific ID")?,
            ds_instruction: int.u16("domain specific instruction")?,
            hops: Vec::new(),
            source_only: 0,
        };
        int.u16("domain specific flags")?;
        if kind == IntKind::Md {
            packet.stack(int, hop_ml_at)?;
        }
        Ok(Some((packet, 4 + 4 * usize::from(words))))
    }

    fn stack(&mut self, mut stack: Bytes<'_>, hop_ml_at: usize) -> Result<(), IntError> {
        let words = standard_words(self.bitmap);
        if u32::from(self.hop_ml) < words {
            return Err(IntError {
                offset: hop_ml_at,
                what: "Hop ML",
                found: self.hop_ml.into(),
                expected: format!("at least the {words} words of bitmap {:#06x}", self.bitmap),
            });
        }
        let block = 4 * usize::from(self.hop_ml);
        while block > 0 && stack.left() >= block {
            let hop = stack.take("metadata of a hop", block)?;
            self.hops.push(Hop::read(hop, self.bitmap)?);
        }
        self.source_only = stack.left();
        // Newest first on the wire.
        self.hops.reverse();
        Ok(())
    }
}
