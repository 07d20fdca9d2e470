//! HPCC's header in the layout of its paper (model: int §1.8) and in that of its authors' simulator (§1.9).

use super::IntError;
use super::bytes::Bytes;

/// Record of one hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HpccHop {
    /// Code of the port's speed.
    pub speed: u8,
    /// Time, 24 bits, ns.
    pub time: u32,
    /// Bytes sent, 20 bits, in units of 128.
    pub bytes: u32,
    /// Queue length, in units of 80 bytes, or the chip's cells.
    pub queue: u32,
}

/// Layout of the records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HpccLayout {
    /// nHop and pathID, then a record for each hop, highest byte first.
    #[default]
    Paper,
    /// Sequence number and priority group, five slots, lowest byte first, then nHop.
    Ns3,
}

/// Most hops.
const MAX_HOPS: u8 = 5;

/// Bytes of the simulator's sequence number and priority group.
const SEQUENCE: usize = 6;

/// Reads the simulator's slots that hops have written, in order of the path: of more than five hops the last five. It has
/// no pathID, which is 0.
pub(super) fn read_slots(mut at: Bytes<'_>) -> Result<(u16, Vec<HpccHop>), IntError> {
    at.take("sequence number and priority group", SEQUENCE)?;
    let mut slots = [HpccHop { speed: 0, time: 0, bytes: 0, queue: 0 }; MAX_HOPS as usize];
    for slot in &mut slots {
        let word = at.number("HPCC slot", 8)?.swap_bytes();
        *slot = HpccHop {
            speed: word as u8 & 7,
            time: (word >> 3) as u32 & 0xff_ffff,
            bytes: (word >> 27) as u32 & 0xf_ffff,
            queue: (word >> 47) as u32,
        };
    }
    let hops = usize::from(at.u16("nHop")?.swap_bytes());
    let (count, first) = (hops.min(slots.len()), hops.saturating_sub(slots.len()));
    Ok((0, slots.iter().cycle().skip(first % slots.len()).take(count).copied().collect()))
}

/// Reads pathID and the records.
pub(super) fn read(mut at: Bytes<'_>) -> Result<(u16, Vec<HpccHop>), IntError> {
    let start = at.offset;
    let common = at.u16("HPCC common word")?;
    let hops = (common >> 12) as u8;
    if hops > MAX_HOPS {
        return Err(IntError {
            offset: start,
            what: "nHop",
            found: hops.into(),
            expected: format!("at most {MAX_HOPS}"),
        });
    }
    let record = |at: &mut Bytes<'_>| {
        let word = at.number("HPCC record", 8)?;
        Ok(HpccHop {
            speed: (word >> 60) as u8,
            time: (word >> 36) as u32 & 0xff_ffff,
            bytes: (word >> 16) as u32 & 0xf_ffff,
            queue: word as u32 & 0xffff,
        })
    };
    let hops = (0..hops).map(|_| record(&mut at)).collect::<Result<_, IntError>>()?;
    Ok((common & 0xfff, hops))
}
