//! What egress parses of a packet beyond what ingress does, such as telemetry: packets that have it must be made by its
//! parser.

use sluice_asic::gress::Gress;
use sluice_ir::{Field, Header, Next, ParserOp, ParserOpKind, ParserState, Program, StateData};
use std::collections::{BTreeMap, BTreeSet};

/// The headers of egress, seen from the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beyond {
    /// Headers that ingress or a mirror puts in front: they are on no wire.
    pub(crate) inside: BTreeSet<Header>,
    /// Fields of egress whose header ingress has as well, by their name, with ingress' own.
    pub(crate) twins: BTreeMap<Field, Field>,
    /// States from which a header is taken that ingress does not know.
    pub(crate) leads: BTreeSet<ParserState>,
}

/// The headers that an operation of a parser may extract.
fn taken<'p>(program: &'p Program, op: &'p ParserOp) -> &'p [Header] {
    match &op.kind {
        ParserOpKind::Extract(header) => std::slice::from_ref(header),
        ParserOpKind::ExtractNext(stack) => program.stacks[*stack].headers.as_slice(),
        _ => &[],
    }
}

/// The headers that the parser of a gress extracts.
fn extracted(program: &Program, gress: Gress) -> BTreeSet<Header> {
    let ops = program.states.values().filter(|s| s.gress == gress).flat_map(|s| &s.ops);
    ops.flat_map(|op| taken(program, op)).copied().collect()
}

/// States that take one of these headers, and all from which they are reached.
fn leading(program: &Program, wanted: &BTreeSet<Header>) -> BTreeSet<ParserState> {
    let takes = |s: &StateData| s.ops.iter().flat_map(|op| taken(program, op)).any(|h| wanted.contains(h));
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

impl Beyond {
    /// `None` if the parser of egress takes no header from the wire that that of ingress does not.
    pub(crate) fn of(program: &Program) -> Option<Beyond> {
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
        Some(Beyond { inside, twins, leads: leading(program, &new) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beyond(name: &str) -> Option<(Vec<String>, usize)> {
        let program = sluice_programs::catalogue().get(name).unwrap().build(&[]).unwrap();
        let beyond = Beyond::of(&program)?;
        let names = beyond.inside.iter().map(|h| program.headers[*h].name.clone()).collect();
        Some((names, beyond.twins.len()))
    }

    #[test]
    fn ways_to_telemetry_are_known() {
        let program = sluice_programs::catalogue().get("int").unwrap().build(&[]).unwrap();
        let leads = Beyond::of(&program).unwrap().leads;
        let names: Vec<&str> = leads.iter().map(|s| program.states[*s].name.as_str()).collect();
        for name in ["start", "bridged", "parse_ipv4", "marked_tcp", "found", "parse_int"] {
            assert!(names.contains(&name), "{name} is not among {names:?}");
        }
        assert!(!names.contains(&"left"), "{names:?}");
    }

    #[test]
    fn telemetry_is_seen_by_egress_alone() {
        let (inside, twins) = beyond("int").unwrap();
        assert_eq!(inside, ["bridge", "copy"]);
        assert!(twins > 20, "{twins}");
        assert!(beyond("hpcc-int").is_some_and(|(inside, _)| inside.is_empty()));
        assert_eq!(beyond("ecmp"), None);
    }
}
