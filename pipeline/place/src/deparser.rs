//! Resources of the deparser, and its limits (model: chip §6.4).
//!
//! A field dictionary entry belongs to one header's validity bit and holds up to 4 bytes (T1: one container, or smaller
//! adjacent ones together) or 8 bytes (T2: a chunk, filled byte by byte). The longest head is that of the parse path with
//! the longest emitted headers, plus every header that an action can make valid; mutual exclusion of actions is ignored.

use super::data::PhvAllocation;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::PhvInventory;
use sluice_ir::parser_unroll::{UnrolledNode, UnrolledParser};
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Header, Loc, PrimitiveKind, Program, RequestKind};
use std::collections::BTreeSet;

/// Units of a gress's deparser in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeparserCost {
    /// Field dictionary entries (T1) or chunks (T2).
    pub entries: u32,
    /// Bytes in these entries. The vendor's compiler warns on Tofino if they fill less than 83 % of the entries (model:
    /// chip §6.4).
    pub entry_bytes: u32,
    /// Validity bits read.
    pub pov_bits: u32,
    /// Most bytes of headers of a packet at the deparser's output.
    pub header_bytes: u32,
    /// Checksum units.
    pub checksum_units: u32,
    /// Bytes of the containers with these validity bits; whole containers count.
    pub pov_bytes: u32,
    /// Bytes of the longest headers of requests.
    pub requests: RequestCost,
}

/// Bytes of the longest header of each kind of request. Their containers count in the PHV, and the chip rules check their
/// limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCost {
    /// Resubmit header.
    pub resubmit: u32,
    /// Header in front of a mirror copy.
    pub mirror: u32,
    /// Digest.
    pub digest: u32,
    /// Request to the packet generator.
    pub pktgen: u32,
}

/// Returns the units that the deparser of `gress` needs.
///
/// # Errors
/// If a limit of the chip is exceeded.
pub fn cost(
    program: &Program,
    chip: &ChipSpec,
    gress: Gress,
    alloc: &PhvAllocation,
) -> Result<DeparserCost, Vec<Diag>> {
    let deparser = &program.pipe(gress).deparser;
    let inventory = PhvInventory::new(&chip.phv);
    let entries = |&h: &Header| {
        let containers = alloc.header_containers(program, h);
        entries(chip, containers.iter().map(|(_, c)| inventory.get(*c).map_or(4, |i| i.size.bits() / 8)))
    };
    let mut headers = deparser.emit.clone();
    headers.sort_unstable();
    headers.dedup();
    let sizes = |h: &Header| {
        let containers = alloc.header_containers(program, *h);
        containers.iter().map(|(_, c)| inventory.get(*c).map_or(4, |i| i.size.bits() / 8)).sum::<u32>()
    };
    let mut pov: Vec<_> =
        headers.iter().filter_map(|h| alloc.valid.get(*h).copied().flatten()).map(|b| b.container).collect();
    // A flag of the deparser is a validity bit (model: chip §6.4).
    let mut flags: Vec<Field> = deparser.checksums.iter().filter_map(|c| c.when).collect();
    flags.extend(deparser.requests.iter().filter_map(|r| r.when));
    flags.sort_unstable();
    flags.dedup();
    pov.extend(flags.iter().flat_map(|f| alloc.fields.get(*f).into_iter().flatten()).map(|s| s.container));
    pov.sort_unstable();
    pov.dedup();
    let cost = DeparserCost {
        entry_bytes: deparser.emit.iter().map(sizes).sum(),
        pov_bytes: pov.iter().map(|c| inventory.get(*c).map_or(1, |i| i.size.bits() / 8)).sum(),
        entries: deparser.emit.iter().map(entries).sum(),
        pov_bits: (headers.len() + flags.len()) as u32,
        header_bytes: longest_head(program, gress),
        checksum_units: deparser.checksums.len() as u32,
        requests: requests(program, gress),
    };
    let at = deparser.emit.first().map(|&h| program.headers[h].loc).unwrap_or_default();
    let mut diags = over_limits(chip, gress, &cost, at);
    let beyond = deparser.checksums.get(chip.deparser.checksum_units as usize);
    for diag in
        diags.iter_mut().filter(|d| d.limit.as_ref().is_some_and(|l| l.key == "deparser.checksum_units"))
    {
        diag.at = beyond.map_or(at, |checksum| checksum.loc);
    }
    if diags.is_empty() { Ok(cost) } else { Err(diags) }
}

fn requests(program: &Program, gress: Gress) -> RequestCost {
    let mut cost = RequestCost::default();
    for request in &program.pipe(gress).deparser.requests {
        let longest = match request.kind {
            RequestKind::Resubmit => &mut cost.resubmit,
            RequestKind::Mirror(_) => &mut cost.mirror,
            RequestKind::Digest => &mut cost.digest,
            RequestKind::Pktgen => &mut cost.pktgen,
        };
        *longest = (request.bits(program) / 8).max(*longest);
    }
    cost
}

/// Returns the dictionary entries for adjacent containers of these bytes.
fn entries(chip: &ChipSpec, sizes: impl Iterator<Item = u32>) -> u32 {
    let size = chip.deparser.entry_bytes.max(1);
    if chip.deparser.chunks_per_group > 0 {
        return sizes.sum::<u32>().div_ceil(size);
    }
    let (mut entries, mut free) = (0, 0);
    for bytes in sizes {
        if bytes > free {
            entries += 1;
            free = size;
        }
        free = free.saturating_sub(bytes);
    }
    entries
}

/// Returns the most bytes that the deparser emits for one packet.
fn longest_head(program: &Program, gress: Gress) -> u32 {
    let mut added: Vec<Header> = Vec::new();
    for action in program.actions.values().filter(|a| a.gress == gress) {
        added.extend(action.body.iter().filter_map(|p| match p.kind {
            PrimitiveKind::SetValid(h, true) | PrimitiveKind::CopyValid(h, _) => Some(h),
            _ => None,
        }));
    }
    let emit = &program.pipe(gress).deparser.emit;
    let bytes = |h: &Header| program.header_bits(*h) / 8;
    let emitted = |h: Header| emit.iter().filter(|e| **e == h).count() as u32 * bytes(&h);
    let always: u32 = emit.iter().filter(|h| added.contains(h)).map(bytes).sum();
    let extracted = |node: &UnrolledNode| -> u32 {
        node.effect.extracted.iter().filter(|h| !added.contains(h)).map(|h| emitted(*h)).sum()
    };
    let Ok(unrolled) = UnrolledParser::of(program, gress) else { return always };
    let before = unrolled.max_before(extracted);
    if unrolled.is_bounded_by_packet() {
        // A loop can extract all of its headers.
        let all: BTreeSet<Header> =
            unrolled.nodes.iter().flat_map(|node| &node.effect.extracted).copied().collect();
        return always + all.iter().filter(|h| !added.contains(h)).map(|h| emitted(*h)).sum::<u32>();
    }
    let deepest = unrolled.nodes.iter().zip(before).map(|(node, before)| before + extracted(node)).max();
    always + deepest.unwrap_or(0)
}

fn over_limits(chip: &ChipSpec, gress: Gress, cost: &DeparserCost, at: Loc) -> Vec<Diag> {
    let d = &chip.deparser;
    let rows = [
        (
            "field dictionary entries",
            cost.entries,
            "deparser.entries",
            d.entries,
            "emit fewer or shorter headers",
        ),
        ("validity bits", cost.pov_bits, "deparser.pov_bits", d.pov_bits, "emit fewer headers"),
        ("bytes of validity bits", cost.pov_bytes, "deparser.pov_bits", d.pov_bits / 8, "emit fewer headers"),
        (
            "bytes of headers",
            cost.header_bytes,
            "deparser.max_header_bytes",
            d.max_header_bytes,
            "emit fewer or shorter headers",
        ),
        (
            "checksum units",
            cost.checksum_units,
            "deparser.checksum_units",
            d.checksum_units,
            "update fewer checksums",
        ),
    ];
    rows.into_iter()
        .filter(|(_, used, _, available, _)| used > available)
        .map(|(what, used, key, available, help)| {
            let text = format!("the {gress} deparser needs {used} {what}; {} has {available}", chip.name);
            let bits = if what == "bytes of validity bits" { 8 } else { 1 };
            Diag::error(at, text).help(help).limit(key, available * bits, used * bits)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::phv::allocate;
    use sluice_ir::cfg::Cfg;
    use sluice_ir::{ChecksumUpdate, Next, SelectArm};
    use sluice_samples::sketch::Sketch;

    fn costs(program: &Program, chip: &ChipSpec) -> Result<DeparserCost, Vec<Diag>> {
        let cfgs = Gress::ALL.map(|g| Cfg::of(program, g));
        let allocation = allocate(program, chip, &Options::default(), &cfgs).unwrap();
        cost(program, chip, Gress::Ingress, &allocation)
    }

    /// A 4-byte header, then one of 8 or 12 bytes, and a 16-byte header that an action adds.
    fn fork() -> Program {
        let mut s = Sketch::new("fork");
        let (first, f) = s.header("first", &[("kind", 8), ("a", 8), ("b", 16)]);
        let (short, _) = s.header("short", &[("x", 64)]);
        let (long, _) = s.header("long", &[("x", 96)]);
        let (tunnel, _) = s.header("tunnel", &[("x", 128)]);
        let to = |i: usize| Next::State(sluice_ir::entity::Entity::new(i));
        let arms = [1, 2].map(|i| SelectArm::new(vec![(i as u128, 0xff)], to(i)));
        s.state("start", first, &f[..1], arms.to_vec());
        s.state("short", short, &[], vec![]);
        s.state("long", long, &[], vec![]);
        let add = s.action("add", &[], vec![PrimitiveKind::SetValid(tunnel, true)]);
        let block = vec![s.stmt(sluice_ir::StmtKind::Call(add))];
        s.control(block);
        s.program.pipes[0].deparser.emit.insert(0, tunnel);
        s.program
    }

    #[test]
    fn the_longest_path_and_what_is_added_count() {
        let program = fork();
        let tofino = costs(&program, &ChipSpec::tofino()).unwrap();
        // Words: 1 (four bytes together), 2, 3 and 4.
        let expected = DeparserCost {
            entries: 10,
            entry_bytes: 40,
            pov_bits: 4,
            pov_bytes: 1,
            header_bytes: 32,
            ..DeparserCost::default()
        };
        assert_eq!(tofino, expected);
        let tofino2 = costs(&program, &ChipSpec::tofino2()).unwrap();
        assert_eq!(tofino2.entries, 1 + 1 + 2 + 2);
        assert_eq!(tofino2.header_bytes, 32);
    }

    #[test]
    fn small_containers_share_an_entry_and_none_is_split() {
        let chip = ChipSpec::tofino();
        for (sizes, expected) in [(&[1, 1, 2][..], 1), (&[2, 4], 2), (&[1, 4, 1, 2, 1], 3), (&[], 0)] {
            assert_eq!(entries(&chip, sizes.iter().copied()), expected, "{sizes:?}");
        }
        assert_eq!(entries(&ChipSpec::tofino2(), [4, 4, 1].into_iter()), 2);
    }

    #[test]
    fn checksum_units_run_out() {
        let mut program = fork();
        let header = program.headers.keys().next().unwrap();
        let (field, inputs) = (program.headers[header].fields[2], vec![program.headers[header].fields[0]]);
        let (inputs, loc) = (inputs.into_iter().map(sluice_ir::Expr::Field).collect(), Loc::default());
        let update = ChecksumUpdate { header, when: None, field, inputs, zeros_as_ones: false, loc };
        program.pipes[0].deparser.checksums = vec![update; 7];
        let found = costs(&program, &ChipSpec::tofino()).unwrap_err();
        assert_eq!(found[0].text, "the ingress deparser needs 7 checksum units; tofino has 6");
        assert_eq!(costs(&program, &ChipSpec::tofino2()).unwrap().checksum_units, 7);
    }

    #[test]
    fn limits_name_what_is_short() {
        let cost = DeparserCost {
            entries: 300,
            pov_bits: 3,
            header_bytes: 900,
            checksum_units: 1,
            ..DeparserCost::default()
        };
        let found = over_limits(&ChipSpec::tofino(), Gress::Egress, &cost, Loc::default());
        let texts: Vec<&str> = found.iter().map(|d| d.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "the egress deparser needs 300 field dictionary entries; tofino has 192",
                "the egress deparser needs 900 bytes of headers; tofino has 480",
            ]
        );
        assert!(
            over_limits(&ChipSpec::tofino2(), Gress::Egress, &DeparserCost::default(), Loc::default())
                .is_empty()
        );
    }
}
