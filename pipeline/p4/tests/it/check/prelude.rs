//! The prelude: structures of intrinsic metadata have the widths of each chip, and every declaration type-checks.

use super::{Snippet, snippet};
use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::{TyKind, Value};
use sluice_p4::syntax::ast::DeclKind;

/// Returns the widths of the fields of a header or struct of the prelude.
fn widths(snippet: &Snippet, name: &str) -> Vec<(String, u32)> {
    let symbol = snippet.ast.names.find(name).expect("the prelude has the name");
    let decl = snippet.checked.top[&symbol][0];
    let (DeclKind::Header(decl) | DeclKind::Struct(decl)) = &snippet.ast.decls[decl].kind else {
        panic!("{name} is a header or struct");
    };
    let field = |&field: &_| {
        let ty = snippet.checked.types.kind(snippet.checked.decl_types[field]);
        let TyKind::Bits(width) = ty else { panic!("{name} has fields of bits") };
        (snippet.ast.text(snippet.ast.decls[field].name).to_owned(), *width)
    };
    decl.fields.iter().map(field).collect()
}

fn width(snippet: &Snippet, name: &str, field: &str) -> Option<u32> {
    widths(snippet, name).into_iter().find(|(name, _)| name == field).map(|(_, width)| width)
}

#[test]
fn widths_of_each_chip() {
    let (one, two) = (snippet(Architecture::Tna, ""), snippet(Architecture::T2na, ""));
    for (name, field, tofino, tofino2) in [
        ("ingress_intrinsic_metadata_t", "ingress_port", Some(9), Some(9)),
        ("ingress_intrinsic_metadata_t", "ingress_mac_tstamp", Some(48), Some(48)),
        ("ingress_intrinsic_metadata_for_tm_t", "qid", Some(5), Some(7)),
        ("ingress_intrinsic_metadata_for_tm_t", "level2_exclusion_id", Some(9), Some(9)),
        ("ingress_intrinsic_metadata_for_deparser_t", "mirror_type", Some(3), Some(4)),
        ("ingress_intrinsic_metadata_for_deparser_t", "adv_flow_ctl", None, Some(32)),
        ("egress_intrinsic_metadata_t", "deq_timedelta", Some(18), Some(32)),
        ("egress_intrinsic_metadata_t", "egress_qid", Some(5), Some(7)),
        ("egress_intrinsic_metadata_for_output_port_t", "update_delay_on_tx", Some(1), Some(1)),
        ("pktgen_timer_header_t", "app_id", Some(3), Some(4)),
    ] {
        assert_eq!(width(&one, name, field), tofino, "{name}.{field} of Tofino");
        assert_eq!(width(&two, name, field), tofino2, "{name}.{field} of Tofino 2");
    }
    assert_eq!(one.ast.names.find("ghost_intrinsic_metadata_t"), None);
    assert_eq!(width(&two, "ghost_intrinsic_metadata_t", "qlength"), Some(18));
}

#[test]
fn headers_fill_bytes() {
    for (chip, egress) in [(Architecture::Tna, 216), (Architecture::T2na, 224)] {
        let snippet = snippet(chip, "");
        let bits = |name: &str| widths(&snippet, name).iter().map(|(_, width)| width).sum::<u32>();
        assert_eq!(bits("ingress_intrinsic_metadata_t"), 64);
        assert_eq!(bits("egress_intrinsic_metadata_t"), egress);
        assert_eq!(bits("ptp_metadata_t"), 64);
        for name in ["pktgen_timer_header_t", "pktgen_port_down_header_t"] {
            assert_eq!(bits(name), 48, "{name}");
        }
    }
}

#[test]
fn the_declarations_have_no_mistakes() {
    for chip in Architecture::ALL {
        let snippet = snippet(chip, "");
        assert_eq!(snippet.diagnostics.list(), []);
        for name in
            ["packet_in", "Register", "RegisterAction", "Switch", "NoAction", "verify", "Alpm", "Digest"]
        {
            let symbol = snippet.ast.names.find(name).expect(name);
            assert!(snippet.checked.top.contains_key(&symbol), "{name}");
        }
    }
}

#[test]
fn port_metadata_has_the_chip_s_size() {
    for (chip, bits) in [(Architecture::Tna, 64), (Architecture::T2na, 192)] {
        let snippet = snippet(chip, "");
        let symbol = snippet.ast.names.find("PORT_METADATA_SIZE").expect("the prelude has the constant");
        let decl = snippet.checked.top[&symbol][0];
        assert_eq!(snippet.checked.constants[&decl], Value::Int(bits.into()));
    }
}
