//! The parameters of `l3-ecmp`.

use super::hash_params::{
    FieldList, HashChoice, HashSeed, HashWidth, Ipv4HashField, Ipv6HashField, SeedStyle, Selection,
};
use sluice_build::params;
use sluice_catalogue::ProgramError;

/// Parameters of `l3-ecmp`: table sizes, and how members of a group are chosen.
///
/// The hash parameters can describe the choice of another switch exactly: the fields and their order, the function,
/// its seed and rotation, and the way in which the result picks a member (model: hashing §1, §6, §7.3).
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// IPv4 routes that the table must hold
    #[param(range = 1..=4_000_000)]
    pub ipv4_routes: u32,
    /// IPv6 routes that the table must hold
    #[param(range = 1..=4_000_000)]
    pub ipv6_routes: u32,
    /// IPv4 filter rules that the table must hold
    #[param(range = 1..=65_536)]
    pub ipv4_acl_rules: u32,
    /// IPv6 filter rules that the table must hold
    #[param(range = 1..=65_536)]
    pub ipv6_acl_rules: u32,
    /// ECMP and WCMP groups that the selector must hold
    #[param(range = 1..=65_535)]
    pub ecmp_groups: u32,
    /// Members over all groups that the action profile must hold
    #[param(range = 1..=65_536)]
    pub ecmp_members: u32,
    /// Slots of one group: the largest sum of its members' weights. A selector word has 120 slots
    #[param(range = 1..=120)]
    pub ecmp_group_size: u32,
    /// Next hops that the neighbor table must hold
    #[param(range = 1..=65_535)]
    pub neighbors: u32,
    /// Pairs of VLAN and destination MAC that the bridging table must hold
    #[param(range = 1..=1_000_000)]
    pub macs: u32,
    /// Pairs of port and VLAN that the egress tagging table must hold
    #[param(range = 1..=65_536)]
    pub port_vlans: u32,
    /// Fields of the IPv4 flow hash, in order, concatenated bit by bit
    #[param(
        expects = "a comma-separated list of src, dst, protocol, src_port, dst_port, ttl, ingress_port, \
                   vlan, length, dscp, identification, or constants VALUE:BITS"
    )]
    pub hash_fields_v4: FieldList<Ipv4HashField>,
    /// Fields of the IPv6 flow hash, in order, concatenated bit by bit
    #[param(expects = "a comma-separated list of src, dst, next_header, src_port, dst_port, flow_label, \
                   hop_limit, ingress_port, vlan, length, dscp, or constants VALUE:BITS")]
    pub hash_fields_v6: FieldList<Ipv6HashField>,
    /// Hash function of both flow hashes
    #[param(
        expects = "a name such as crc_16, crc_32, crc_32c, xor16, or crc:WIDTH,POLY,reflect|plain,INIT,XOR"
    )]
    pub hash_algorithm: HashChoice,
    /// Number of low bits of the function's result that are kept, before rotation; `auto` is 14 for selection=fair,
    /// 32 for selection=resilient, and for selection=plain-modulo as many as the function has, at most 32. If the
    /// function has fewer bits than are kept, they are repeated
    #[param(expects = "auto, or 1 to 32")]
    pub hash_width: HashWidth,
    /// Seed of both flow hashes
    #[param(
        expects = "0 to 0xffffffff, decimal or hexadecimal; with hash_seed_style=xor within hash_width bits"
    )]
    pub hash_seed: HashSeed,
    /// How the seed is applied: `xor` flips bits of the result, before rotation (the chip's seed register);
    /// `prefix` hashes the seed in front of the fields, as a 32-bit constant
    #[param(expects = "xor or prefix")]
    pub hash_seed_style: SeedStyle,
    /// Rotation of the kept bits to the right (the ECMP offset of SAI), in bits; taken modulo
    /// the width
    #[param(range = 0..=31)]
    pub hash_rotate: u16,
    /// How the hash picks a member: `fair` takes 14 bits modulo the number of members that are up; `resilient`
    /// moves no flow whose member stays up; `plain-modulo` takes the whole hash modulo the number of members
    /// that are up, as software does (no chip has this mode, and the report says so)
    #[param(expects = "fair, resilient or plain-modulo")]
    pub selection: Selection,
}

impl Default for Params {
    fn default() -> Self {
        use Ipv4HashField as V4;
        use Ipv6HashField as V6;
        Params {
            ipv4_routes: 12_288,
            ipv6_routes: 4_096,
            ipv4_acl_rules: 512,
            ipv6_acl_rules: 512,
            ecmp_groups: 1_024,
            ecmp_members: 4_096,
            ecmp_group_size: 120,
            neighbors: 4_096,
            macs: 4_096,
            port_vlans: 1_024,
            hash_fields_v4: [V4::Src, V4::Dst, V4::Protocol, V4::SrcPort, V4::DstPort].into(),
            hash_fields_v6: [V6::Src, V6::Dst, V6::NextHeader, V6::SrcPort, V6::DstPort, V6::FlowLabel]
                .into(),
            hash_algorithm: HashChoice::CRC_32,
            hash_width: HashWidth::Auto,
            hash_seed: HashSeed(0),
            hash_seed_style: SeedStyle::Xor,
            hash_rotate: 0,
            selection: Selection::Fair,
        }
    }
}

impl Params {
    /// Returns the width of the flow hash in bits.
    #[must_use]
    pub fn flow_hash_width(&self) -> u16 {
        match (self.hash_width, self.selection) {
            (HashWidth::Bits(width), _) => width,
            (HashWidth::Auto, Selection::Fair) => 14,
            (HashWidth::Auto, Selection::Resilient) => 32,
            // Repeated bits would change the remainder: it is that of the function's own result.
            (HashWidth::Auto, Selection::PlainModulo) => {
                let own = self.hash_algorithm.algorithm().natural_width(64, 32);
                u16::try_from(own).unwrap_or(32).min(32)
            }
        }
    }

    /// Checks combinations of parameters.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        let width = self.flow_hash_width();
        let HashSeed(seed) = self.hash_seed;
        if self.hash_seed_style == SeedStyle::Xor && seed.checked_shr(width.into()).unwrap_or(0) != 0 {
            return Err(ProgramError::conflict(
                program,
                "hash_seed",
                self.hash_seed.to_string(),
                format!(
                    "hash_seed_style=xor flips bits of the {width}-bit hash, so the seed must fit into them; \
                     widen hash_width, or set hash_seed_style=prefix"
                ),
            ));
        }
        Ok(())
    }
}
