//! Which fields of headers a program copies into which others: what a table asks of metadata, or of a header that one gress
//! hands to the other, packets must carry. What may not live here: values.

use sluice_asic::gress::Gress;
use sluice_pipeline::entity::EntityMap;
use sluice_pipeline::ir::{Expr, Field, Header, Home, ParserOpKind, PrimitiveKind, Program};
use std::collections::{BTreeMap, BTreeSet};

/// A field of a header, and where in it the lowest bit of a value stands.
pub(crate) type Source = (Field, u16);

/// Copies from field to field that are followed at most.
const STEPS: usize = 4;

/// For each field those that its value comes from: of which there is at least one, itself if nothing is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies(EntityMap<Field, Vec<Source>>);

/// Copies as the program states them.
struct Stated<'p> {
    program: &'p Program,
    copies: BTreeMap<Field, Vec<Source>>,
    /// Fields of ingress by name.
    named: BTreeMap<&'p str, Field>,
    /// What parsers take from packets.
    extracted: BTreeSet<Header>,
}

/// The field that a value is all or some bits of.
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
        let parsed = program.states.values().flat_map(|s| &s.ops).filter_map(|op| match &op.kind {
            ParserOpKind::Set(to, value) => Some((*to, part(value)?)),
            _ => None,
        });
        let set = program.actions.values().flat_map(|a| &a.body).filter_map(|p| match &p.kind {
            PrimitiveKind::Set(to, value) => Some((*to, part(value)?)),
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
        let sources = |field| {
            let mut list = Vec::new();
            stated.follow((field, 0), STEPS, &mut list);
            if list.is_empty() {
                list.push((field, 0));
            }
            list
        };
        Copies(program.fields.keys().map(sources).collect())
    }

    /// The fields that a field's value comes from.
    pub(crate) fn sources(&self, field: Field) -> &[Source] {
        self.0.get(field).map_or(&[], Vec::as_slice)
    }
}

impl Stated<'_> {
    /// Adds the fields on the wire that a value comes from.
    fn follow(&self, (field, at): Source, left: usize, list: &mut Vec<Source>) {
        let data = &self.program.fields[field];
        let mut more = self.copies.get(&field).map_or(&[][..], Vec::as_slice);
        if let Home::Header(header) = data.home {
            let wire = self.extracted.contains(&header);
            if wire && !list.contains(&(field, at)) {
                list.push((field, at));
            }
            // A header that egress parses is the one that ingress parsed, or made.
            if data.gress == Gress::Egress {
                let twin = self.named.get(data.name.as_str()).filter(|_| left > 0);
                return twin.into_iter().for_each(|twin| self.follow((*twin, at), left - 1, list));
            }
            if wire {
                more = &[];
            }
        }
        for (from, lo) in more.iter().filter(|_| left > 0) {
            self.follow((*from, at + lo), left - 1, list);
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
        let program = sluice_programs::by_name("conweave").unwrap().build(&[]).unwrap();
        let flow = program.table_named("flow").unwrap();
        let copies = Copies::of(&program);
        let of = |at: usize| sources(&program, &copies, program.tables[flow].keys[at].field);
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
    fn a_header_of_egress_is_known_by_that_of_ingress() {
        let program = sluice_programs::by_name("int").unwrap().build(&[]).unwrap();
        let table = program.table_named("keep_ipv4").unwrap();
        let copies = Copies::of(&program);
        let found = sources(&program, &copies, program.tables[table].keys[0].field);
        assert_eq!(found, ["egress ipv4.dscp:0", "ingress ipv4.dscp:0"]);
    }
}
