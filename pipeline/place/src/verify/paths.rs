//! Rule 5: crossbar bytes, search and result buses, hash bits and distribution slices.

use super::Check;
use crate::bits::ByteRef;
use crate::data::{Owner, Part};
use crate::purpose::{Computation, Purpose, Sink, Source};
use sluice_asic::chip::Column;
use sluice_asic::phv::Container;
use sluice_ir::cfg::{NodeKind, Var};
use sluice_ir::{Algorithmic, CounterHome, Expr, Hash, Index, Key, MatchKind, PrimitiveKind, Table};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(check: &mut Check<'_>) {
    for (owner, part) in check.parts() {
        let effects = check.cfg(owner.gress).effects(check.program, owner.node);
        let mut exact: BTreeSet<ByteRef> = BTreeSet::new();
        let mut ternary: BTreeSet<ByteRef> = BTreeSet::new();
        let read = |v: &Var| -> BTreeSet<ByteRef> { check.view.bytes([*v]).into_keys().collect() };
        let key_is_ternary = check.table(owner).is_some_and(|t| in_tcam(check, owner, part, t));
        if let Some(table) = check.table(owner) {
            let bytes = key_bytes(check, table);
            if key_is_ternary { ternary = bytes } else { exact = bytes }
        }
        // Other reads of the crossbar go through hashes, which only see the exact crossbar. Of keys and of packet values
        // for ALUs, only the bits that are taken must be there; rule 14 checks the latter.
        let values = super::operands::fields_taken(check, owner);
        let others = read_beside_alus(check, owner);
        let keys: BTreeSet<Var> = check
            .table(owner)
            .map(|t| check.program.tables[t].keys.iter().map(Key::var).collect())
            .unwrap_or_default();
        let parts = |v: &&Var| values.contains(v) || keys.contains(v);
        let whole = |v: &&Var| others.contains(v) || !parts(v);
        let rest = effects.match_reads.iter().filter(whole).flat_map(read);
        exact.extend(rest.filter(|b| !ternary.contains(b)).collect::<Vec<_>>());
        if !matches!(check.kind(owner), NodeKind::Gateway(_)) {
            present(check, owner, part, Column::ExactXbar, &exact);
        }
        present(check, owner, part, Column::TernaryXbar, &ternary);
        match check.kind(owner) {
            NodeKind::Gateway(_) => gateway(check, owner, part),
            _ => buses(check, owner, part),
        }
        hashes(check, owner, part);
    }
}

/// Returns the variables that a node reads over the crossbar for hashes and indices: all but those that only keys and ALUs
/// take.
fn read_beside_alus(check: &Check<'_>, owner: Owner) -> BTreeSet<Var> {
    let program = check.program;
    let mut vars = BTreeSet::new();
    let mut read = |e: &Expr| {
        e.fields(&mut |f| {
            vars.insert(Var::Field(f));
        });
    };
    let table = check.table(owner).map(|t| &program.tables[t]);
    let selector = table.and_then(|t| t.profile).and_then(|p| program.profiles[p].selector.as_ref());
    selector.iter().flat_map(|s| &program.hashes[s.hash].inputs).for_each(&mut read);
    for action in check.cfg(owner.gress).actions(program, owner.node) {
        for p in &program.actions[action].body {
            let index = match &p.kind {
                PrimitiveKind::Hash(_, hash)
                | PrimitiveKind::HashSlice(_, hash, _)
                | PrimitiveKind::HashInto(.., hash, _) => &Index::Hash(*hash),
                PrimitiveKind::Register(access) => &access.index,
                PrimitiveKind::Meter(access) => &access.index,
                PrimitiveKind::Count(_, index) => {
                    read(index);
                    continue;
                }
                _ => continue,
            };
            match index {
                Index::At(value) => read(value),
                Index::Hash(hash) => program.hashes[*hash].inputs.iter().for_each(&mut read),
                Index::Entry => {}
            }
        }
    }
    vars
}

/// Returns the container bytes that the keys of a table compare, bit by bit.
fn key_bytes(check: &Check<'_>, table: Table) -> BTreeSet<ByteRef> {
    let mut bytes = BTreeSet::new();
    for key in &check.program.tables[table].keys {
        let compared = key.compared(check.program);
        for bit in (0..key.width(check.program)).filter(|bit| compared >> bit & 1 == 1) {
            bytes.extend(check.view.bytes_of_bits(key.var(), key.lo() + bit, 1).into_keys());
        }
    }
    bytes
}

/// Returns true if the part is the TCAM that selects the partition of an algorithmic table.
pub(super) fn is_classifier(check: &Check<'_>, owner: Owner, part: Part, table: Table) -> bool {
    let alpm = matches!(check.program.tables[table].algorithmic, Some(Algorithmic::Alpm { .. }));
    alpm && check.placed(owner).parts.first() == Some(&part)
}

/// Returns true if the part looks the key up in TCAM. Of an algorithmic table, only the classifier does, its first
/// part.
pub(super) fn in_tcam(check: &Check<'_>, owner: Owner, part: Part, table: Table) -> bool {
    let data = &check.program.tables[table];
    match data.algorithmic {
        None => data.keys.iter().any(|k| k.kind != MatchKind::Exact),
        Some(Algorithmic::Alpm { .. }) => is_classifier(check, owner, part, table),
        Some(Algorithmic::Atcam { .. }) => false,
    }
}

/// Container byte: container and lane.
type Byte = (Container, u8);

fn byte(purpose: &Purpose) -> Option<Byte> {
    if let Purpose::Byte { container, lane } = purpose { Some((*container, *lane)) } else { None }
}

/// Returns the bytes of one crossbar that the part owns, with group and position.
fn bytes_of(check: &Check<'_>, owner: Owner, stage: u8, column: Column) -> BTreeMap<Byte, (u16, u16)> {
    let units = check.units(owner, stage, column);
    units.filter_map(|u| Some((byte(&u.purpose)?, (u.unit.row, u.unit.col)))).collect()
}

/// Returns the groups of the exact crossbar and of the hash whose content a search bus carries.
pub(super) fn carried(bus: &Purpose) -> (Option<u16>, Option<u16>) {
    if let Purpose::SearchBus { xbar, hash } = bus { (Some(*xbar), *hash) } else { (None, None) }
}

/// Returns the position over the whole crossbar, which decides the lane.
fn position(check: &Check<'_>, column: Column, (group, byte): (u16, u16)) -> u16 {
    if column == Column::ExactXbar {
        return group * check.mau.exact_xbar_group_bytes as u16 + byte;
    }
    let own = check.mau.ternary_xbar_group_bytes as u16;
    group / 2 * (2 * own + 1) + if group % 2 == 1 { own + 1 } else { 0 } + byte
}

fn present(check: &mut Check<'_>, owner: Owner, part: Part, column: Column, bytes: &BTreeSet<ByteRef>) {
    let own = bytes_of(check, owner, part.stage, column);
    for byte in bytes {
        let name = check.view.byte_name(*byte);
        match own.get(&(byte.container, byte.lane)) {
            None => check.report(owner, format!("byte {name} is not on {column} in stage {}", part.stage)),
            Some(&at) if !byte.may_stand_at(position(check, column, at)) => {
                check.report(
                    owner,
                    format!("byte {name} is out of its lane on {column} in stage {}", part.stage),
                );
            }
            Some(_) => {}
        }
    }
}

fn gateway(check: &mut Check<'_>, owner: Owner, part: Part) {
    let stage = part.stage;
    let at: Vec<u16> = check.units(owner, stage, Column::Gateway).map(|u| u.unit.row).collect();
    let buses: Vec<(u16, &Purpose)> =
        check.units(owner, stage, Column::ExactSearchBus).map(|u| (u.unit.row, &u.purpose)).collect();
    let ([row], [(bus_row, bus)]) = (at.as_slice(), buses.as_slice()) else {
        check.report(
            owner,
            format!(
                "{} gateways and {} search buses in stage {stage}; one each needed",
                at.len(),
                buses.len()
            ),
        );
        return;
    };
    if row != bus_row {
        check.report(owner, format!("gateway in row {row} and search bus in row {bus_row} of stage {stage}"));
    }
    let own = bytes_of(check, owner, stage, Column::ExactXbar);
    let bytes = condition_bytes(check, owner);
    present(check, owner, part, Column::ExactXbar, &bytes);
    let groups: BTreeSet<u16> = own.values().map(|(group, _)| *group).collect();
    let (xbar, hash) = carried(bus);
    if groups.len() > 1 || groups.iter().any(|g| xbar != Some(*g)) {
        check.report(
            owner,
            format!(
                "bytes in crossbar groups {groups:?} of stage {stage}, search bus carries that of {xbar:?}"
            ),
        );
    }
    let first = (check.mau.hash_index_slices * check.mau.hash_index_bits) as u16;
    let bits: Vec<(u16, u16)> =
        check.units(owner, stage, Column::HashBit).map(|u| (u.unit.row, u.unit.col)).collect();
    let legal = bits.iter().all(|(group, bit)| *bit >= first && hash == Some(*group));
    if !legal || bits.len() as u32 > check.mau.gateway_hash_bits {
        check.report(
            owner,
            format!(
                "{} hash bits of stage {stage} do not reach the gateway by the bus of hash group {hash:?}",
                bits.len()
            ),
        );
    }
}

/// Returns the bytes that a gateway certainly needs for a condition.
fn condition_bytes(check: &Check<'_>, owner: Owner) -> BTreeSet<ByteRef> {
    let NodeKind::Gateway(cond) = check.kind(owner) else { return BTreeSet::new() };
    let mut bytes = BTreeSet::new();
    visit(check, cond, &mut bytes);
    bytes
}

/// Adds the bytes of validity bits, and of fields that the condition compares as a whole for equality.
pub(super) fn visit(check: &Check<'_>, cond: &sluice_ir::Cond, bytes: &mut BTreeSet<ByteRef>) {
    use sluice_ir::Cond;
    match cond {
        Cond::Valid(h) => bytes.extend(check.view.bytes([Var::Valid(*h)]).into_keys()),
        Cond::Not(a) => visit(check, a, bytes),
        Cond::And(a, b) | Cond::Or(a, b) => {
            visit(check, a, bytes);
            visit(check, b, bytes);
        }
        // For a test of magnitude, a gateway may leave out bits that do not decide; for a test of equality, it needs
        // all bits.
        Cond::Cmp(sluice_ir::CmpOp::Eq | sluice_ir::CmpOp::Ne, a, b) => {
            for side in [a, b] {
                if let Expr::Field(f) = side {
                    bytes.extend(check.view.bytes([Var::Field(*f)]).into_keys());
                }
            }
        }
        Cond::Cmp(..) => {}
    }
}

/// Checks the search buses of match RAMs and the result buses of lookups.
fn buses(check: &mut Check<'_>, owner: Owner, part: Part) {
    let stage = part.stage;
    let rows = |column, wanted: fn(&Purpose) -> bool| -> BTreeSet<u16> {
        check.units_for(owner, stage, column, wanted).map(|u| u.unit.row).collect()
    };
    let matched = rows(Column::Sram, |p| matches!(p, Purpose::MatchWay { .. }));
    let searched = rows(Column::ExactSearchBus, |p| matches!(p, Purpose::SearchBus { .. }));
    let indirect = rows(Column::Sram, |p| *p == Purpose::Indirection);
    let indirected = rows(Column::TindResultBus, |_| true);
    if let Some(row) = matched.difference(&searched).next() {
        check.report(owner, format!("match RAMs in row {row} of stage {stage} have no search bus"));
    }
    if let Some(row) = indirect.difference(&indirected).next() {
        check.report(owner, format!("indirection RAMs in row {row} of stage {stage} have no result bus"));
    }
    let results = check.units(owner, stage, Column::ExactResultBus).count() as u64;
    if check.units(owner, stage, Column::Tcam).next().is_none() {
        check.at_least(owner, stage, "result buses", results, 1);
    }
}

/// Returns the packet values that address registers and meters, each with the number of address bits.
fn addresses(check: &Check<'_>, owner: Owner) -> Vec<(Computation, u64)> {
    let program = check.program;
    let mut list = Vec::new();
    for action in check.cfg(owner.gress).actions(program, owner.node) {
        for p in &program.actions[action].body {
            let (index, home, cell_bits) = match &p.kind {
                PrimitiveKind::Register(access) => {
                    let data = &program.registers[program.register_actions[access.action].register];
                    (&access.index, data.home, data.format.element_bits())
                }
                PrimitiveKind::Meter(access) => {
                    (&access.index, program.meters[access.meter].home, check.mau.sram_width)
                }
                _ => continue,
            };
            let of = match index {
                Index::At(value) => Source::Value(value.clone()),
                Index::Hash(hash) => Source::Hash(*hash),
                Index::Entry => continue,
            };
            let mut from_packet = false;
            index.fields(program, &mut |_| from_packet = true);
            let CounterHome::Indirect(size) = home else { continue };
            if !from_packet {
                continue;
            }
            let bits = address_bits(size, index.width(program));
            let to = Sink::Cells { bits, cell_bits };
            list.push((Computation { of: of.clone(), to }, bits.into()));
            if let PrimitiveKind::Meter(access) = &p.kind
                && program.meters[access.meter].kind.is_coloured()
            {
                list.push((Computation { of, to: Sink::Colours { bits } }, bits.into()));
            }
        }
    }
    list
}

/// Returns the number of bits that tell `cells` cells apart, at most the width of the index.
fn address_bits(cells: u32, width: u16) -> u32 {
    (u32::BITS - cells.saturating_sub(1).leading_zeros()).clamp(1, u32::from(width).max(1))
}

/// Returns all values that a node computes by hash bits for its actions.
pub(super) fn computations(check: &Check<'_>, owner: Owner) -> Vec<Computation> {
    let program = check.program;
    let results = hash_results(check, owner).into_iter();
    let mut all: Vec<Computation> = results.map(|h| Computation::for_actions(Source::Hash(h))).collect();
    all.extend(addresses(check, owner).into_iter().map(|(computation, _)| computation));
    for action in check.cfg(owner.gress).actions(program, owner.node) {
        all.extend(program.actions[action].body.iter().filter_map(|p| match &p.kind {
            PrimitiveKind::Count(counter, index) => {
                let data = &program.counters[*counter];
                let CounterHome::Indirect(size) = data.home else { return None };
                let bits = address_bits(size, index.width(program));
                let per_word = data.cell.format_for(data.kind).entries_per_word();
                let to = Sink::Counters { bits, per_word };
                Some(Computation { of: Source::Value(index.clone()), to })
            }
            PrimitiveKind::Meter(access) => {
                let input = access.input.as_ref()?;
                Some(Computation::for_actions(Source::Value(input.clone())))
            }
            _ => None,
        }));
    }
    all
}

/// Returns the hashes whose results actions use.
fn hash_results(check: &Check<'_>, owner: Owner) -> BTreeSet<Hash> {
    let program = check.program;
    let mut used: BTreeSet<Hash> = BTreeSet::new();
    for action in check.cfg(owner.gress).actions(program, owner.node) {
        for p in &program.actions[action].body {
            if let PrimitiveKind::Hash(_, hash)
            | PrimitiveKind::HashSlice(_, hash, _)
            | PrimitiveKind::HashInto(.., hash, _) = &p.kind
            {
                used.insert(*hash);
            }
        }
    }
    used
}

/// Checks the hash bits of addresses, and the hash bits and distribution slices of hash results.
fn hashes(check: &mut Check<'_>, owner: Owner, part: Part) {
    let program = check.program;
    let used = hash_results(check, owner);
    for (computation, bits) in addresses(check, owner) {
        let name = computation.text(program);
        let wanted = Purpose::Computed(computation);
        let found = check.count(owner, part.stage, Column::HashBit, |p| *p == wanted);
        check.at_least(owner, part.stage, &format!("address bits of `{name}`"), found, bits);
    }
    for hash in used {
        let data = &program.hashes[hash];
        let wanted = Purpose::Computed(Computation::for_actions(Source::Hash(hash)));
        let bits = check.count(owner, part.stage, Column::HashBit, |p| *p == wanted);
        check.at_least(
            owner,
            part.stage,
            &format!("bits of hash `{}`", data.name),
            bits,
            u64::from(data.width),
        );
        let slices = check.count(owner, part.stage, Column::HashDist, |p| *p == wanted);
        let needed = u64::from(data.width).div_ceil(u64::from(check.placement.chip.hash.dist_bits.max(1)));
        check.at_least(owner, part.stage, &format!("slices of hash `{}`", data.name), slices, needed);
    }
}
