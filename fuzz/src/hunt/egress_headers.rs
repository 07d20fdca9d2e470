//! Headers that only the egress parser takes from the wire, such as INT metadata.
//!
//! The hunt draws packets by walking the ingress parser, which never produces these headers. For programs that have some, it
//! also walks the egress parser, towards the states in `leads`.

use sluice_asic::gress::Gress;
use sluice_ir::{Field, Header, Next, ParserOp, ParserOpKind, ParserState, Program, StateData};
use std::collections::{BTreeMap, BTreeSet};

/// Headers of the egress parser, by where their bytes come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EgressHeaders {
    /// Headers that the ingress deparser or a mirror prepends. They are on no wire.
    pub(crate) inside: BTreeSet<Header>,
    /// Egress field to the ingress field of the same name, for headers that both parsers extract.
    pub(crate) twins: BTreeMap<Field, Field>,
    /// Egress states that extract a header unknown to the ingress parser, and all states from which these are reached.
    pub(crate) leads: BTreeSet<ParserState>,
}

/// Returns the headers that an operation of a parser may extract.
fn extracted_by<'p>(program: &'p Program, op: &'p ParserOp) -> &'p [Header] {
    match &op.kind {
        ParserOpKind::Extract(header) => std::slice::from_ref(header),
        ParserOpKind::ExtractNext(stack) => program.stacks[*stack].headers.as_slice(),
        _ => &[],
    }
}

/// Returns the headers that the parser of a gress extracts.
fn extracted(program: &Program, gress: Gress) -> BTreeSet<Header> {
    let ops = program.states.values().filter(|s| s.gress == gress).flat_map(|s| &s.ops);
    ops.flat_map(|op| extracted_by(program, op)).copied().collect()
}

/// Returns the egress states that extract one of these headers, and all states from which these are reached.
fn leading(program: &Program, wanted: &BTreeSet<Header>) -> BTreeSet<ParserState> {
    let takes =
        |s: &StateData| s.ops.iter().flat_map(|op| extracted_by(program, op)).any(|h| wanted.contains(h));
    let all = || program.states.iter().filter(|(_, s)| s.gress == Gress::Egress);
    let mut found: BTreeSet<ParserState> = all().filter(|(_, s)| takes(s)).map(|(state, _)| state).collect();
    loop {
        let there = |next: &Next| matches!(next, Next::State(state) if found.contains(state));
        let reaches = |s: &StateData| s.arms.iter().any(|arm| there(&arm.next)) || there(&s.default);
        let more: Vec<ParserState> =
            all().filter(|(state, s)| !found.contains(state) && reaches(s)).map(|(state, _)| state).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

impl EgressHeaders {
    /// Returns `None` if the egress parser takes no header from the wire that the ingress parser does not take.
    pub(crate) fn of(program: &Program) -> Option<EgressHeaders> {
        let (front, back) = (extracted(program, Gress::Ingress), extracted(program, Gress::Egress));
        let name = |header: &Header| program.headers[*header].name.as_str();
        let parsed: BTreeSet<&str> = front.iter().map(name).collect();
        let made: BTreeSet<&str> = program
            .headers
            .iter()
            .filter(|(header, data)| data.gress == Gress::Ingress && !front.contains(header))
            .map(|(_, data)| data.name.as_str())
            .collect();
        let inside: BTreeSet<Header> = back.iter().copied().filter(|h| made.contains(name(h))).collect();
        let new: BTreeSet<Header> =
            back.iter().copied().filter(|h| !inside.contains(h) && !parsed.contains(name(h))).collect();
        if new.is_empty() {
            return None;
        }
        let fields = front.iter().flat_map(|h| &program.headers[*h].fields);
        let named: BTreeMap<&str, Field> = fields.map(|f| (program.fields[*f].name.as_str(), *f)).collect();
        let twin = |f: &Field| Some((*f, *named.get(program.fields[*f].name.as_str())?));
        let twins = back.iter().flat_map(|h| &program.headers[*h].fields).filter_map(twin).collect();
        Some(EgressHeaders { inside, twins, leads: leading(program, &new) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn egress(name: &str) -> Option<(Vec<String>, usize)> {
        let program = sluice_programs::catalogue().get(name).unwrap().build(&[]).unwrap();
        let egress = EgressHeaders::of(&program)?;
        let names = egress.inside.iter().map(|h| program.headers[*h].name.clone()).collect();
        Some((names, egress.twins.len()))
    }

    #[test]
    fn states_that_lead_to_telemetry() {
        let program = sluice_programs::catalogue().get("int").unwrap().build(&[]).unwrap();
        let leads = EgressHeaders::of(&program).unwrap().leads;
        let names: Vec<&str> = leads.iter().map(|s| program.states[*s].name.as_str()).collect();
        for name in ["start", "bridged", "parse_ipv4", "marked_tcp", "found", "parse_int"] {
            assert!(names.contains(&name), "{name} is not among {names:?}");
        }
        assert!(!names.contains(&"left"), "{names:?}");
    }

    #[test]
    fn telemetry_headers_of_shipped_programs() {
        let (inside, twins) = egress("int").unwrap();
        assert_eq!(inside, ["bridge", "copy"]);
        assert!(twins > 20, "{twins}");
        assert!(egress("hpcc-int").is_some_and(|(inside, _)| inside.is_empty()));
        assert_eq!(egress("ecmp"), None);
    }
}
