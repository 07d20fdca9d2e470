//! HPCC's header as its paper lays it out (facts: hpcc-int §1.8). What may not live here: INT.

use super::IntError;
use super::bytes::Bytes;

/// The record of one hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HpccHop {
    /// Code of the port's speed.
    pub speed: u8,
    /// Time, 24 bits, ns.
    pub time: u32,
    /// Bytes sent, 20 bits, in units of 128.
    pub bytes: u32,
    /// Queue length, in units of 80 bytes, or the chip's cells.
    pub queue: u16,
}

/// Most hops.
const MAX_HOPS: u8 = 5;

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
            queue: word as u16,
        })
    };
    let hops = (0..hops).map(|_| record(&mut at)).collect::<Result<_, IntError>>()?;
    Ok((common & 0xfff, hops))
}
