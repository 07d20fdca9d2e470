//! Which fields of headers a program copies into which others: what a table asks of metadata, packets must carry. What
//! may not live here: values.

use sluice_pipeline::ir::{Expr, Field, Home, ParserOpKind, PrimitiveKind, Program};
use std::collections::BTreeMap;

/// Fields of headers by the field that they are copied to whole, in the order in which the program names them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies(BTreeMap<Field, Vec<Field>>);

impl Copies {
    pub(crate) fn of(program: &Program) -> Copies {
        let parsed = program.states.values().flat_map(|s| &s.ops).filter_map(|op| match &op.kind {
            ParserOpKind::Set(to, Expr::Field(from)) => Some((*to, *from)),
            _ => None,
        });
        let set = program.actions.values().flat_map(|a| &a.body).filter_map(|p| match &p.kind {
            PrimitiveKind::Set(to, Expr::Field(from)) => Some((*to, *from)),
            _ => None,
        });
        let of_header = |field: Field| matches!(program.fields[field].home, Home::Header(_));
        let mut copies = Copies::default();
        for (to, from) in parsed.chain(set).filter(|(to, from)| !of_header(*to) && of_header(*from)) {
            let sources = copies.0.entry(to).or_default();
            if !sources.contains(&from) {
                sources.push(from);
            }
        }
        copies
    }

    /// The fields that a field's value comes from: of which there is at least one, itself if nothing is known.
    pub(crate) fn sources(&self, field: Field) -> impl ExactSizeIterator<Item = Field> + Clone + '_ {
        let known = self.0.get(&field).map_or(&[][..], Vec::as_slice);
        (0..known.len().max(1)).map(move |n| known.get(n).copied().unwrap_or(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_metadata_are_known_by_the_headers_that_they_come_from() {
        let program = sluice_programs::by_name("conweave").unwrap().build(&[]).unwrap();
        let flow = program.table_named("flow").unwrap();
        let copies = Copies::of(&program);
        let name = |f: Field| program.fields[f].name.clone();
        let of = |at: usize| -> Vec<String> {
            copies.sources(program.tables[flow].keys[at].field).map(name).collect()
        };
        assert_eq!(
            [of(0), of(1), of(2)].concat(),
            ["ipv4.dst", "ipv4.src", "ipv4.src", "ipv4.dst", "udp.src_port"]
        );
    }
}
