//! Names of v1model (bmv2), which have other forms in TNA.

/// Each name, and what stands for it in the ingress control of TNA; `ig`, `dprsr` and `tm` are its parameters of intrinsic metadata, for
/// the port, the deparser and the traffic manager.
const NAMES: [(&str, &str); 14] = [
    ("mark_to_drop", "`dprsr.drop_ctl = 1;` drops the packet"),
    (
        "standard_metadata",
        "`ig.ingress_port` is the port of arrival, and `tm.ucast_egress_port = 3;` sends the packet",
    ),
    (
        "standard_metadata_t",
        "controls have a parameter of type `ingress_intrinsic_metadata_t` or `egress_intrinsic_metadata_t`",
    ),
    ("V1Switch", "`Pipeline(IngressParser(), ..) pipe; Switch(pipe) main;` makes the switch"),
    ("clone", "a deparser's `mirror.emit(..)` makes a copy, if the control sets `dprsr.mirror_type`"),
    ("clone3", "a deparser's `mirror.emit(..)` makes a copy, if the control sets `dprsr.mirror_type`"),
    (
        "clone_preserving_field_list",
        "a deparser's `mirror.emit(..)` makes a copy, if the control sets `dprsr.mirror_type`",
    ),
    ("recirculate", "`tm.ucast_egress_port = 68;` sends the packet to a recirculation port"),
    ("resubmit", "a deparser's `resubmit.emit(..)` makes it, if the control sets `dprsr.resubmit_type`"),
    ("digest", "a deparser's `digest.pack(..)` makes it, if the control sets `dprsr.digest_type`"),
    ("hash", "`Hash<bit<16>>(HashAlgorithm_t.CRC16) h;` computes by `h.get({ .. })`"),
    ("update_checksum", "`Checksum() sum;` in the deparser computes by `sum.update({ .. })`"),
    ("verify_checksum", "`Checksum() sum;` in the parser checks by `sum.add(..)` and `sum.verify()`"),
    ("log_msg", "`sluice replay --trace` shows each statement of a packet"),
];

/// Returns what stands for a name of v1model in TNA.
pub(super) fn in_tna(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::WithPrelude;
    use crate::source::Texts;
    use crate::{Options, parse};
    use sluice_asic::intrinsic::Architecture;

    #[test]
    fn statements_that_are_proposed_are_legal() {
        let quoted = NAMES.iter().flat_map(|(_, form)| form.split('`').skip(1).step_by(2));
        let statements: String = quoted
            .filter(|code| code.starts_with("dprsr.") || code.starts_with("tm."))
            .filter(|code| code.ends_with(';'))
            .collect();
        assert_eq!(statements.matches(';').count(), 3, "{statements}");
        let text = format!(
            "#include <tna.p4>
            control C(in ingress_intrinsic_metadata_t ig, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
                inout ingress_intrinsic_metadata_for_tm_t tm, inout bit<16> x) {{
                Hash<bit<16>>(HashAlgorithm_t.CRC16) h;
                apply {{ {statements} x = h.get({{ ig.ingress_port }}); dprsr.mirror_type = 1; dprsr.resubmit_type = 1; dprsr.digest_type = 1; }}
            }}"
        );
        let loader = WithPrelude::new(Texts::new().with("main.p4", &text), Architecture::Tna);
        let mut parsed =
            parse(&loader, "main.p4", &Options { chip: Architecture::Tna, ..Options::default() });
        let _ = crate::check::check(&parsed.ast, &mut parsed.diagnostics);
        assert_eq!(parsed.messages(), "");
        assert!(in_tna("mark_to_drop").is_some() && in_tna("drop").is_none());
    }
}
