//! Symbolic execution of a register action: one run for every combination of comparison results.

use super::compare::{Test, mask_of, test};
use crate::verify::Diag;
use crate::{CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, LanePart, Loc, Operand, RegisterActionData};
use sluice_asic::chip::SaluSpec;
use sluice_asic::salu::{Comparator, Compare, Format, Half, LaneSearch, MathUnit, SaluOp, Sense, Ternary};

/// Limit of comparisons in a body; more than any chip has.
const MOST_COMPARISONS: usize = 8;

/// A value, expressed by the initial values of an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sym {
    /// A number within a half's width.
    Const(u64),
    /// A half of the element before the access.
    Memory(Half),
    /// A packet operand, by position among the register's operands.
    Phv(usize),
    /// A parameter of the register.
    Param(u8),
    /// An instruction on two symbols.
    Op(SaluOp, Box<Sym>, Box<Sym>),
    /// Result of the math unit for a symbol.
    Math(MathUnit, Box<Sym>),
    /// The one-hot code with this bit set.
    Outcome(u16),
    /// Index of the element.
    Address,
    /// Quotient of dividend and divisor.
    Quotient(Box<Sym>, Box<Sym>),
    /// Remainder of dividend and divisor.
    Remainder(Box<Sym>, Box<Sym>),
    /// Part of the lane search's result.
    Lane(LanePart),
    /// A half after the lane search.
    Searched(Half),
}

/// Reason why a register action does not map, with its place if known.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    text: String,
    help: String,
    loc: Option<Loc>,
    also: Vec<(Loc, String)>,
}

impl Fault {
    pub(super) fn new(text: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault { text: text.into(), help: help.into(), loc: None, also: Vec::new() }
    }

    /// Sets the place, unless there is one.
    pub(super) fn at(mut self, loc: Loc) -> Fault {
        self.loc.get_or_insert(loc);
        self
    }

    /// Adds another place.
    pub(super) fn also(mut self, loc: Loc, note: impl Into<String>) -> Fault {
        self.also.push((loc, note.into()));
        self
    }

    pub(super) fn diag(self, who: &str, loc: Loc) -> Diag {
        let mut diag = Diag::error(self.loc.unwrap_or(loc), format!("{who} {}", self.text)).help(self.help);
        diag.also = self.also;
        diag
    }
}

/// Results of the statements run so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Env {
    /// The halves of the element.
    pub(super) halves: [Sym; 2],
    /// The output words.
    pub(super) outputs: [Sym; 4],
    /// Last write of each half and output word.
    pub(super) at: [Loc; 6],
    /// The lane search.
    pub(super) search: Option<LaneSearch>,
}

/// A path through the body: comparators used, their results, and the final values.
#[derive(Clone, Debug)]
pub(super) struct Path {
    asked: u16,
    holds: u16,
    pub(super) end: Env,
}

/// A comparator in use.
pub(super) struct Unit {
    /// The comparator in the stateful ALU.
    pub(super) comparator: Comparator,
    /// Its normal form, by which it is found.
    form: Comparator,
    /// True if the stateful ALU has the opposite of the normal form, because a returned predicate needs it.
    opposite: bool,
    /// First use.
    pub(super) loc: Loc,
}

/// All paths through a body.
pub(super) struct Paths {
    /// The comparators, each with its first use.
    pub(super) comparators: Vec<Unit>,
    paths: Vec<Path>,
}

impl Paths {
    /// Runs the body; `operands` are the register's packet values.
    pub(super) fn of(
        code: &RegisterActionData,
        format: Format,
        operands: &[Operand],
        spec: &SaluSpec,
    ) -> Result<Paths, Fault> {
        let masks = spec.compare_masks;
        let mut walk = Walk { format, operands, masks, comparators: Vec::new(), paths: Vec::new() };
        let zero = Sym::Const(0);
        let start = Env {
            halves: [
                Sym::Memory(Half::Lo),
                if format.has_hi() { Sym::Memory(Half::Hi) } else { zero.clone() },
            ],
            outputs: [zero.clone(), zero.clone(), zero.clone(), zero],
            at: [code.loc; 6],
            search: None,
        };
        // A returned predicate exposes the numbers of the comparators, so its conditions come first.
        let returned = code.body.iter().take_while(|s| !matches!(s.kind, CellStmtKind::Write(..)));
        for stmt in returned {
            if let CellStmtKind::Output(_, CellValue::Predicate(conds)) = &stmt.kind {
                for cond in conds {
                    walk.reserve(cond, &start, stmt.loc).map_err(|f| f.at(stmt.loc))?;
                }
            }
        }
        let todo: Vec<&CellStmt> = code.body.iter().rev().collect();
        walk.go(todo, Path { asked: 0, holds: 0, end: start })?;
        Ok(Paths { comparators: walk.comparators, paths: walk.paths })
    }

    /// Returns the final values for an outcome of the comparators.
    pub(super) fn end(&self, outcome: u16) -> Option<&Env> {
        self.paths.iter().find(|p| outcome & p.asked == p.holds).map(|p| &p.end)
    }
}

struct Walk<'a> {
    format: Format,
    operands: &'a [Operand],
    /// True if the chip compares under masks.
    masks: bool,
    comparators: Vec<Unit>,
    paths: Vec<Path>,
}

impl<'a> Walk<'a> {
    /// Runs the statements of `todo`, the last one first.
    fn go(&mut self, mut todo: Vec<&'a CellStmt>, mut path: Path) -> Result<(), Fault> {
        while let Some(stmt) = todo.pop() {
            let fault = |f: Fault| f.at(stmt.loc);
            match &stmt.kind {
                CellStmtKind::Write(half, value) => {
                    let half = *half as usize;
                    path.end.halves[half] = self.value(value, &path.end).map_err(fault)?;
                    path.end.at[half] = stmt.loc;
                }
                CellStmtKind::Output(word, CellValue::Predicate(conds)) => {
                    let mut bit = 0;
                    for (i, cond) in conds.iter().enumerate() {
                        match self.holds(cond, &path, stmt.loc).map_err(fault)? {
                            Ok(holds) => bit |= u16::from(holds) << i,
                            Err(unit) => {
                                todo.push(stmt);
                                return self.fork(&todo, &path, unit);
                            }
                        }
                    }
                    let word = usize::from(*word & 3);
                    path.end.outputs[word] = Sym::Outcome(bit);
                    path.end.at[2 + word] = stmt.loc;
                }
                CellStmtKind::Search(search) => {
                    let in_place = |(n, e)| {
                        self.operands.iter().position(|o| matches!(o, Operand::Phv(x) if x == e)) == Some(n)
                    };
                    if !search.operands.iter().enumerate().all(in_place) {
                        let text = "searches with a packet value that is not the low operand of its register";
                        let help = "let the register's first action use it, or use a separate register for the search";
                        return Err(fault(Fault::new(text, help)));
                    }
                    path.end.search = Some(search.what);
                    path.end.halves = [Half::Lo, Half::Hi].map(Sym::Searched);
                    path.end.at[0] = stmt.loc;
                }
                CellStmtKind::Output(word, value) => {
                    let word = usize::from(*word & 3);
                    path.end.outputs[word] = self.value(value, &path.end).map_err(fault)?;
                    path.end.at[2 + word] = stmt.loc;
                }
                CellStmtKind::If(cond, then, otherwise) => {
                    match self.holds(cond, &path, stmt.loc).map_err(fault)? {
                        Ok(holds) => todo.extend(if holds { then } else { otherwise }.iter().rev()),
                        Err(unit) => {
                            todo.push(stmt);
                            return self.fork(&todo, &path, unit);
                        }
                    }
                }
            }
        }
        self.paths.push(path);
        Ok(())
    }

    /// Continues once for each result of a comparator.
    fn fork(&mut self, todo: &[&'a CellStmt], path: &Path, unit: usize) -> Result<(), Fault> {
        let bit = 1 << unit;
        for result in [bit, 0] {
            let mut fork = path.clone();
            fork.asked |= bit;
            fork.holds |= result;
            self.go(todo.to_vec(), fork)?;
        }
        Ok(())
    }

    /// Assigns the next comparator to a condition of a returned predicate, in the sense of that condition.
    fn reserve(&mut self, cond: &CellCond, start: &Env, loc: Loc) -> Result<(), Fault> {
        if let Test::Asked(form, as_is) = self.test(cond, start)?
            && self.comparators.iter().all(|u| u.form != form)
        {
            let unit = self.unit(form, loc)?;
            let opposite = |c: Compare| Compare { relation: c.relation.negated(), ..c };
            if let (false, Comparator::Compare(c)) = (as_is, form) {
                self.comparators[unit].comparator = Comparator::Compare(opposite(c));
                self.comparators[unit].opposite = true;
            }
        }
        Ok(())
    }

    /// Returns the test of a single comparison, or of the opposite of one.
    fn test(&self, cond: &CellCond, env: &Env) -> Result<Test, Fault> {
        match cond {
            CellCond::Cmp(op, _, a, b) if self.format.half_bits() > 32 => {
                // Comparators read 32 bits; ternary match units read a whole half.
                let units = match (self.value(a, env)?, self.value(b, env)?) {
                    (Sym::Memory(memory), Sym::Phv(n @ 0..=1))
                    | (Sym::Phv(n @ 0..=1), Sym::Memory(memory)) => {
                        (memory, if n == 0 { Half::Lo } else { Half::Hi })
                    }
                    _ => {
                        let text = "compares a wide half after writing it";
                        return Err(Fault::new(text, "compare before writing"));
                    }
                };
                let (memory, phv) = units;
                let unit = Ternary { memory, phv, mask: self.format.half_mask() };
                Ok(Test::Asked(Comparator::Ternary(unit), *op == CmpOp::Eq))
            }
            CellCond::Cmp(op, sense, a, b) => {
                let exact = *sense != Sense::Serial && op.orders();
                let side = |value| if exact { self.exact(value, env) } else { self.value(value, env) };
                test(*op, *sense, (&side(a)?, &side(b)?), self.format, self.masks)
            }
            CellCond::Match(half, value, mask) => {
                let (memory, value) = (&env.halves[*half as usize], self.value(value, env)?);
                match (memory, value) {
                    (Sym::Memory(memory), Sym::Phv(n @ 0..=1)) => {
                        let phv = if n == 0 { Half::Lo } else { Half::Hi };
                        let unit = Ternary { memory: *memory, phv, mask: *mask };
                        Ok(Test::Asked(Comparator::Ternary(unit), true))
                    }
                    _ => Err(Fault::new(
                        "matches a computed value; a ternary match unit compares memory and PHV",
                        "match before writing",
                    )),
                }
            }
            CellCond::Not(a) => Ok(match self.test(a, env)? {
                Test::Known(known) => Test::Known(!known),
                Test::Asked(comparator, as_is) => Test::Asked(comparator, !as_is),
            }),
            CellCond::And(..) | CellCond::Or(..) => Ok(Test::Known(false)),
        }
    }

    /// Returns the value of the condition on the path, or the comparator whose unknown result decides it.
    fn holds(&mut self, cond: &CellCond, path: &Path, loc: Loc) -> Result<Result<bool, usize>, Fault> {
        match cond {
            CellCond::Cmp(..) | CellCond::Match(..) => match self.test(cond, &path.end)? {
                Test::Known(known) => Ok(Ok(known)),
                Test::Asked(comparator, as_is) => {
                    let unit = self.unit(comparator, loc)?;
                    let known = path.asked >> unit & 1 != 0;
                    let holds = (path.holds >> unit & 1 != 0) != self.comparators[unit].opposite;
                    Ok(if known { Ok(holds == as_is) } else { Err(unit) })
                }
            },
            CellCond::Not(a) => Ok(self.holds(a, path, loc)?.map(|holds| !holds)),
            CellCond::And(a, b) => match self.holds(a, path, loc)? {
                Ok(true) => self.holds(b, path, loc),
                decided => Ok(decided),
            },
            CellCond::Or(a, b) => match self.holds(a, path, loc)? {
                Ok(false) => self.holds(b, path, loc),
                decided => Ok(decided),
            },
        }
    }

    fn unit(&mut self, comparator: Comparator, loc: Loc) -> Result<usize, Fault> {
        if let Some(unit) = self.comparators.iter().position(|u| u.form == comparator) {
            return Ok(unit);
        }
        if self.comparators.len() == MOST_COMPARISONS {
            let text = format!("needs more than {MOST_COMPARISONS} comparisons");
            return Err(Fault::new(text, "decide in earlier stages and pass the result as a packet value"));
        }
        self.comparators.push(Unit { comparator, form: comparator, opposite: false, loc });
        Ok(self.comparators.len() - 1)
    }

    fn operand(&self, operand: &Operand) -> Result<Sym, Fault> {
        let place = self.operands.iter().position(|o| o == operand);
        place.map(Sym::Phv).ok_or_else(|| Fault::new("uses an unknown packet value", "use a field"))
    }

    /// Returns a side of an order by size. Its own sums and differences stay as they are, because a comparator does
    /// not wrap them; any other computed value has wrapped before it is compared.
    fn exact(&self, value: &CellValue, env: &Env) -> Result<Sym, Fault> {
        let both = |op, a, b| -> Result<Sym, Fault> {
            Ok(Sym::Op(op, Box::new(self.exact(a, env)?), Box::new(self.exact(b, env)?)))
        };
        match value {
            CellValue::Op(op @ (SaluOp::Add | SaluOp::Sub), a, b) => both(*op, a, b),
            CellValue::Op(SaluOp::Subr, a, b) => both(SaluOp::Sub, b, a),
            value => match self.value(value, env)? {
                sym @ Sym::Op(..) if !(self.masks && mask_of(&sym).is_some()) => Err(Fault::new(
                    "orders a computed value by size, but a comparator's sums do not wrap where the value does",
                    "compare as sequence numbers do (`serial`), or compute the value in an earlier stage",
                )),
                sym => Ok(sym),
            },
        }
    }

    fn value(&self, value: &CellValue, env: &Env) -> Result<Sym, Fault> {
        Ok(match value {
            CellValue::Const(value) => Sym::Const(value & self.format.half_mask()),
            CellValue::Half(half) => env.halves[*half as usize].clone(),
            CellValue::Old(Half::Hi) if !self.format.has_hi() => Sym::Const(0),
            CellValue::Old(half) => Sym::Memory(*half),
            CellValue::Param(n) => Sym::Param(*n),
            CellValue::Phv(e) => self.operand(&Operand::Phv(e.clone()))?,
            CellValue::Hash(hash) => self.operand(&Operand::Hash(*hash))?,
            CellValue::Op(op, a, b) => {
                let a = if op.uses_a() { self.value(a, env)? } else { Sym::Const(0) };
                let b = if op.uses_b() { self.value(b, env)? } else { Sym::Const(0) };
                simplify(*op, a, b, self.format)
            }
            CellValue::Math(unit, a) => match self.value(a, env)? {
                leaf @ (Sym::Memory(_) | Sym::Phv(_)) => Sym::Math(*unit, Box::new(leaf)),
                Sym::Const(value) => Sym::Const(u64::from(unit.eval(value as u32)) & self.format.half_mask()),
                _ => {
                    let text = "gives the math unit a computed value; it takes a half or a packet value";
                    return Err(Fault::new(text, "use it before the half is written"));
                }
            },
            CellValue::Address => Sym::Address,
            CellValue::Quotient(a, b) => {
                Sym::Quotient(Box::new(self.value(a, env)?), Box::new(self.value(b, env)?))
            }
            CellValue::Remainder(a, b) => {
                Sym::Remainder(Box::new(self.value(a, env)?), Box::new(self.value(b, env)?))
            }
            CellValue::Lane(part) => Sym::Lane(*part),
            CellValue::Predicate(_) => {
                let text = "computes with a predicate; it is only returned";
                return Err(Fault::new(text, "branch on the conditions instead"));
            }
        })
    }
}

/// Returns the simplified instruction: computes constants, and turns sums and differences with constants into
/// one sum.
fn simplify(op: SaluOp, a: Sym, b: Sym, format: Format) -> Sym {
    let mask = u64::from(format.math_mask());
    match (op, a, b) {
        (SaluOp::AluA, a, _) => a,
        (SaluOp::AluB, _, b) => b,
        (op, Sym::Const(a), Sym::Const(b)) => {
            Sym::Const(u64::from(op.eval(a as u32, b as u32, format.math_bits())))
        }
        (SaluOp::Sub, a, Sym::Const(b)) => {
            simplify(SaluOp::Add, a, Sym::Const(b.wrapping_neg() & mask), format)
        }
        (SaluOp::Add, Sym::Const(a), b) => simplify(SaluOp::Add, b, Sym::Const(a), format),
        (SaluOp::Add, a, Sym::Const(0)) => a,
        (SaluOp::Add, Sym::Op(SaluOp::Add, a, c), Sym::Const(b)) if matches!(*c, Sym::Const(_)) => {
            let c = simplify(SaluOp::Add, *c, Sym::Const(b), format);
            simplify(SaluOp::Add, *a, c, format)
        }
        (op, a, b) => Sym::Op(op, Box::new(a), Box::new(b)),
    }
}
