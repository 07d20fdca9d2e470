//! Writes of PHV fields by actions, with the source of every bit.

use sluice_asic::alu::{AluClass, AluOp};
use sluice_ir::cfg::Cfg;
use sluice_ir::{Action, Expr, Field, Loc, MeterAccess, PrimitiveKind, Program};
use std::collections::BTreeSet;

/// Source of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// This field, from this bit on.
    Field(Field, u16),
    /// The action data bus: a constant or an action parameter.
    Data,
    /// The action data bus: a result of a hash, a meter ALU or a random number generator.
    Hash,
}

/// Bits `lo..lo + width` of a destination and their source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) lo: u16,
    pub(super) width: u16,
    pub(super) source: Source,
}

impl Move {
    /// Returns the field that is the source.
    pub(super) fn field(&self) -> Option<Field> {
        match self.source {
            Source::Field(f, _) => Some(f),
            Source::Data | Source::Hash => None,
        }
    }
}

/// Effect of a write on the containers of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Bits are copied; other bits of the container can stay.
    Copy,
    /// `field op= data` with a bitwise function that has a neutral operand: other bits stay.
    Merge,
    /// Bitwise over whole containers: every container of every operand belongs to it alone.
    Lanes,
    /// Arithmetic over one whole container, or with a carry over two.
    Number(AluOp),
    /// Two whole containers side by side, shifted.
    Funnel,
}

/// One write of a field by an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) action: Action,
    pub(super) loc: Loc,
    pub(super) dst: Field,
    pub(super) shape: Shape,
    pub(super) moves: Vec<Move>,
}

impl Write {
    /// Returns the fields that it reads, each with its first bit that is read and the corresponding bits of the
    /// destination.
    pub(super) fn sources(&self) -> impl Iterator<Item = (Field, u16, Move)> {
        self.moves.iter().filter_map(|m| match m.source {
            Source::Field(f, lo) => Some((f, lo, *m)),
            Source::Data | Source::Hash => None,
        })
    }

    /// Returns true if it writes a bit that an earlier write of its action wrote.
    fn replaces(&self, before: &Write) -> bool {
        let meets = before.moves.is_empty() || before.moves.iter().any(|m| self.reaches(m.lo, m.width));
        self.dst == before.dst && meets
    }

    /// Returns true if it writes a bit of `lo..lo + width`. A write without a source writes all bits of its field.
    pub(super) fn reaches(&self, lo: u16, width: u16) -> bool {
        self.moves.is_empty() || self.moves.iter().any(|m| m.lo < lo + width && lo < m.lo + m.width)
    }
}

/// Returns every write of the actions that a gress can run, by action, then in program order. A write that a later
/// write of the same action replaces is left out.
pub(super) fn writes(program: &Program, cfg: &Cfg) -> Vec<Write> {
    let actions: BTreeSet<Action> = cfg.nodes.keys().flat_map(|n| cfg.actions(program, n)).collect();
    let mut list: Vec<Write> = Vec::new();
    for action in actions {
        let first = list.len();
        for primitive in &program.actions[action].body {
            let (dst, shape, moves) = match &primitive.kind {
                PrimitiveKind::Set(dst, value) | PrimitiveKind::DropCtl(dst, value, _) => {
                    (*dst, shape(*dst, value), trace(program, value))
                }
                PrimitiveKind::SetSlice(dst, _, lo, value) => {
                    let part = |m: Move| Move { lo: m.lo + lo, ..m };
                    (*dst, Shape::Copy, trace(program, value).into_iter().map(part).collect())
                }
                PrimitiveKind::Hash(dst, _) | PrimitiveKind::HashSlice(dst, ..) => {
                    let m = Move { lo: 0, width: program.fields[*dst].width, source: Source::Hash };
                    (*dst, Shape::Copy, vec![m])
                }
                PrimitiveKind::HashInto(dst, hi, lo, ..) => {
                    let m = Move { lo: *lo, width: hi - lo + 1, source: Source::Hash };
                    (*dst, Shape::Copy, vec![m])
                }
                PrimitiveKind::SetMasked(dst, ..) => {
                    let width = program.fields[*dst].width;
                    let part = |source| Move { lo: 0, width, source };
                    (*dst, Shape::Merge, vec![part(Source::Field(*dst, 0)), part(Source::Data)])
                }
                PrimitiveKind::Register(access) => {
                    for (_, dst) in &access.outputs {
                        let m = Move { lo: 0, width: program.fields[*dst].width, source: Source::Hash };
                        list.push(Write {
                            action,
                            loc: primitive.loc,
                            dst: *dst,
                            shape: Shape::Copy,
                            moves: vec![m],
                        });
                    }
                    continue;
                }
                PrimitiveKind::Meter(MeterAccess { to, .. }) | PrimitiveKind::Random(to, _) => {
                    let m = Move { lo: 0, width: program.fields[*to].width, source: Source::Hash };
                    (*to, Shape::Copy, vec![m])
                }
                _ => continue,
            };
            let write = Write { action, loc: primitive.loc, dst, shape, moves };
            if let Some(at) = list[first..].iter().position(|w| write.replaces(w)) {
                list.remove(first + at);
            }
            list.push(write);
        }
    }
    list
}

/// Returns the bits of a value with their sources; the moves of several operands follow each other.
fn trace(program: &Program, value: &Expr) -> Vec<Move> {
    let all = |source| vec![Move { lo: 0, width: value.width(program), source }];
    match value {
        Expr::Const(..) | Expr::Param(..) => all(Source::Data),
        Expr::Field(f) => all(Source::Field(*f, 0)),
        Expr::Slice(inner, _, lo) => clip(trace(program, inner), *lo, value.width(program)),
        Expr::Cast(inner, width) => {
            let have = inner.width(program);
            let mut moves = clip(trace(program, inner), 0, *width);
            if have < *width {
                moves.push(Move { lo: have, width: width - have, source: Source::Data });
            }
            moves
        }
        Expr::Alu(op, a, b) => {
            let (from_a, from_b) = op.reads();
            let of = |read: bool, e: &Expr| if read { trace(program, e) } else { Vec::new() };
            of(from_a, a).into_iter().chain(of(from_b, b)).collect()
        }
        Expr::Funnel(high, low, _) => [trace(program, high), trace(program, low)].concat(),
    }
}

/// Keeps bits `lo..lo + width` and counts them from 0.
fn clip(moves: Vec<Move>, lo: u16, width: u16) -> Vec<Move> {
    let keep = |m: Move| {
        let from = m.lo.max(lo);
        let to = (m.lo + m.width).min(lo + width);
        (from < to).then(|| Move {
            lo: from - lo,
            width: to - from,
            source: match m.source {
                Source::Field(f, at) => Source::Field(f, at + from - m.lo),
                other => other,
            },
        })
    };
    moves.into_iter().filter_map(keep).collect()
}

fn shape(dst: Field, value: &Expr) -> Shape {
    match value {
        Expr::Const(..) | Expr::Param(..) | Expr::Field(_) => Shape::Copy,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => match shape(dst, inner) {
            // The result is cut or widened, so the instruction works on whole containers.
            Shape::Merge => Shape::Lanes,
            other => other,
        },
        Expr::Alu(op, a, b) => match op.class() {
            AluClass::Arithmetic | AluClass::Shift | AluClass::Compare => Shape::Number(*op),
            AluClass::Move => Shape::Copy,
            AluClass::Bitwise if keeps_neighbours(*op, dst, a, b) => Shape::Merge,
            AluClass::Bitwise => Shape::Lanes,
        },
        Expr::Funnel(..) => Shape::Funnel,
    }
}

/// Returns true if a constant operand can be chosen so that the other bits of the container stay as they are.
fn keeps_neighbours(op: AluOp, dst: Field, a: &Expr, b: &Expr) -> bool {
    let own = |e: &Expr| *e == Expr::Field(dst);
    let data = |e: &Expr| matches!(e, Expr::Const(..) | Expr::Param(..));
    match op {
        AluOp::And | AluOp::Or | AluOp::Xor | AluOp::Xnor => own(a) && data(b) || data(a) && own(b),
        AluOp::Andcb | AluOp::Orcb => own(a) && data(b),
        AluOp::Andca | AluOp::Orca => data(a) && own(b),
        _ => false,
    }
}
