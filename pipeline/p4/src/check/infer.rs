//! Unification: what the type parameters of a call or an instance stand for.

use super::Checker;
use super::ty::{Ty, TyKind, type_params};
use crate::syntax::ast::{DeclId, DeclKind, Direction};

/// A point to which a failed attempt returns.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

/// The first parameter in which a parser or control differs from the declaration of its type.
#[derive(Clone, Copy)]
pub(super) struct BlockMisfit {
    /// The parameter of the parser or control; `None` if it has too few.
    pub(super) own: Option<DeclId>,
    /// The parameter of the declaration with its type; `None` if it has no more.
    pub(super) wanted: Option<(DeclId, Ty)>,
}

impl Checker<'_> {
    /// Returns a new type to infer.
    pub(super) fn fresh(&mut self) -> Ty {
        let number = self.variables.len() as u32;
        self.variables.push(None);
        self.out.types.make(TyKind::Infer(number))
    }

    /// Returns the type that an inferred type stands for, or the type itself.
    pub(super) fn shallow(&self, mut ty: Ty) -> Ty {
        while let TyKind::Infer(number) = self.out.types.kind(ty) {
            match self.variables[*number as usize] {
                Some(next) => ty = next,
                None => break,
            }
        }
        ty
    }

    /// Returns a type without inferred parts; those that nothing decided become [`Ty::ANY`].
    pub(super) fn resolved(&mut self, ty: Ty) -> Ty {
        resolve(&mut self.out.types, &self.variables, ty)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Undoes what was bound since the mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        for number in self.trail.drain(mark.0..) {
            self.variables[number as usize] = None;
        }
    }

    fn bind(&mut self, number: u32, ty: Ty) -> bool {
        self.variables[number as usize] = Some(ty);
        self.trail.push(number);
        true
    }

    /// Makes two types equal by binding inferred types; returns false if they differ. What was bound by then stays bound.
    pub(super) fn unify(&mut self, left: Ty, right: Ty) -> bool {
        let (left, right) = (self.shallow(left), self.shallow(right));
        if left == right || self.out.types.is_loose(left) || self.out.types.is_loose(right) {
            return true;
        }
        match (self.out.types.kind(left).clone(), self.out.types.kind(right).clone()) {
            (TyKind::Infer(number), _) => self.bind(number, right),
            (_, TyKind::Infer(number)) => self.bind(number, left),
            (TyKind::Header(a, x), TyKind::Header(b, y))
            | (TyKind::Struct(a, x), TyKind::Struct(b, y))
            | (TyKind::Extern(a, x), TyKind::Extern(b, y))
            | (TyKind::Package(a, x), TyKind::Package(b, y))
            | (TyKind::Parser(a, x), TyKind::Parser(b, y))
            | (TyKind::Control(a, x), TyKind::Control(b, y))
                if a == b =>
            {
                self.unify_all(&x, &y)
            }
            (TyKind::Tuple(x), TyKind::Tuple(y)) => self.unify_all(&x, &y),
            (TyKind::Parser(a, x), TyKind::Parser(b, y)) | (TyKind::Control(a, x), TyKind::Control(b, y)) => {
                match self.is_block_type(a) {
                    true => self.unify_blocks((b, &y), (a, &x)),
                    false => self.unify_blocks((a, &x), (b, &y)),
                }
            }
            (TyKind::Stack(a, n), TyKind::Stack(b, m)) => n == m && self.unify(a, b),
            (TyKind::Set(a), TyKind::Set(b)) => self.unify(a, b),
            _ => false,
        }
    }

    fn unify_all(&mut self, left: &[Ty], right: &[Ty]) -> bool {
        left.len() == right.len() && left.iter().zip(right).all(|(&left, &right)| self.unify(left, right))
    }

    /// Matches a parser or control with the declaration of its type, parameter by parameter. Optional parameters of the type
    /// may be absent.
    fn unify_blocks(&mut self, actual: (DeclId, &[Ty]), wanted: (DeclId, &[Ty])) -> bool {
        self.match_blocks(actual, wanted).is_none()
    }

    /// Matches a parser or control with the declaration of its type. Returns the first difference.
    pub(super) fn match_blocks(
        &mut self,
        (actual, args): (DeclId, &[Ty]),
        (wanted, wanted_args): (DeclId, &[Ty]),
    ) -> Option<BlockMisfit> {
        let mut given = self.ast.params(actual).iter().copied().peekable();
        for &param in self.ast.params(wanted) {
            let (direction, ty) = self.param(param, wanted, wanted_args);
            let mark = self.mark();
            if let Some(&have) = given.peek() {
                let (own, of) = self.param(have, actual, args);
                if own == direction && (self.unify(of, ty) || self.same_fields(of, ty)) {
                    given.next();
                    continue;
                }
            }
            self.undo(mark);
            if !self.is_optional(param) {
                return Some(BlockMisfit { own: given.peek().copied(), wanted: Some((param, ty)) });
            }
        }
        given.next().map(|extra| BlockMisfit { own: Some(extra), wanted: None })
    }

    /// Returns true for structs with the same fields. The blocks of a pipe may have structs of different names, such as two that
    /// are empty.
    fn same_fields(&mut self, left: Ty, right: Ty) -> bool {
        let (left, right) = (self.shallow(left), self.shallow(right));
        let is_struct = |ty: Ty| matches!(self.out.types.kind(ty), TyKind::Struct(..));
        if !is_struct(left) || !is_struct(right) {
            return false;
        }
        let (first, second) = (self.field_types(left), self.field_types(right));
        first.len() == second.len()
            && first
                .iter()
                .zip(&second)
                .all(|(&(a, x), &(b, y))| self.name(a) == self.name(b) && self.unify(x, y))
    }

    /// Returns true for the declaration of a type of parsers or controls, which has no body.
    fn is_block_type(&self, block: DeclId) -> bool {
        match &self.ast.decls[block].kind {
            DeclKind::Parser(parser) => !parser.has_body,
            DeclKind::Control(control) => control.apply.is_none(),
            _ => false,
        }
    }

    /// Returns direction and type of a parameter, with the type arguments of the block in place.
    fn param(&mut self, param: DeclId, block: DeclId, args: &[Ty]) -> (Direction, Ty) {
        let direction = self.ast.direction(param);
        let ty = self.out.decl_types[param];
        let ty = self.out.types.substitute(ty, type_params(self.ast, block), args);
        (direction, ty)
    }

    /// Returns true if an argument for the parameter may be absent.
    pub(super) fn is_optional(&self, param: DeclId) -> bool {
        self.annotation(param, "optional").is_some()
            || matches!(&self.ast.decls[param].kind, DeclKind::Param(param) if param.default.is_some())
    }
}

/// Replaces the inferred parts of a type by what they stand for.
fn resolve(types: &mut super::ty::Types, variables: &[Option<Ty>], ty: Ty) -> Ty {
    types.rebuild(ty, &mut |types, mut leaf| {
        while let TyKind::Infer(number) = types.kind(leaf) {
            match variables[*number as usize] {
                Some(next) => leaf = next,
                None => return Ty::ANY,
            }
        }
        if matches!(types.kind(leaf), TyKind::Param(_)) { leaf } else { resolve(types, variables, leaf) }
    })
}
