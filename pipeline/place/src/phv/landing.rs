//! Bits of the packet that the parser copies to fields.
//!
//! An extractor copies whole bytes to a whole container. A copy of whole bytes fills its containers. Other bits come with
//! their neighbours: the field has a container of its own, at the bit at which its value is in the byte of the packet.

use super::demand::Demand;
use sluice_ir::entity::EntityMap;
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Header, Home, Loc, Lookahead, ParserOpKind, ParserState, Program};

/// A copy of bits of the packet to bits of a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Landing {
    pub(super) to: Field,
    /// Lowest bit of the field that is written.
    pub(super) lo: u16,
    /// Number of bits.
    pub(super) width: u16,
    /// Position of the lowest copied bit in its byte of the packet, 0 for the least significant one.
    pub(super) bit: u16,
    /// State that copies.
    pub(super) state: ParserState,
    /// Field whose bits are copied, with the lowest of them; `None` for a look-ahead.
    from: Option<(Field, u16)>,
    loc: Loc,
}

impl Landing {
    /// Returns true if whole bytes are copied to whole bytes of the field.
    pub(super) fn is_whole(&self) -> bool {
        self.bit == 0 && self.width.is_multiple_of(8) && self.lo.is_multiple_of(8)
    }

    /// Returns the header from which bits are copied, and by how many bits they move towards its front in a copy to a header.
    pub(super) fn moved(&self, program: &Program) -> Option<(Header, i64)> {
        let end = |field: Field, lo: u16| {
            let Home::Header(header) = program.fields[field].home else { return None };
            let end = program.field_offset(header, field)? + u32::from(program.fields[field].width - lo);
            Some((header, i64::from(end)))
        };
        let (field, lo) = self.from?;
        let ((header, from), (_, to)) = (end(field, lo)?, end(self.to, self.lo)?);
        Some((header, from - to))
    }
}

/// Returns true if every copy of packet bytes to a field can fill two words, although these are longer than the field: the high
/// container takes the bytes of the same state before it, too, which do not reach a sum's lower bits.
pub(super) fn fills_words(program: &Program, field: Field) -> bool {
    let missing = u32::from(64 - program.fields[field].width.min(64)).div_ceil(8);
    let before = |l: &Landing| {
        let (from, lo) = l.from?;
        let Home::Header(header) = program.fields[from].home else { return None };
        let ops = program.states[l.state].ops.iter().map(|op| &op.kind);
        let mut bytes = program.field_offset(header, from)? / 8;
        for kind in ops {
            match kind {
                ParserOpKind::Extract(h) if *h == header => {
                    return (lo == 0 && l.lo == 0 && l.width == program.fields[field].width).then_some(bytes);
                }
                ParserOpKind::Extract(h) => bytes += program.header_bits(*h) / 8,
                _ => {}
            }
        }
        None
    };
    let mut all = landings(program).into_iter().filter(|l| l.to == field);
    program.fields[field].width.is_multiple_of(8)
        && all.all(|l| l.is_whole() && before(&l).is_some_and(|bytes| bytes >= missing))
}

/// Returns the copies of all parsers.
pub(super) fn landings(program: &Program) -> Vec<Landing> {
    let ops = program.states.iter().flat_map(|(state, s)| s.ops.iter().map(move |op| (state, op)));
    ops.filter_map(|(state, op)| landing(program, state, &op.kind, op.loc)).collect()
}

fn landing(program: &Program, state: ParserState, kind: &ParserOpKind, loc: Loc) -> Option<Landing> {
    // Bits before the end of the copied ones, from a byte boundary on.
    let below = |end: u32| ((8 - end % 8) % 8) as u16;
    if let ParserOpKind::Lookahead(to, at) = kind {
        let ahead = Lookahead { at: *at, width: program.fields[*to].width };
        let end = u32::from(ahead.at) + u32::from(ahead.width);
        return Some(Landing { to: *to, lo: 0, width: ahead.width, bit: below(end), state, from: None, loc });
    }
    let write = kind.write()?;
    let (from, at) = write.source()?;
    let Home::Header(header) = program.fields[from].home else { return None };
    let start = program.field_offset(header, from)?;
    let end = start + u32::from(program.fields[from].width.saturating_sub(at));
    let (hi, lo) = write.bits.unwrap_or((program.fields[write.to].width.saturating_sub(1), 0));
    let width = (hi + 1).saturating_sub(lo);
    Some(Landing { to: write.to, lo, width, bit: below(end), state, from: Some((from, at)), loc })
}

/// Returns the bit of its container at which a field is, if the parser copies bits to it that are not whole bytes.
pub(super) fn position(program: &Program, landings: &[Landing], field: Field) -> Option<u8> {
    let metadata = program.fields[field].home == Home::Metadata;
    let mut partial = landings.iter().filter(|l| metadata && l.to == field && !l.is_whole());
    partial.next().map(|l| l.bit as u8)
}

/// Returns what is wrong with a copy of bits that are not whole bytes.
pub(super) fn unfit(
    program: &Program,
    landings: &[Landing],
    demands: &EntityMap<Field, Demand>,
    landing: &Landing,
) -> Option<Diag> {
    let (data, demand) = (&program.fields[landing.to], &demands[landing.to]);
    let own = demand.own || !demand.parts.is_empty();
    let at = position(program, landings, landing.to).map_or(landing.bit, u16::from);
    let why = match data.home {
        _ if landing.is_whole() && (at + landing.lo).is_multiple_of(8) => return None,
        Home::Header(_) => match super::mates::harmed(program, landings, demands, landing) {
            None => return None,
            Some(other) if other == landing.to => {
                "the field of the header is at other bits of its byte".to_owned()
            }
            Some(other) => format!("bits beside them would change `{}`", program.fields[other].name),
        },
        _ if landing.lo != 0 || landing.width != data.width => {
            "bits beside them in the container would be overwritten".to_owned()
        }
        _ if landing.bit != at => format!("another state copies bits that begin at bit {at} of a byte"),
        _ if at + data.width > 32 => "they and their neighbours do not fit a container".to_owned(),
        _ if own && at != 0 => {
            "the field is an operand of whole-container operations, which want it at bit 0".to_owned()
        }
        _ => return None,
    };
    let what = match landing.from {
        Some((from, _)) => format!("bits of `{}`", program.fields[from].name),
        None => "bits ahead".to_owned(),
    };
    let text = format!(
        "the parser copies {what} to `{}` from bit {} of a byte on, but extractors copy whole bytes, and {why}",
        data.name, landing.bit
    );
    let diag = Diag::error(landing.loc, text).also(data.loc, "the destination");
    Some(diag.help("copy them by an action of the control block"))
}
