//! Intrinsic metadata: the fields, in order, of every structure that programs and the chip exchange.
//!
//! Names, widths and padding are given for both chips (model: chip §10), with timestamps that wrap. Padding is where
//! the headers of the architectures (TNA, T2NA) have it; structures that are not headers have none. A width of 0 means
//! that the chip does not have the field.

use crate::chip::ChipSpec;
use crate::units::{Duration, Time};

/// Architecture of a chip, as a program sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Architecture {
    /// Tofino's.
    Tna,
    /// Tofino 2's.
    T2na,
}

impl Architecture {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Tna, Self::T2na];

    /// Returns the architecture of a chip. Packets override mirror sessions on Tofino 2 only, which adds the most
    /// fields.
    pub const fn of(chip: &ChipSpec) -> Self {
        if chip.features.mirror_overrides { Self::T2na } else { Self::Tna }
    }
}

/// A field of a structure, or padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntrinsicField {
    name: &'static str,
    widths: [u16; 2],
}

impl IntrinsicField {
    /// Returns the name; empty for padding.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns true for bits without meaning.
    pub const fn is_padding(&self) -> bool {
        self.name.is_empty()
    }

    /// Returns the field's width in bits; 0 if the chip does not have the field.
    pub const fn bits(&self, architecture: Architecture) -> u16 {
        self.widths[architecture as usize]
    }
}

const fn both(name: &'static str, bits: u16) -> IntrinsicField {
    IntrinsicField { name, widths: [bits; 2] }
}

const fn each(name: &'static str, tna: u16, t2na: u16) -> IntrinsicField {
    IntrinsicField { name, widths: [tna, t2na] }
}

const fn pad(tna: u16, t2na: u16) -> IntrinsicField {
    each("", tna, t2na)
}

/// A structure of intrinsic metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntrinsicStruct {
    /// `ingress_intrinsic_metadata_t`, in front of every ingress packet.
    Ingress,
    /// `ingress_` and `egress_intrinsic_metadata_from_parser_t`.
    FromParser,
    /// `ingress_intrinsic_metadata_for_tm_t`.
    ForTm,
    /// `ingress_intrinsic_metadata_for_deparser_t`.
    IngressForDeparser,
    /// `egress_intrinsic_metadata_t`, in front of every egress packet.
    Egress,
    /// `egress_intrinsic_metadata_for_deparser_t`.
    EgressForDeparser,
    /// `egress_intrinsic_metadata_for_output_port_t`.
    ForOutputPort,
    /// `ptp_metadata_t`, in front of a packet whose delay the MAC updates.
    Ptp,
    /// `ghost_intrinsic_metadata_t`, all that a ghost thread sees.
    Ghost,
}

/// The overrides of mirror sessions and the flow-control word that both deparsers of Tofino 2 take.
macro_rules! deparser_tail {
    ($($first:expr,)* ; $($last:expr,)*) => {
        &[
            $($first,)*
            each("mirror_io_select", 0, 1),
            each("mirror_hash", 0, 13),
            each("mirror_ingress_cos", 0, 3),
            each("mirror_deflect_on_drop", 0, 1),
            each("mirror_multicast_ctrl", 0, 1),
            each("mirror_egress_port", 0, 9),
            each("mirror_qid", 0, 7),
            each("mirror_coalesce_length", 0, 8),
            each("adv_flow_ctl", 0, 32),
            each("mtu_trunc_len", 0, 14),
            each("mtu_trunc_err_f", 0, 1),
            $($last,)*
        ]
    };
}

const INGRESS: &[IntrinsicField] = &[
    both("resubmit_flag", 1),
    pad(1, 1),
    both("packet_version", 2),
    pad(3, 3),
    both("ingress_port", 9),
    both("ingress_mac_tstamp", 48),
];

const FROM_PARSER: &[IntrinsicField] =
    &[both("global_tstamp", 48), both("global_ver", 32), both("parser_err", 16)];

const FOR_TM: &[IntrinsicField] = &[
    both("ucast_egress_port", 9),
    both("bypass_egress", 1),
    both("deflect_on_drop", 1),
    both("ingress_cos", 3),
    each("qid", 5, 7),
    both("icos_for_copy_to_cpu", 3),
    both("copy_to_cpu", 1),
    both("packet_color", 2),
    both("disable_ucast_cutthru", 1),
    both("enable_mcast_cutthru", 1),
    both("mcast_grp_a", 16),
    both("mcast_grp_b", 16),
    both("level1_mcast_hash", 13),
    both("level2_mcast_hash", 13),
    both("level1_exclusion_id", 16),
    both("level2_exclusion_id", 9),
    both("rid", 16),
];

const INGRESS_FOR_DEPARSER: &[IntrinsicField] = deparser_tail![
    both("drop_ctl", 3), both("digest_type", 3), both("resubmit_type", 3), each("mirror_type", 3, 4), ;
    each("pktgen", 0, 1), each("pktgen_address", 0, 14), each("pktgen_length", 0, 10),
];

const EGRESS: &[IntrinsicField] = &[
    pad(7, 7),
    both("egress_port", 9),
    pad(5, 5),
    both("enq_qdepth", 19),
    pad(6, 6),
    both("enq_congest_stat", 2),
    pad(14, 0),
    each("enq_tstamp", 18, 32),
    pad(5, 5),
    both("deq_qdepth", 19),
    pad(6, 6),
    both("deq_congest_stat", 2),
    both("app_pool_congest_stat", 8),
    pad(14, 0),
    each("deq_timedelta", 18, 32),
    both("egress_rid", 16),
    pad(7, 7),
    both("egress_rid_first", 1),
    pad(3, 1),
    each("egress_qid", 5, 7),
    pad(5, 5),
    both("egress_cos", 3),
    pad(7, 7),
    both("deflection_flag", 1),
    both("pkt_length", 16),
    pad(0, 8),
];

const EGRESS_FOR_DEPARSER: &[IntrinsicField] = deparser_tail![
    both("drop_ctl", 3), each("mirror_type", 3, 4), both("coalesce_flush", 1), both("coalesce_length", 7), ;
];

const FOR_OUTPUT_PORT: &[IntrinsicField] = &[both("capture_tstamp_on_tx", 1), both("update_delay_on_tx", 1)];

const PTP: &[IntrinsicField] =
    &[both("udp_cksum_byte_offset", 8), both("cf_byte_offset", 8), both("updated_cf", 48)];

const GHOST: &[IntrinsicField] =
    &[each("ping_pong", 0, 1), each("qlength", 0, 18), each("qid", 0, 11), each("pipe_id", 0, 2)];

impl IntrinsicStruct {
    /// Every structure.
    pub const ALL: [Self; 9] = [
        Self::Ingress,
        Self::FromParser,
        Self::ForTm,
        Self::IngressForDeparser,
        Self::Egress,
        Self::EgressForDeparser,
        Self::ForOutputPort,
        Self::Ptp,
        Self::Ghost,
    ];

    /// Returns the fields and the padding, the first bit first. Fields that only the other chip has have width 0.
    pub const fn fields(self) -> &'static [IntrinsicField] {
        match self {
            Self::Ingress => INGRESS,
            Self::FromParser => FROM_PARSER,
            Self::ForTm => FOR_TM,
            Self::IngressForDeparser => INGRESS_FOR_DEPARSER,
            Self::Egress => EGRESS,
            Self::EgressForDeparser => EGRESS_FOR_DEPARSER,
            Self::ForOutputPort => FOR_OUTPUT_PORT,
            Self::Ptp => PTP,
            Self::Ghost => GHOST,
        }
    }

    /// Returns true if the structure precedes a packet as bytes or, on a ghost thread, replaces the packet.
    pub const fn is_header(self) -> bool {
        matches!(self, Self::Ingress | Self::Egress | Self::Ptp | Self::Ghost)
    }

    /// Returns the number of bits, including padding; 0 if the chip does not have the structure.
    pub fn bits(self, architecture: Architecture) -> u32 {
        self.fields().iter().map(|field| u32::from(field.bits(architecture))).sum()
    }

    /// Returns the named fields that a chip has, with the bit at which each starts.
    pub fn layout(self, architecture: Architecture) -> impl Iterator<Item = (u32, &'static IntrinsicField)> {
        self.fields()
            .iter()
            .scan(0, move |next, field| {
                let at = *next;
                *next += u32::from(field.bits(architecture));
                Some((at, field))
            })
            .filter(move |(_, field)| !field.is_padding() && field.bits(architecture) != 0)
    }

    /// Returns the field of this name and the bit at which it starts.
    pub fn field(self, architecture: Architecture, name: &str) -> Option<(u32, &'static IntrinsicField)> {
        self.layout(architecture).find(|(_, field)| field.name == name)
    }
}

/// Returns a timestamp of `bits` bits: whole nanoseconds, wrapped. 48 bits last 3.2 days; 18 bits, which Tofino's
/// queue timestamps have, 262 us (model: tm §11).
pub const fn stamp(time: Time, bits: u32) -> u64 {
    time.as_nanos() & mask(bits)
}

/// Returns the difference of two timestamps of `bits` bits as the chip computes it: from the stored bits of both, with
/// wrap-around.
pub const fn stamp_delta(from: Time, to: Time, bits: u32) -> u64 {
    stamp(to, bits).wrapping_sub(stamp(from, bits)) & mask(bits)
}

/// Returns the period after which a timestamp of `bits` bits wraps; saturates.
pub const fn stamp_period(bits: u32) -> Duration {
    Duration::from_nanos(mask(bits).saturating_add(1))
}

const fn mask(bits: u32) -> u64 {
    match bits {
        0 => 0,
        1..64 => u64::MAX >> (64 - bits),
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_the_headers() {
        let bits = |which: IntrinsicStruct| Architecture::ALL.map(|architecture| which.bits(architecture));
        assert_eq!(bits(IntrinsicStruct::Ingress), [64, 64]);
        // With the 14 bits that fill Tofino's short timestamps up to four bytes.
        assert_eq!(bits(IntrinsicStruct::Egress), [27 * 8, 28 * 8]);
        assert_eq!(bits(IntrinsicStruct::Ptp), [64, 64]);
        assert_eq!(bits(IntrinsicStruct::Ghost), [0, 32]);
        assert_eq!(bits(IntrinsicStruct::FromParser), [96, 96]);
        let chip = ChipSpec::tofino2();
        assert_eq!(Architecture::of(&chip), Architecture::T2na);
        assert_eq!(Architecture::of(&ChipSpec::tofino()), Architecture::Tna);
        let bytes = |which: IntrinsicStruct| which.bits(Architecture::T2na) / 8;
        assert_eq!(bytes(IntrinsicStruct::Ingress), chip.parser.ingress_intrinsic_bytes);
        assert_eq!(bytes(IntrinsicStruct::Egress), chip.parser.egress_intrinsic_full);
    }

    #[test]
    fn header_fields_end_at_byte_borders() {
        for which in IntrinsicStruct::ALL.into_iter().filter(|which| which.is_header()) {
            for architecture in Architecture::ALL {
                assert_eq!(which.bits(architecture) % 8, 0, "{which:?}");
                let mut next = 0;
                for (at, field) in which.layout(architecture) {
                    assert!(at >= next, "{which:?} {}", field.name());
                    next = at + u32::from(field.bits(architecture));
                }
            }
        }
        // Each field of the egress header ends at the end of a byte.
        for architecture in Architecture::ALL {
            for (at, field) in IntrinsicStruct::Egress.layout(architecture) {
                assert_eq!((at + u32::from(field.bits(architecture))) % 8, 0, "{}", field.name());
            }
        }
    }

    #[test]
    fn fields_by_name() {
        let (at, field) = IntrinsicStruct::Ingress.field(Architecture::Tna, "ingress_port").unwrap();
        assert_eq!((at, field.bits(Architecture::Tna)), (7, 9));
        let (at, _) = IntrinsicStruct::Egress.field(Architecture::T2na, "deq_timedelta").unwrap();
        assert_eq!(at, 8 * (2 + 3 + 1 + 4 + 3 + 1 + 1));
        assert_eq!(IntrinsicStruct::IngressForDeparser.field(Architecture::Tna, "adv_flow_ctl"), None);
        let names = |architecture| IntrinsicStruct::EgressForDeparser.layout(architecture).count();
        assert_eq!((names(Architecture::Tna), names(Architecture::T2na)), (4, 15));
        for which in IntrinsicStruct::ALL {
            let mut names: Vec<&str> =
                which.fields().iter().filter(|field| !field.is_padding()).map(IntrinsicField::name).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{which:?}");
        }
    }

    #[test]
    fn short_stamps_wrap() {
        // A packet that waits 300 us in a paused queue: 18 bits show 300,000 - 262,144 ns.
        let (from, to) = (Time::from_nanos(1_000_000_123), Time::from_nanos(1_000_300_123));
        assert_eq!(stamp_delta(from, to, 18), 300_000 - 262_144);
        assert_eq!(stamp_delta(from, to, 32), 300_000);
        assert_eq!(stamp_period(18), Duration::from_nanos(262_144));
        assert_eq!(stamp(Time::from_nanos((1 << 48) + 5), 48), 5);
        assert_eq!((stamp_period(64), stamp(from, 0)), (Duration::MAX, 0));
    }
}
