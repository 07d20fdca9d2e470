//! Frames: what the parameters and variables of a block stand for where its code is lowered.

use super::places::Place;
use super::{Lower, Res};
use crate::check::TyKind;
use crate::elaborate::BlockId;
use crate::syntax::ast::{DeclId, DeclKind};
use rustc_hash::FxHashMap;
use sluice_asic::gress::Gress;
use sluice_ir as ir;

/// A use of a block: parameters stand for the caller's places, so that no argument is copied.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The block.
    pub(super) block: BlockId,
    /// The gress.
    pub(super) gress: Gress,
    /// The name that variables of the block have in front; empty for the blocks of the pipe.
    pub(super) path: String,
    /// What parameters and variables stand for.
    pub(super) names: FxHashMap<DeclId, Bound>,
}

/// What a parameter or variable stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bound {
    /// Storage.
    Place(Place),
    /// A value, most significant piece first: an argument of an `in` parameter, a parameter of an action, a variable that its
    /// value replaces.
    Pieces(Vec<ir::Expr>),
}

impl Frame {
    /// Returns the place of a parameter or variable, if it has one.
    pub(super) fn place(&self, decl: DeclId) -> Option<&Place> {
        match self.names.get(&decl)? {
            Bound::Place(place) => Some(place),
            Bound::Pieces(_) => None,
        }
    }

    /// Binds a parameter or variable to storage.
    pub(super) fn bind(&mut self, decl: DeclId, place: Place) {
        self.names.insert(decl, Bound::Place(place));
    }

    /// Returns the name of a variable of the block.
    pub(super) fn name(&self, own: &str) -> String {
        if self.path.is_empty() { own.to_owned() } else { format!("{}.{own}", self.path) }
    }
}

impl<'a> Lower<'a> {
    /// Returns the frame of a parser, control or deparser of the pipe itself: headers and metadata are those of the gress,
    /// structures of intrinsic metadata are the chip's, and local variables have new storage.
    pub(super) fn root_frame(&mut self, gress: Gress, block: BlockId) -> Res<Frame> {
        let mut frame = Frame { block, gress, path: String::new(), names: FxHashMap::default() };
        let mut shared = 0;
        for &param in self.params(block) {
            let ty = self.checked.decl_types[param];
            let ty = self.pipe.concrete(self.ast, self.checked, block, ty);
            if matches!(self.checked.types.kind(ty), TyKind::Extern(..)) {
                continue;
            }
            let place = match (self.intrinsics(ty, gress), shared) {
                (Some(place), _) => Some(place),
                (None, 0) => self.storage.root(gress).headers.clone(),
                (None, 1) => self.storage.root(gress).metadata.clone(),
                (None, _) => None,
            };
            shared += 1;
            if let Some(place) = place {
                frame.bind(param, place);
            }
        }
        self.bind_variables(&mut frame)?;
        Ok(frame)
    }

    /// Returns the parameters of `apply` of a block.
    pub(super) fn params(&self, block: BlockId) -> &'a [DeclId] {
        self.ast.params(self.pipe.blocks[block].decl)
    }

    /// Gives storage to the variables that are declared beside tables, actions and states.
    pub(super) fn bind_variables(&mut self, frame: &mut Frame) -> Res<()> {
        let ast = self.ast;
        let locals = match &ast.decls[self.pipe.blocks[frame.block].decl].kind {
            DeclKind::Parser(parser) => &parser.locals,
            DeclKind::Control(control) => &control.locals,
            _ => return Ok(()),
        };
        for &local in locals {
            if matches!(ast.decls[local].kind, DeclKind::Variable { .. }) {
                self.bind_variable(frame, local)?;
            }
        }
        Ok(())
    }

    /// Gives storage to a variable.
    pub(super) fn bind_variable(&mut self, frame: &mut Frame, variable: DeclId) -> Res<()> {
        let decl = &self.ast.decls[variable];
        let ty = self.checked.decl_types[variable];
        let ty = self.pipe.concrete(self.ast, self.checked, frame.block, ty);
        if let Some(slot) = self.shared_with(frame.gress, variable) {
            frame.bind(variable, Place::Slot(slot));
            return Ok(());
        }
        let name = frame.name(self.ast.text(decl.name));
        let place = self.make_place(ty, frame.gress, &name, decl.name.span)?;
        frame.bind(variable, place);
        Ok(())
    }
}
