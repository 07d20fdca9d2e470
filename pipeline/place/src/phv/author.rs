//! What the author demands of containers, by field ([`sluice_ir::ContainerRule`]), and the rule to blame if nothing fits.

use super::cuts::Cuts;
use super::demand::Demands;
use super::layout::{Layout, container_bits};
use sluice_asic::phv::ContainerKind;
use sluice_ir::verify::Diag;
use sluice_ir::{ContainerDemand, Field, Home, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Demands of the author.
#[derive(Clone, Debug, Default)]
pub(super) struct Author {
    /// Lowest bit, number of bits and container size of each part, the lowest part first.
    parts: BTreeMap<Field, Vec<(u16, u16, u8)>>,
    /// Fields with nothing beside them in their containers.
    solitary: BTreeSet<Field>,
    /// Fields whose bits no other field has.
    unshared: BTreeSet<Field>,
    kinds: BTreeMap<Field, ContainerKind>,
}

impl Author {
    pub(super) fn of(program: &Program) -> Author {
        let mut author = Author::default();
        for rule in &program.container_rules {
            let Some(data) = program.fields.get(rule.field) else { continue };
            match &rule.demand {
                ContainerDemand::Sizes(_) => {
                    author.parts.insert(rule.field, rule.demand.parts(data.width));
                }
                ContainerDemand::Atomic => {
                    let part = vec![(0, data.width, one_container(program, rule.field))];
                    author.parts.entry(rule.field).or_insert(part);
                }
                ContainerDemand::Solitary => drop(author.solitary.insert(rule.field)),
                ContainerDemand::NoOverlay => drop(author.unshared.insert(rule.field)),
                ContainerDemand::Kind(kind) => drop(author.kinds.insert(rule.field, *kind)),
            }
        }
        author
    }

    /// Returns the container size of a field that is to be in one container.
    pub(super) fn size(&self, field: Field) -> Option<u8> {
        match self.parts.get(&field)?[..] {
            [(.., size)] => Some(size),
            _ => None,
        }
    }

    /// Returns true if the field is to be in several containers.
    pub(super) fn divides(&self, field: Field) -> bool {
        self.parts.get(&field).is_some_and(|parts| parts.len() > 1)
    }

    /// Returns true if the container sizes of a field are fixed.
    pub(super) fn sizes(&self, field: Field) -> bool {
        self.parts.contains_key(&field)
    }

    /// Returns false if sizes are demanded and none begins at this bit of the field.
    pub(super) fn may_cut(&self, field: Field, bit: u16) -> bool {
        self.parts.get(&field).is_none_or(|parts| parts.iter().any(|(lo, ..)| *lo == bit))
    }

    pub(super) fn is_solitary(&self, field: Field) -> bool {
        self.solitary.contains(&field)
    }

    pub(super) fn is_unshared(&self, field: Field) -> bool {
        self.unshared.contains(&field)
    }

    pub(super) fn kind(&self, field: Field) -> Option<ContainerKind> {
        self.kinds.get(&field).copied()
    }

    /// Returns true if the author fixes the size of some field in a piece.
    pub(super) fn sizes_piece(&self, layout: &Layout, piece: usize) -> bool {
        let inside = |f: &Field| layout.segs[*f].iter().any(|s| s.piece == piece);
        self.parts.keys().any(inside)
    }

    /// Returns true if some field in a piece shares its bits with no other field.
    pub(super) fn keeps_piece(&self, layout: &Layout, piece: usize) -> bool {
        let inside = |f: &Field| layout.segs[*f].iter().any(|s| s.piece == piece);
        self.unshared.iter().any(inside)
    }
}

/// Returns the size of the smallest container for all bits of a field, with the bits beside it in the bytes of a header.
fn one_container(program: &Program, field: Field) -> u8 {
    let width = program.fields[field].width;
    let Home::Header(header) = program.fields[field].home else { return container_bits(width) };
    let below = program.field_offset(header, field).unwrap_or(0) % 8;
    container_bits(width + below as u16)
}

impl Cuts {
    /// Demands the cuts and sizes of the author.
    pub(super) fn obey(&mut self, program: &Program, demands: &Demands) {
        for &field in demands.author.solitary.iter().filter(|f| demands.fields[**f].used) {
            let Home::Header(header) = program.fields[field].home else { continue };
            let from = program.field_offset(header, field).unwrap_or(0);
            let to = from + u32::from(program.fields[field].width);
            self.cut_header(header, from / 8);
            self.cut_header(header, to.div_ceil(8));
        }
        for (&field, parts) in demands.author.parts.iter().filter(|(f, _)| demands.fields[**f].used) {
            let whole = demands.author.size(field);
            for &(lo, width, size) in parts {
                match program.fields[field].home {
                    Home::Header(header) => {
                        let end = program.field_offset(header, field).unwrap_or(0)
                            + u32::from(program.fields[field].width);
                        let (from, to) = (end - u32::from(lo + width), end - u32::from(lo));
                        self.fix_bytes(program, demands, header, (from / 8, to.div_ceil(8)), size);
                    }
                    _ => self.fix_part(field, lo, size),
                }
            }
            if let Some(size) = whole {
                self.sized.insert(field, size);
            }
        }
    }
}

/// Returns a finding about the first rule with which, and with the rules before it, nothing fits; `None` if nothing fits without
/// rules either. `fits` allocates a program.
pub(super) fn blame(program: &Program, fits: impl Fn(&Program) -> bool) -> Option<Diag> {
    let with = |count: usize| {
        let mut other = program.clone();
        other.container_rules.truncate(count);
        fits(&other)
    };
    // The first `good` rules can be obeyed, the first `bad` ones cannot.
    let (mut good, mut bad) = (0, program.container_rules.len());
    if bad == 0 || !with(0) {
        return None;
    }
    while good + 1 < bad {
        let middle = good.midpoint(bad);
        if with(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    let rule = &program.container_rules[good];
    let field = &program.fields[rule.field];
    let before = match good {
        0 => String::new(),
        1 => " in addition to the annotation before it".to_owned(),
        n => format!(" in addition to the {n} annotations before it"),
    };
    let text = format!("PHV: no allocation obeys `{}`{before}", rule.p4(field.gress, &field.name));
    let help =
        "without annotations about containers, all fields find containers: leave this one out or change it";
    Some(Diag::error(rule.loc, text).also(field.loc, format!("`{}`", field.name)).help(help))
}
