//! Copies between header fields: a table may match metadata that was copied from a header, or a header that one gress
//! passes to the other, so the packet must carry the value in the field that it is copied from.

use sluice_asic::gress::Gress;
use sluice_ir::entity::EntityMap;
use sluice_ir::{Expr, Field, Header, Home, Intrinsic, ParserOpKind, PrimitiveKind, Program};
use std::collections::{BTreeMap, BTreeSet};

/// A field of a header, and the bit of it at which a value's lowest bit is.
pub(crate) type Source = (Field, u16);

/// Most copies from field to field that are followed.
const STEPS: usize = 4;

/// For each field, the parsed header fields that its value is copied from, through at most `STEPS` copies. A field without
/// a known source lists itself, so no list is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    sources: EntityMap<Field, Vec<Source>>,
    /// For each field, the fields whose value it may have as a whole, itself included.
    passed: EntityMap<Field, Vec<Field>>,
}

/// Copies that the program states.
struct Stated<'p> {
    program: &'p Program,
    copies: BTreeMap<Field, Vec<Source>>,
    /// Ingress fields by name.
    named: BTreeMap<&'p str, Field>,
    /// Headers that the parsers extract.
    extracted: BTreeSet<Header>,
}

/// Returns the field of which a value is all or some bits; `None` for other values.
pub(super) fn part(value: &Expr) -> Option<Source> {
    match value {
        Expr::Field(field) => Some((*field, 0)),
        Expr::Cast(inner, _) => part(inner),
        Expr::Slice(inner, _, lo) => part(inner).map(|(field, at)| (field, at + lo)),
        _ => None,
    }
}

impl Copies {
    pub(crate) fn of(program: &Program) -> Copies {
        let parsed = program.states.values().flat_map(|s| &s.ops).filter_map(|op| match op.kind.write() {
            Some(write) if write.bits.is_none_or(|(_, lo)| lo == 0) => Some((write.to, part(write.value)?)),
            _ => None,
        });
        let set = program.actions.values().flat_map(|a| &a.body).filter_map(|p| match &p.kind {
            PrimitiveKind::Set(to, value) | PrimitiveKind::SetSlice(to, _, 0, value) => {
                Some((*to, part(value)?))
            }
            _ => None,
        });
        let mut copies: BTreeMap<Field, Vec<Source>> = BTreeMap::new();
        for (to, from) in parsed.chain(set) {
            let list = copies.entry(to).or_default();
            if !list.contains(&from) {
                list.push(from);
            }
        }
        let ops = program.states.values().flat_map(|s| &s.ops);
        let extracted = ops.flat_map(|op| match &op.kind {
            ParserOpKind::Extract(header) => std::slice::from_ref(header),
            ParserOpKind::ExtractNext(stack) => program.stacks[*stack].headers.as_slice(),
            _ => &[],
        });
        let ingress = program.fields.iter().filter(|(_, f)| f.gress == Gress::Ingress);
        let stated = Stated {
            program,
            copies,
            named: ingress.map(|(field, data)| (data.name.as_str(), field)).collect(),
            extracted: extracted.copied().collect(),
        };
        let mut passed = EntityMap::filled(program.fields.len(), |_| Vec::new());
        let sources = |field| {
            let (mut list, mut all) = (Vec::new(), Vec::new());
            stated.follow((field, 0), STEPS, &mut list, &mut all);
            passed[field] = all;
            if list.is_empty() {
                list.push((field, 0));
            }
            list
        };
        let sources = program.fields.keys().map(sources).collect();
        Copies { sources, passed }
    }

    /// Returns the fields that a field's value is copied from.
    pub(crate) fn sources(&self, field: Field) -> &[Source] {
        self.sources.get(field).map_or(&[], Vec::as_slice)
    }

    /// Returns the fields whose value a field may have as a whole, itself included.
    pub(crate) fn passed(&self, field: Field) -> &[Field] {
        self.passed.get(field).map_or(&[], Vec::as_slice)
    }
}

impl Stated<'_> {
    /// Adds the fields on the wire that a value is copied from.
    fn follow(&self, (field, at): Source, left: usize, list: &mut Vec<Source>, all: &mut Vec<Field>) {
        let data = &self.program.fields[field];
        if at == 0 && !all.contains(&field) {
            all.push(field);
        }
        // The queue that a packet was in is the one that ingress chose.
        if data.home == Home::Intrinsic(Intrinsic::EgressQid)
            && let Some(chosen) = self.program.intrinsic(Gress::Ingress, Intrinsic::Qid).filter(|_| left > 0)
        {
            return self.follow((chosen, at), left - 1, list, all);
        }
        let mut more = self.copies.get(&field).map_or(&[][..], Vec::as_slice);
        if let Home::Header(header) = data.home {
            let wire = self.extracted.contains(&header);
            if wire && !list.contains(&(field, at)) {
                list.push((field, at));
            }
            // A header that egress parses is the one that ingress parsed, or made.
            if data.gress == Gress::Egress {
                let twin = self.named.get(data.name.as_str()).filter(|_| left > 0);
                return twin.into_iter().for_each(|twin| self.follow((*twin, at), left - 1, list, all));
            }
            if wire {
                more = &[];
            }
        }
        for (from, lo) in more.iter().filter(|_| left > 0) {
            self.follow((*from, at + lo), left - 1, list, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(program: &Program, copies: &Copies, field: Field) -> Vec<String> {
        let name =
            |(f, at): &Source| format!("{} {}:{at}", program.fields[*f].gress, program.fields[*f].name);
        copies.sources(field).iter().map(name).collect()
    }

    #[test]
    fn keys_in_metadata_are_known_by_the_headers_that_they_come_from() {
        let program = sluice_programs::catalogue().get("conweave").unwrap().build(&[]).unwrap();
        let flow = program.table_named("flow").unwrap();
        let copies = Copies::of(&program);
        let of = |at: usize| sources(&program, &copies, program.tables[flow].keys[at].field().unwrap());
        assert_eq!(
            [of(0), of(1), of(2)].concat(),
            [
                "ingress ipv4.dst:0",
                "ingress ipv4.src:0",
                "ingress ipv4.src:0",
                "ingress ipv4.dst:0",
                "ingress udp.src_port:0"
            ]
        );
    }

    #[test]
    fn a_queue_is_known_by_what_chooses_it() {
        let program = sluice_programs::catalogue().get("int").unwrap().build(&[]).unwrap();
        let queue = program.table_named("queue").unwrap();
        let field = program.tables[queue].keys[0].field().unwrap();
        let passed = Copies::of(&program).passed(field).to_vec();
        let names: Vec<&str> = passed.iter().map(|f| program.fields[*f].name.as_str()).collect();
        assert_eq!(names, ["eg.egress_qid", "ig_tm.qid"]);
    }

    #[test]
    fn a_header_of_egress_is_known_by_that_of_ingress() {
        let program = sluice_programs::catalogue().get("int").unwrap().build(&[]).unwrap();
        let table = program.table_named("keep_ipv4").unwrap();
        let copies = Copies::of(&program);
        let found = sources(&program, &copies, program.tables[table].keys[0].field().unwrap());
        assert_eq!(found, ["egress ipv4.dscp:0", "ingress ipv4.dscp:0"]);
    }
}
