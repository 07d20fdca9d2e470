//! Bytes in front of the packet.
//!
//! A P4 program sees bytes that the IR does not have: intrinsic metadata, and in ingress port metadata or what a resubmit left. The
//! program skips or extracts them as if they were the packet's. So every path counts the bits that it has consumed of them; what
//! lies in front makes nothing, except the data of a resubmit, which are bytes of the packet in the IR too.

use sluice_asic::gress::Gress;
use sluice_asic::intrinsic::{Architecture, IntrinsicStruct};

/// How far a path has come in front of the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Front {
    /// Bits consumed; the length of all of them where the packet begins.
    pub at: u32,
    /// True if the packet was resubmitted, false if not, `None` if the path has not asked.
    pub resubmitted: Option<bool>,
}

/// What is in front of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Bits of intrinsic metadata.
    pub intrinsic: u32,
    /// All bits in front of the packet.
    pub total: u32,
    /// Bits that a resubmit leaves behind the intrinsic metadata; 0 if the program leaves none.
    pub resubmit: u32,
}

/// Kinds of bits that an operation consumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Intrinsic metadata, port metadata or padding, which the IR does not have as bytes.
    Absent,
    /// Data of a resubmit, or the packet.
    Real,
    /// Port metadata, or data of a resubmit: the path has not asked which.
    Either,
}

impl Layout {
    /// Returns the layout of a gress; `resubmit` is the number of bits that the program's resubmits leave.
    pub(super) fn of(gress: Gress, chip: Architecture, resubmit: u32) -> Layout {
        let bits = |of: IntrinsicStruct| of.bits(chip);
        match gress {
            Gress::Ingress => {
                let intrinsic = bits(IntrinsicStruct::Ingress);
                // Tofino 2 has 16 bytes of port metadata or of resubmit data, and 8 bytes of padding.
                let more = if chip == Architecture::Tna { 64 } else { 192 };
                Layout { intrinsic, total: intrinsic + more, resubmit }
            }
            Gress::Egress => {
                let intrinsic = bits(IntrinsicStruct::Egress);
                Layout { intrinsic, total: intrinsic, resubmit: 0 }
            }
        }
    }

    /// Returns the runs of equal bits among the next `bits`, first run first.
    pub(super) fn runs(&self, front: Front, bits: u32) -> Vec<(Kind, u32)> {
        let data = match front.resubmitted {
            _ if self.resubmit == 0 => Kind::Absent,
            Some(true) => Kind::Real,
            Some(false) => Kind::Absent,
            None => Kind::Either,
        };
        let ends = [
            (self.intrinsic, Kind::Absent),
            (self.intrinsic + self.resubmit, data),
            (self.total, Kind::Absent),
            (u32::MAX, Kind::Real),
        ];
        let (mut at, end) = (front.at, front.at.saturating_add(bits));
        let mut runs: Vec<(Kind, u32)> = Vec::new();
        for (limit, kind) in ends {
            let here = limit.min(end).saturating_sub(at);
            if here == 0 {
                continue;
            }
            at += here;
            match runs.last_mut() {
                Some(last) if last.0 == kind => last.1 += here,
                _ => runs.push((kind, here)),
            }
        }
        runs
    }

    /// Returns the path after `bits` more.
    pub(super) fn advance(&self, front: Front, bits: u32) -> Front {
        Front { at: front.at.saturating_add(bits).min(self.total), ..front }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_begin_behind_the_metadata_of_the_chip() {
        let tofino = Layout::of(Gress::Ingress, Architecture::Tna, 0);
        assert_eq!((tofino.intrinsic, tofino.total), (64, 128));
        assert_eq!(Layout::of(Gress::Ingress, Architecture::T2na, 0).total, 256);
        let start = Front::default();
        assert_eq!(tofino.runs(start, 192), [(Kind::Absent, 128), (Kind::Real, 64)]);
        let packet = tofino.advance(start, 128);
        assert_eq!(tofino.runs(packet, 112), [(Kind::Real, 112)]);
    }

    #[test]
    fn data_of_a_resubmit_are_bytes_of_the_packet() {
        let layout = Layout::of(Gress::Ingress, Architecture::T2na, 128);
        let at = |resubmitted| Front { at: 64, resubmitted };
        assert_eq!(
            layout.runs(at(Some(true)), 256),
            [(Kind::Real, 128), (Kind::Absent, 64), (Kind::Real, 64)]
        );
        assert_eq!(layout.runs(at(Some(false)), 192), [(Kind::Absent, 192)]);
        assert_eq!(layout.runs(at(None), 64), [(Kind::Either, 64)]);
    }
}
