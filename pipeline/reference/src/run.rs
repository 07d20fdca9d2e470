//! A pass under way: the variables of the code that runs, the packet, and what it has asked for.

use crate::bits::{Bits, Reader};
use crate::outside::Outside;
use crate::pass::{PassIn, Request};
use crate::reference::Reference;
use crate::stop::Res;
use crate::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use sluice_p4::check::Ty;
use sluice_p4::elaborate::{BlockId, ObjectId, TableId};
use sluice_p4::source::Span;
use sluice_p4::syntax::ast::{Ast, DeclId, ExprId};

/// The variables and parameters of an instance of a parser or control while it runs.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The instance.
    pub(crate) block: BlockId,
    /// Values of variables and of parameters, also of those of actions and methods.
    pub(crate) vars: FxHashMap<DeclId, Value>,
}

/// A sum of a parser that is subtracted from all headers extracted later.
#[derive(Clone, Debug)]
pub(crate) struct Deposit {
    /// The checksum.
    pub(crate) object: ObjectId,
    /// The place of the sum.
    pub(crate) target: crate::place::Place,
}

/// A pass under way.
pub(crate) struct Run<'p, 'a> {
    pub(crate) core: &'p mut Reference<'a>,
    pub(crate) ast: &'a Ast,
    pub(crate) outside: &'p mut dyn Outside,
    pub(crate) input: &'p PassIn,
    /// Instances that run, each inside the one before it.
    pub(crate) frames: Vec<Frame>,
    /// The instance whose code runs.
    pub(crate) frame: usize,
    /// The packet behind the metadata that the parser sees in front of it.
    pub(crate) packet: Reader,
    /// Number of bits in front of the packet.
    pub(crate) front: usize,
    /// Bits that the deparser has emitted.
    pub(crate) emitted: Bits,
    /// Bits that were added to checksums.
    pub(crate) sums: FxHashMap<ObjectId, Bits>,
    /// Residual sums of checksums.
    pub(crate) residuals: FxHashMap<ObjectId, u16>,
    pub(crate) deposits: Vec<Deposit>,
    /// Parser counters, each with the values below it on its stack; true for values that change with the one above.
    pub(crate) counters: FxHashMap<ObjectId, (i8, Vec<(i8, bool)>)>,
    /// Places that the parser has extracted, on a chip that extracts each header once.
    pub(crate) extracted: Vec<crate::place::Place>,
    /// `parser_err` bits of errors that do not end parsing.
    pub(crate) flags: u16,
    /// The table whose action runs, and its entry; no entry on a miss.
    pub(crate) applied: Option<(TableId, Option<usize>)>,
    /// The register access whose code runs: the index of the element.
    pub(crate) access: Option<u64>,
    pub(crate) requests: Vec<Request>,
    /// Fields that assignments have written.
    pub(crate) assigned: FxHashSet<DeclId>,
    /// Variables and parameters at the begin of the block of the gress that runs.
    pub(crate) at_begin: FxHashMap<DeclId, Value>,
    /// Structures of intrinsic metadata by the names of their types, between the blocks of the gress.
    pub(crate) intrinsics: FxHashMap<&'a str, Value>,
    /// Headers and metadata of the program between the blocks of the gress.
    pub(crate) own: [Option<Value>; 2],
}

impl<'p, 'a> Run<'p, 'a> {
    pub(crate) fn new(
        core: &'p mut Reference<'a>,
        outside: &'p mut dyn Outside,
        input: &'p PassIn,
    ) -> Run<'p, 'a> {
        let ast = core.program.ast;
        Run {
            core,
            ast,
            outside,
            input,
            frames: Vec::new(),
            frame: 0,
            packet: Reader::default(),
            front: 0,
            emitted: Bits::default(),
            sums: FxHashMap::default(),
            residuals: FxHashMap::default(),
            deposits: Vec::new(),
            counters: FxHashMap::default(),
            extracted: Vec::new(),
            flags: 0,
            applied: None,
            access: None,
            requests: Vec::new(),
            assigned: FxHashSet::default(),
            at_begin: FxHashMap::default(),
            intrinsics: FxHashMap::default(),
            own: [None, None],
        }
    }

    /// Returns the instance whose code runs.
    pub(crate) fn block(&self) -> BlockId {
        self.frames[self.frame].block
    }

    /// Returns the place of an expression.
    pub(crate) fn span(&self, expr: ExprId) -> Span {
        self.core.program.span(expr)
    }

    /// Returns the type of an expression.
    pub(crate) fn ty(&mut self, expr: ExprId) -> Ty {
        let block = self.block();
        self.core.program.expr_ty(block, expr)
    }

    /// Returns the type of a variable or parameter.
    pub(crate) fn decl_ty(&mut self, decl: DeclId) -> Ty {
        let block = self.block();
        self.core.program.decl_ty(block, decl)
    }

    /// Gives a variable or parameter of the instance that runs a value.
    pub(crate) fn define(&mut self, decl: DeclId, value: Value) {
        self.frames[self.frame].vars.insert(decl, value);
    }

    /// Returns the value of a variable or parameter of the instance that runs.
    pub(crate) fn variable(&self, decl: DeclId) -> Option<&Value> {
        self.frames[self.frame].vars.get(&decl)
    }

    /// Runs code in a new frame of an instance.
    pub(crate) fn inside<T>(&mut self, block: BlockId, code: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let before = self.frame;
        self.frame = self.frames.len();
        self.frames.push(Frame { block, vars: FxHashMap::default() });
        let result = code(self);
        self.frames.pop();
        self.frame = before;
        result
    }

    /// Runs code in the frame of the instance that contains it, if that runs.
    pub(crate) fn within<T>(&mut self, block: BlockId, code: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let before = self.frame;
        if let Some(at) = self.frames.iter().rposition(|frame| frame.block == block) {
            self.frame = at;
        }
        let result = code(self);
        self.frame = before;
        result
    }
}
