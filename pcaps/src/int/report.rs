//! Telemetry Report v2.0 (model: int §2.8).

use super::IntError;
use super::bytes::Bytes;
use super::header::{Hop, standard_words};

/// Metadata of the node that made a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportMetadata {
    /// INT metadata of the hop, except node ID and complement.
    pub hop: Hop,
    /// Queue and drop reason, if requested.
    pub drop: Option<(u8, u8)>,
}

/// One individual report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// hw_id of the group header.
    pub hw_id: u8,
    /// Sequence number, 22 bits.
    pub sequence: u32,
    /// Node ID.
    pub node: u32,
    /// RepType.
    pub kind: u8,
    /// InType.
    pub inner_type: u8,
    /// D: a dropped packet.
    pub dropped: bool,
    /// Q: a congested queue.
    pub congested: bool,
    /// F: a tracked flow.
    pub tracked: bool,
    /// I: an intermediate report.
    pub intermediate: bool,
    /// RepMdBits.
    pub bits: u16,
    /// Domain ID.
    pub domain: u16,
    /// The node's own metadata; empty unless RepType is 1.
    pub metadata: ReportMetadata,
    /// Offset in the frame of the report's copy of the packet.
    pub inner_at: usize,
    /// Length of that copy.
    pub inner_len: usize,
}

/// Length of a report that extends to the end.
const TO_THE_END: u8 = 0xff;

/// Reads a group of reports. Returns `Ok(None)` for other versions.
pub(super) fn read(mut at: Bytes<'_>) -> Result<Option<Vec<Report>>, IntError> {
    let group = at.u32("report group header")?;
    if group >> 28 != 2 {
        return Ok(None);
    }
    let node = at.u32("report group header")?;
    let (hw_id, sequence) = ((group >> 22 & 0x3f) as u8, group & 0x3f_ffff);
    let mut list = Vec::new();
    while at.left() > 0 {
        list.push(one(&mut at, node, hw_id, sequence)?);
    }
    Ok(Some(list))
}

fn one(at: &mut Bytes<'_>, node: u32, hw_id: u8, sequence: u32) -> Result<Report, IntError> {
    let types = at.u8("individual report header")?;
    let length = at.u8("report length")?;
    let md_at = at.offset;
    let md_words = at.u8("metadata length")?;
    let flags = at.u8("individual report header")?;
    let bytes = if length == TO_THE_END { at.left() } else { 4 * usize::from(length) };
    let mut body = at.take("individual report", bytes)?;
    let mut report = Report {
        hw_id,
        sequence,
        node,
        kind: types >> 4,
        inner_type: types & 0xf,
        dropped: flags & 0x80 != 0,
        congested: flags & 0x40 != 0,
        tracked: flags & 0x20 != 0,
        intermediate: flags & 0x10 != 0,
        bits: 0,
        domain: 0,
        metadata: ReportMetadata::default(),
        inner_at: 0,
        inner_len: 0,
    };
    if report.kind == 1 {
        report.bits = body.u16("RepMdBits")?;
        report.domain = body.u16("domain ID")?;
        body.u32("DSMdBits and DSMdstatus")?;
        // Bit 0 is reserved: the node ID is in the group header.
        let bits = report.bits & 0x7fff;
        let words = standard_words(bits);
        if u32::from(md_words) < words {
            return Err(IntError {
                offset: md_at,
                what: "metadata length",
                found: md_words.into(),
                expected: format!("at least the {words} words of RepMdBits {:#06x}", report.bits),
            });
        }
        let metadata = body.take("report metadata", 4 * usize::from(md_words))?;
        let mut hop = Hop::read(metadata, bits)?;
        let drop = hop.complement.take().map(|word| ((word >> 24) as u8, (word >> 16) as u8));
        report.metadata = ReportMetadata { hop, drop };
    }
    (report.inner_at, report.inner_len) = (body.offset, body.left());
    Ok(report)
}
