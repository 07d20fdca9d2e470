//! Structures of intrinsic metadata as P4 text, from the chip model's tables.

use sluice_asic::intrinsic::{Architecture, IntrinsicField, IntrinsicStruct};
use std::fmt::Write;

/// The structures in the order of their text, with their names in P4.
const STRUCTS: [(&str, IntrinsicStruct); 10] = [
    ("ingress_intrinsic_metadata_t", IntrinsicStruct::Ingress),
    ("ingress_intrinsic_metadata_for_tm_t", IntrinsicStruct::ForTm),
    ("ingress_intrinsic_metadata_from_parser_t", IntrinsicStruct::FromParser),
    ("ingress_intrinsic_metadata_for_deparser_t", IntrinsicStruct::IngressForDeparser),
    ("egress_intrinsic_metadata_t", IntrinsicStruct::Egress),
    ("egress_intrinsic_metadata_from_parser_t", IntrinsicStruct::FromParser),
    ("egress_intrinsic_metadata_for_deparser_t", IntrinsicStruct::EgressForDeparser),
    ("egress_intrinsic_metadata_for_output_port_t", IntrinsicStruct::ForOutputPort),
    ("ptp_metadata_t", IntrinsicStruct::Ptp),
    ("ghost_intrinsic_metadata_t", IntrinsicStruct::Ghost),
];

/// Returns the declarations of all structures that an architecture has. TNA programs for Tofino 2 have TNA's fields, with
/// queue numbers and mirror types as wide as Tofino 2 has them.
pub(super) fn text(architecture: Architecture, chip: Architecture) -> String {
    let mut text = String::from(
        "// Intrinsic metadata: what the chip tells a program of a packet, and what it obeys.\n",
    );
    for (name, which) in STRUCTS {
        if which.bits(architecture) == 0 {
            continue;
        }
        let kind = if which.is_header() { "header" } else { "struct" };
        let _ = write!(text, "\n{kind} {name} {{\n");
        let mut pads = 0;
        for (index, field) in which.fields().iter().enumerate() {
            let next = which.fields().get(index + 1);
            let bits = width(field, next, architecture, chip);
            match (bits, field.is_padding()) {
                (0, _) => {}
                (_, true) => {
                    let _ = writeln!(text, "    @padding bit<{bits}> _pad{pads};");
                    pads += 1;
                }
                (_, false) => {
                    let _ = writeln!(text, "    bit<{bits}> {};", field.name());
                }
            }
        }
        text.push_str("}\n");
    }
    text
}

/// Returns true if a structure of intrinsic metadata has a field in T2NA alone.
pub(crate) fn is_of_t2na_alone(structure: &str, field: &str) -> bool {
    let fields = STRUCTS.iter().filter(|(name, _)| *name == structure).flat_map(|(_, which)| which.fields());
    let mut found = fields.filter(|known| known.name() == field);
    found.any(|found| found.bits(Architecture::Tna) == 0 && found.bits(Architecture::T2na) > 0)
}

/// Returns the width of a field, 0 if the architecture does not have it. The chip decides the width of queue numbers, with the
/// padding in front, and of mirror types.
fn width(
    field: &IntrinsicField,
    next: Option<&IntrinsicField>,
    architecture: Architecture,
    chip: Architecture,
) -> u16 {
    let by_chip = |field: &IntrinsicField| matches!(field.name(), "qid" | "egress_qid" | "mirror_type");
    let padded = field.is_padding() && next.is_some_and(|next| next.name() == "egress_qid");
    match field.bits(architecture) {
        0 => 0,
        _ if by_chip(field) || padded => field.bits(chip),
        bits => bits,
    }
}
