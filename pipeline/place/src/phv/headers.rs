//! Headers that may share containers, because no packet has both.
//!
//! Parser and program must prove that a reader of a field of one header has a packet without the other header:
//! 1. No path through the parser extracts both. Elements of stacks, and headers that no state extracts, share nothing.
//! 2. No action makes either valid, and no request carries either: valid means extracted.
//! 3. Every table, condition and action that reads or writes a field of either runs where the field's header is known
//!    to be valid.
//!
//! Such nodes exclude each other in effect, but the control flow need not show that: dependencies count shared bits
//! as one variable, which can cost stages. Headers therefore share containers only if containers run out.

use super::demand::Demands;
use super::layout::{Layout, PieceHome};
use sluice_ir::cfg::{Cfg, NodeKind, Outcome, Var};
use sluice_ir::entity::EntityMap;
use sluice_ir::{Cond, Expr, Field, Header, Home, Next, ParserOpKind, ParserState, PrimitiveKind, Program};
use std::collections::BTreeSet;

/// Headers that may share containers with each other.
pub(super) struct Apart {
    /// States that extract each header; empty if the header may share with no other.
    extracted_in: EntityMap<Header, Vec<ParserState>>,
    /// States reached from each state, itself included.
    reach: EntityMap<ParserState, BTreeSet<ParserState>>,
}

impl Apart {
    pub(super) fn of(program: &Program, cfgs: &[Cfg; 2]) -> Apart {
        let reach: EntityMap<_, _> = program.states.keys().map(|s| reached(program, s)).collect();
        let states = |h: Header| -> Vec<ParserState> {
            let extracts = |s: &ParserState| {
                program.states[*s].ops.iter().any(|op| matches!(op.kind, ParserOpKind::Extract(x) if x == h))
            };
            if stays_as_parsed(program, h) && !made_by_parser(program, h) && always_guarded(program, cfgs, h)
            {
                program.states.keys().filter(extracts).collect()
            } else {
                Vec::new()
            }
        };
        Apart { extracted_in: program.headers.keys().map(states).collect(), reach }
    }

    /// Returns true if a header may share containers at all.
    fn may(&self, h: Header) -> bool {
        !self.extracted_in[h].is_empty()
    }

    /// Returns true if two headers may share containers.
    pub(super) fn exclude(&self, a: Header, b: Header) -> bool {
        let meets =
            |x: &ParserState, y: &ParserState| self.reach[*x].contains(y) || self.reach[*y].contains(x);
        let (of_a, of_b) = (&self.extracted_in[a], &self.extracted_in[b]);
        a != b && self.may(a) && self.may(b) && !of_a.iter().any(|x| of_b.iter().any(|y| meets(x, y)))
    }
}

/// Returns true if a parser changes the validity or a field of a header other than by extracting it.
fn made_by_parser(program: &Program, h: Header) -> bool {
    program.states.values().flat_map(|s| &s.ops).any(|op| match op.kind {
        ParserOpKind::SetValid(to, _) => to == h,
        ref kind => kind.written().is_some_and(|f| program.fields[f].home == Home::Header(h)),
    })
}

fn reached(program: &Program, from: ParserState) -> BTreeSet<ParserState> {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(state) = open.pop() {
        let data = &program.states[state];
        for next in data.arms.iter().map(|a| a.next).chain([data.default]) {
            if let Next::State(next) = next
                && seen.insert(next)
            {
                open.push(next);
            }
        }
    }
    seen
}

/// Returns true if only the parser makes a header valid (part 2 of the rule).
fn stays_as_parsed(program: &Program, h: Header) -> bool {
    let made = program.actions.values().flat_map(|a| &a.body).any(|p| match p.kind {
        PrimitiveKind::SetValid(to, valid) => to == h && valid,
        PrimitiveKind::CopyValid(to, from) => to == h || from == h,
        _ => false,
    });
    let asked = program.pipes.iter().flat_map(|p| &p.deparser.requests).any(|r| r.carries(program, h));
    !made && !asked && program.stack_of(h).is_none()
}

/// Returns true if every use of a header's fields runs where the header is known to be valid (part 3 of the rule).
fn always_guarded(program: &Program, cfgs: &[Cfg; 2], h: Header) -> bool {
    let cfg = &cfgs[program.headers[h].gress.index()];
    let touches = |vars: &[Var]| {
        vars.iter().any(|v| matches!(v, Var::Field(f) if program.fields[*f].home == Home::Header(h)))
    };
    cfg.nodes.iter().all(|(node, data)| {
        let e = cfg.effects(program, node);
        if !(touches(&e.match_reads) || touches(&e.action_reads) || touches(&e.writes)) {
            return true;
        }
        let proven =
            cfg.outcomes(data.pred).iter().any(|(decider, outcome)| match &cfg.nodes[*decider].kind {
                NodeKind::Gateway(cond) => proves(cond, *outcome == Outcome::Then, h),
                _ => false,
            });
        proven || matches!(&data.kind, NodeKind::Gateway(cond) if guarded(program, cond, h))
    })
}

/// Returns true if a condition with the result `holds` proves that the header is valid.
fn proves(cond: &Cond, holds: bool, h: Header) -> bool {
    match (cond, holds) {
        (Cond::Valid(x), holds) => holds && *x == h,
        (Cond::Not(a), _) => proves(a, !holds, h),
        (Cond::And(a, b), true) | (Cond::Or(a, b), false) => proves(a, holds, h) || proves(b, holds, h),
        (Cond::And(a, b), false) | (Cond::Or(a, b), true) => proves(a, holds, h) && proves(b, holds, h),
        (Cond::Cmp(..), _) => false,
    }
}

/// Returns true if the fields of an invalid header make no difference to a condition.
fn guarded(program: &Program, cond: &Cond, h: Header) -> bool {
    match cond {
        Cond::Valid(_) => true,
        Cond::Not(a) => guarded(program, a, h),
        Cond::And(a, b) | Cond::Or(a, b) => {
            let open = matches!(cond, Cond::And(..));
            (guarded(program, a, h) || proves(b, open, h)) && (guarded(program, b, h) || proves(a, open, h))
        }
        Cond::Cmp(_, a, b) => !reads(program, a, h) && !reads(program, b, h),
    }
}

fn reads(program: &Program, expr: &Expr, h: Header) -> bool {
    let mut found = false;
    expr.fields(&mut |f: Field| found |= program.fields[f].home == Home::Header(h));
    found
}

impl Layout {
    /// Puts pieces of headers that exclude each other together; returns true if any pieces are. If `mixed`, a piece that only
    /// passes from parser to deparser also joins one that the control uses, which then cannot be in a container for such pieces.
    pub(super) fn overlay_headers(
        &mut self,
        program: &Program,
        demands: &Demands,
        apart: &Apart,
        mixed: bool,
    ) -> bool {
        let mut hosts: Vec<Host> = Vec::new();
        let mut host_of: Vec<usize> = (0..self.pieces.len()).collect();
        let kinds: Vec<(bool, bool)> =
            (0..self.pieces.len()).map(|p| self.passes(program, demands, p)).collect();
        for p in 0..self.pieces.len() {
            let piece = &self.pieces[p];
            let PieceHome::Header(header, _) = piece.home else { continue };
            if !apart.may(header) || demands.author.keeps_piece(self, p) {
                continue;
            }
            let (plain, tied) = kinds[p];
            let suits = |h: &Host| {
                (self.pieces[h.piece].gress, self.pieces[h.piece].bits) == (piece.gress, piece.bits)
                    && !(tied && h.tied)
                    && h.headers.iter().all(|x| apart.exclude(*x, header))
            };
            let alike = hosts.iter().position(|h| h.plain == plain && suits(h));
            match alike.or_else(|| hosts.iter().position(|h| mixed && suits(h))) {
                Some(i) => {
                    let host = &mut hosts[i];
                    host_of[p] = host.piece;
                    host.plain &= plain;
                    host.tied |= tied;
                    host.headers.push(header);
                }
                None => hosts.push(Host { piece: p, plain, tied, headers: vec![header] }),
            }
        }
        self.segs.values_mut().flatten().for_each(|s| s.piece = host_of[s.piece]);
        self.drop_empty();
        host_of.iter().enumerate().any(|(p, host)| p != *host)
    }

    /// Returns two flags of a piece: true if only parser and deparser use it, and true if copies bind it to a MAU
    /// group.
    fn passes(&self, program: &Program, demands: &Demands, p: usize) -> (bool, bool) {
        let inside = |f: &Field| self.segs[*f].iter().any(|s| s.piece == p);
        let held: Vec<Field> = program.fields.keys().filter(inside).collect();
        let plain = held.iter().all(|f| demands.fields[*f].passes_through());
        (plain, held.iter().any(|f| demands.fields[*f].moved || demands.carries(program, *f)))
    }
}

/// Piece that other headers may share.
struct Host {
    piece: usize,
    /// True if only parser and deparser use it.
    plain: bool,
    /// True if copies bind it to a MAU group.
    tied: bool,
    headers: Vec<Header>,
}
