//! The walk over the paths of a parser.
//!
//! A state of the IR is a state of P4 in one inlined copy of its parser, with what the path knows there: how far it has come in front of
//! the packet, and the values of variables. Paths that know different things have states of their own; what nothing reads later is
//! forgotten first, so that they meet again.

use super::super::name::Space;
use super::super::places::{Place, Slot};
use super::super::{Lower, Refused, Res};
use super::bits::{Bits, Lost, Source};
use super::early::EarlyLoad;
use super::env::{Env, LocalId};
use super::frame::{Frame, FrameId, Point};
use super::front::{Kind, Layout};
use super::live::Live;
use super::made::{Made, Parsed};
use crate::elaborate::{BlockId, Object};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use sluice_asic::gress::Gress;
use sluice_asic::limits;
use sluice_ir::{Next, ParserOpKind, ParserState, SelectArm, SelectKey, StateData};
use std::collections::{BTreeSet, VecDeque};

/// The walk over the parser of a gress.
pub(super) struct Walk<'c, 'a> {
    pub cx: &'c mut Lower<'a>,
    pub gress: Gress,
    pub layout: Layout,
    pub frames: Vec<Frame>,
    pub locals: FxHashMap<(FrameId, DeclId), LocalId>,
    pub live: Live,
    /// Variables that states declare.
    pub of_states: FxHashSet<LocalId>,
    /// The copy of the parser that each place applies.
    pub copies: FxHashMap<Point, FrameId>,
    /// Storage of variables that port metadata go to.
    pub unpacked: FxHashMap<LocalId, Place>,
    /// True if the program resubmits packets.
    pub resubmits: bool,
    /// True if the program has more than one parser counter.
    pub several_counters: bool,
    /// Names of the stacks whose elements are told apart.
    pub counted: BTreeSet<String>,
    /// Loads of the counter from headers of earlier states.
    pub early: Vec<EarlyLoad>,
    pub made: Parsed,
    states: FxHashMap<(Point, Env), ParserState>,
    work: VecDeque<(Point, Env, ParserState)>,
}

/// The state that is being made.
pub(super) struct State {
    /// The state of the program.
    pub id: ParserState,
    pub frame: FrameId,
    pub env: Env,
    pub ops: Vec<(Made, Span)>,
    /// Bits that the state has advanced past.
    pub position: u32,
    /// Fields that the state has extracted.
    pub extracted: Vec<Slot>,
    /// The first bits of these fields, counted from the position at which the state began.
    pub starts: FxHashMap<Slot, u32>,
    /// True if a stack is full whose next element the state extracts: parsing ends.
    pub full: bool,
}

impl State {
    fn new(id: ParserState, frame: FrameId, env: Env) -> State {
        State {
            id,
            frame,
            env,
            ops: Vec::new(),
            position: 0,
            extracted: Vec::new(),
            starts: FxHashMap::default(),
            full: false,
        }
    }
}

/// How a state ends.
pub(super) struct End {
    pub select: Vec<SelectKey>,
    pub arms: Vec<SelectArm>,
    pub default: Next,
}

impl<'c, 'a> Walk<'c, 'a> {
    pub(super) fn new(cx: &'c mut Lower<'a>, gress: Gress, layout: Layout, live: Live) -> Self {
        Walk {
            cx,
            gress,
            layout,
            frames: Vec::new(),
            locals: FxHashMap::default(),
            live,
            of_states: FxHashSet::default(),
            copies: FxHashMap::default(),
            unpacked: FxHashMap::default(),
            resubmits: false,
            several_counters: false,
            counted: BTreeSet::new(),
            early: Vec::new(),
            made: Parsed::default(),
            states: FxHashMap::default(),
            work: VecDeque::new(),
        }
    }

    pub(super) fn refuse(&mut self, at: Span, text: impl Into<String>, help: &str) -> Refused {
        self.cx.refuse(at, text, help)
    }

    /// Makes all states that paths from the beginning of the gress' parser reach.
    pub(super) fn run(&mut self, frame: FrameId, block: BlockId) -> Res<Next> {
        let ast = self.cx.ast;
        let counter = |object: &Object| ast.text(ast.decls[object.decl].name) == "ParserCounter";
        self.several_counters = self.cx.pipe.objects.values().filter(|object| counter(object)).count() > 1;
        self.find_counted();
        let Some(start) = self.start(block) else {
            let at = ast.decls[self.cx.pipe.blocks[block].decl].name.span;
            return Err(self.refuse(at, "the parser has no state `start`", "declare `state start`"));
        };
        let mut first = State::new(self.cx.program.states.next_key(), frame, Env::default());
        self.enter(&mut first)?;
        let first = self.state(Point { frame, state: start, statement: 0 }, first.env);
        while let Some((point, env, state)) = self.work.pop_front() {
            let limit = &limits::P4_PARSER_STATES;
            if limit.is_below(self.states.len()) {
                let at = ast.decls[point.state].name.span;
                let text =
                    format!("the parser has more than {} states after its paths are told apart", limit.get());
                let help = format!(
                    "select on fewer metadata fields and variables, and on header fields in their place; {}",
                    limit.advice()
                );
                return Err(self.refuse(at, text, &help));
            }
            self.fill(point, env, state);
        }
        Ok(Next::State(first))
    }

    /// Returns the states that were made.
    pub(super) fn parsed(self) -> Parsed {
        self.made
    }

    /// Returns the state for a place in the program and what is known there.
    pub(super) fn state(&mut self, point: Point, mut env: Env) -> ParserState {
        let frame = &self.frames[point.frame.0];
        self.live.forget(self.cx, &self.locals, (point, frame), &mut env);
        let key = (point, env);
        if let Some(&state) = self.states.get(&key) {
            return state;
        }
        let decl = &self.cx.ast.decls[point.state];
        let base = format!("{}{}", self.frames[point.frame.0].prefix, self.cx.ast.text(decl.name));
        let name = self.cx.names.take(Space::State(self.gress), &base);
        let state = self.cx.program.states.push(StateData {
            name,
            gress: self.gress,
            ops: Vec::new(),
            select: Vec::new(),
            arms: Vec::new(),
            default: Next::Reject,
            doc: String::new(),
            loc: self.cx.loc(decl.name.span),
        });
        let (point, env) = key.clone();
        self.states.insert(key, state);
        self.work.push_back((point, env, state));
        state
    }

    fn fill(&mut self, point: Point, env: Env, state: ParserState) {
        let ast = self.cx.ast;
        let DeclKind::State(decl) = &ast.decls[point.state].kind else { return };
        let mut made = State::new(state, point.frame, env);
        let mut end = None;
        for (index, statement) in flat(&decl.statements).into_iter().enumerate().skip(point.statement) {
            let then = Point { statement: index + 1, ..point };
            if let Ok(Some(next)) = self.statement(&mut made, statement, then) {
                end = Some(End { select: Vec::new(), arms: Vec::new(), default: next });
                break;
            }
            if made.full {
                end = Some(End { select: Vec::new(), arms: Vec::new(), default: Next::Reject });
                break;
            }
        }
        let end = end.or_else(|| self.transition(&mut made, point, decl).ok());
        self.made.states.push((state, made.ops));
        let data = &mut self.cx.program.states[state];
        if let Some(end) = end {
            data.select = end.select;
            data.arms = end.arms;
            data.default = end.default;
        }
    }

    /// Lowers a statement; returns the state that follows if the statement runs another parser.
    fn statement(&mut self, state: &mut State, statement: &Stmt, then: Point) -> Res<Option<Next>> {
        let ast = self.cx.ast;
        match &statement.kind {
            StmtKind::Empty | StmtKind::Block(_) => Ok(None),
            StmtKind::Decl(decl) => match &ast.decls[*decl].kind {
                DeclKind::Variable { value, .. } => {
                    let id = self.local(state.frame, *decl);
                    self.of_states.insert(id);
                    self.variable(state, *decl, *value)?;
                    Ok(None)
                }
                _ => Ok(None),
            },
            StmtKind::Assign { target, value } => {
                self.assign(state, *target, *value, statement.span)?;
                Ok(None)
            }
            StmtKind::Call(call) => self.call(state, *call, then),
            StmtKind::If { .. } => Err(self.refuse(
                statement.span,
                "a parser state has an `if`, but a parser chooses with `select` only",
                "make a state for each branch, and select between them",
            )),
            StmtKind::Switch { .. } | StmtKind::Return(_) | StmtKind::Exit => Err(self.refuse(
                statement.span,
                "a parser state has a statement of controls",
                "use `transition` to leave a state",
            )),
        }
    }

    pub(super) fn op(&mut self, state: &mut State, kind: ParserOpKind, at: Span) {
        state.ops.push((Made::Plain(kind), at));
    }

    /// Returns the next bits of the input, as far as a path can look ahead.
    pub(super) fn ahead(&self, state: &State, bits: u32) -> Bits {
        let mut at = state.position;
        let runs = self.layout.runs(state.env.front, bits);
        runs.into_iter().fold(Bits::default(), |value, (kind, width)| {
            value.then(match kind {
                Kind::Real => {
                    at += width;
                    Bits::one(Source::Ahead(at - width), width)
                }
                Kind::Absent | Kind::Either => Bits::lost(Lost::InFront, width),
            })
        })
    }

    /// Returns the number of a variable or parameter of a copy of a parser.
    pub(super) fn local(&mut self, frame: FrameId, decl: DeclId) -> LocalId {
        let next = self.locals.len() as LocalId;
        *self.locals.entry((frame, decl)).or_insert(next)
    }

    /// Returns the text of an expression's name for messages.
    pub(super) fn span(&self, expr: ExprId) -> Span {
        self.cx.ast.exprs[expr].span
    }
}

/// Returns the statements with those of inner blocks in their place.
pub(super) fn flat(statements: &[Stmt]) -> Vec<&Stmt> {
    let mut all = Vec::new();
    for statement in statements {
        match &statement.kind {
            StmtKind::Block(block) => all.extend(flat(&block.statements)),
            _ => all.push(statement),
        }
    }
    all
}
