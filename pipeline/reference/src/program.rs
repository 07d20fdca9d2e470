//! The program: the tree with its side tables, and the shapes of its types.

use crate::bits::{Bits, Reader};
use crate::number::Range;
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use sluice_p4::check::{self, Checked, Ty, TyKind, type_params};
use sluice_p4::elaborate::{Binding, BlockId, ObjectId, Pipe};
use sluice_p4::names::Symbol;
use sluice_p4::source::Span;
use sluice_p4::syntax::ast::{
    Annotation, AnnotationBody, AnnotationTokenKind, Ast, DeclId, DeclKind, ExprId,
};
use std::rc::Rc;

/// The structure of the values of a type.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// `bool`
    Bool,
    /// Numbers.
    Number(Range),
    /// An enumeration without values, or `error`.
    Member,
    /// A header.
    Header(Rc<Fields>),
    /// A struct or list.
    Struct(Rc<Fields>),
    /// A header stack: the type of an element, and the number of elements.
    Stack(Ty, u32),
    /// A type without values: the packet, an extern object, `varbit`.
    Opaque,
}

/// The fields of a header, struct or list.
#[derive(Debug)]
pub(crate) struct Fields {
    /// Names, which elements of lists do not have, and types.
    pub(crate) list: Vec<(Option<Symbol>, Ty)>,
    /// True if the author leaves the place of bits to the compiler.
    pub(crate) is_flexible: bool,
}

/// A program with what is known of its types.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) ast: &'a Ast,
    pub(crate) checked: Checked,
    pub(crate) pipe: &'a Pipe,
    shapes: FxHashMap<Ty, Shape>,
}

impl<'a> Program<'a> {
    pub(crate) fn new(ast: &'a Ast, checked: Checked, pipe: &'a Pipe) -> Self {
        Program { ast, checked, pipe, shapes: FxHashMap::default() }
    }

    /// Returns the name of a declaration.
    pub(crate) fn name(&self, decl: DeclId) -> &'a str {
        self.ast.text(self.ast.decls[decl].name)
    }

    /// Returns the place of an expression.
    pub(crate) fn span(&self, expr: ExprId) -> Span {
        self.ast.exprs[expr].span
    }

    /// Returns the type of an expression in a block.
    pub(crate) fn expr_ty(&mut self, block: BlockId, expr: ExprId) -> Ty {
        self.pipe.ty(self.ast, &mut self.checked, block, expr)
    }

    /// Returns the type of a variable, parameter or result in a block.
    pub(crate) fn decl_ty(&mut self, block: BlockId, decl: DeclId) -> Ty {
        let ty = self.checked.decl_types[decl];
        self.pipe.concrete(self.ast, &mut self.checked, block, ty)
    }

    /// Returns the structure of a type's values.
    pub(crate) fn shape(&mut self, ty: Ty) -> Shape {
        if let Some(shape) = self.shapes.get(&ty) {
            return shape.clone();
        }
        let base = self.checked.base(self.ast, ty);
        let shape = match self.checked.types.kind(base).clone() {
            TyKind::Bool => Shape::Bool,
            TyKind::Bits(width) => Shape::Number(Range::Unsigned(width)),
            TyKind::Signed(width) => Shape::Number(Range::Signed(width)),
            TyKind::Integer => Shape::Number(Range::Any),
            TyKind::Enum(_) | TyKind::Error => Shape::Member,
            TyKind::Header(decl, args) => Shape::Header(self.fields(decl, &args)),
            TyKind::Struct(decl, args) => Shape::Struct(self.fields(decl, &args)),
            TyKind::Stack(element, size) => Shape::Stack(element, size),
            TyKind::Tuple(parts) => {
                let list = parts.iter().map(|&ty| (None, ty)).collect();
                Shape::Struct(Rc::new(Fields { list, is_flexible: false }))
            }
            TyKind::Record(parts) => {
                let list = parts.iter().map(|&(name, ty)| (Some(name), ty)).collect();
                Shape::Struct(Rc::new(Fields { list, is_flexible: false }))
            }
            _ => Shape::Opaque,
        };
        self.shapes.insert(ty, shape.clone());
        shape
    }

    fn fields(&mut self, decl: DeclId, args: &[Ty]) -> Rc<Fields> {
        let ast = self.ast;
        let fields = match &ast.decls[decl].kind {
            DeclKind::Header(fields) | DeclKind::Struct(fields) => fields.fields.as_slice(),
            _ => &[],
        };
        let params = type_params(ast, decl);
        let list = fields.iter().map(|&field| {
            let ty = self.checked.decl_types[field];
            (Some(ast.decls[field].name.symbol), self.checked.types.substitute(ty, params, args))
        });
        let list = list.collect();
        let is_flexible =
            fields.iter().chain([&decl]).any(|&decl| self.annotation(decl, "flexible").is_some());
        Rc::new(Fields { list, is_flexible })
    }

    /// Returns the value of a variable before its first assignment: zeros, and invalid headers.
    pub(crate) fn zero(&mut self, ty: Ty) -> Value {
        match self.shape(ty) {
            Shape::Bool => Value::Bool(false),
            Shape::Number(_) => Value::number(0),
            Shape::Member | Shape::Opaque => self.first_member(ty),
            Shape::Header(fields) => Value::Header { valid: false, fields: self.zeros(&fields) },
            Shape::Struct(fields) => Value::Struct(self.zeros(&fields)),
            Shape::Stack(element, size) => {
                Value::Stack { next: 0, elements: (0..size).map(|_| self.zero(element)).collect() }
            }
        }
    }

    fn zeros(&mut self, fields: &Fields) -> Vec<Value> {
        fields.list.iter().map(|&(_, ty)| self.zero(ty)).collect()
    }

    /// Returns the first member of an enumeration, which is the value of a variable that has none.
    fn first_member(&self, ty: Ty) -> Value {
        match *self.checked.types.kind(ty) {
            TyKind::Enum(decl) => match &self.ast.decls[decl].kind {
                DeclKind::Enum(of) => {
                    of.members.first().map_or(Value::Nothing, |&first| Value::Member(first))
                }
                _ => Value::Nothing,
            },
            _ => Value::Nothing,
        }
    }

    /// Returns the range of a type of numbers; a truth value is a number of one bit.
    pub(crate) fn range(&mut self, ty: Ty) -> Option<Range> {
        match self.shape(ty) {
            Shape::Bool => Some(Range::Unsigned(1)),
            Shape::Number(range) => Some(range),
            _ => None,
        }
    }

    /// Returns the number of bits of a type.
    pub(crate) fn width(&mut self, ty: Ty, at: Span) -> Res<u32> {
        match self.shape(ty) {
            Shape::Bool => Ok(1),
            Shape::Number(Range::Any) => Err(unsupported(at, "the bits of a number without a width")),
            Shape::Number(range) => Ok(range.width()),
            Shape::Header(fields) | Shape::Struct(fields) => {
                placed(&fields, at)?;
                fields.list.iter().try_fold(0, |sum, &(_, ty)| Ok(sum + self.width(ty, at)?))
            }
            Shape::Stack(element, size) => Ok(self.width(element, at)? * size),
            Shape::Member | Shape::Opaque => {
                Err(unsupported(at, "the bits of a value without a representation"))
            }
        }
    }

    /// Adds the bits of a value of a type. If `zeros` is true, the fields of invalid headers are zeros.
    pub(crate) fn flatten(
        &mut self,
        ty: Ty,
        value: &Value,
        zeros: bool,
        bits: &mut Bits,
        at: Span,
    ) -> Res<()> {
        match (self.shape(ty), value) {
            (Shape::Bool | Shape::Number(_), value) => {
                let width = self.width(ty, at)?;
                let number = value.as_number().ok_or_else(|| unsupported(at, "this value"))?;
                bits.push(&number, width);
                Ok(())
            }
            (Shape::Header(fields), Value::Header { valid, .. }) if zeros && !valid => {
                placed(&fields, at)?;
                bits.push(&BigInt::from(0), self.width(ty, at)?);
                Ok(())
            }
            (Shape::Header(fields) | Shape::Struct(fields), value) => {
                placed(&fields, at)?;
                for (&(_, ty), part) in fields.list.iter().zip(value.parts()) {
                    self.flatten(ty, part, zeros, bits, at)?;
                }
                Ok(())
            }
            (Shape::Stack(element, _), value) => {
                value.parts().iter().try_for_each(|part| self.flatten(element, part, zeros, bits, at))
            }
            _ => Err(unsupported(at, "the bits of a value without a representation")),
        }
    }

    /// Reads a value of a type from a packet; headers in it are valid.
    pub(crate) fn unflatten(&mut self, ty: Ty, reader: &mut Reader, at: Span) -> Res<Value> {
        match self.shape(ty) {
            Shape::Bool => Ok(Value::Bool(reader.take(1) == 1.into())),
            Shape::Number(range) => Ok(Value::Number(range.wrap(&reader.take(range.width())))),
            Shape::Header(fields) => {
                let fields = self.read_fields(&fields, reader, at)?;
                Ok(Value::Header { valid: true, fields })
            }
            Shape::Struct(fields) => Ok(Value::Struct(self.read_fields(&fields, reader, at)?)),
            _ => Err(unsupported(at, "a value of this type in a packet")),
        }
    }

    fn read_fields(&mut self, fields: &Fields, reader: &mut Reader, at: Span) -> Res<Vec<Value>> {
        placed(fields, at)?;
        fields.list.iter().map(|&(_, ty)| self.unflatten(ty, reader, at)).collect()
    }

    /// Returns a value that the elaboration found, such as that of a constructor's parameter.
    pub(crate) fn constant(&self, value: &check::Value) -> Value {
        match value {
            check::Value::Bool(value) => Value::Bool(*value),
            check::Value::Int(value) => Value::Number(value.clone()),
            check::Value::Text(_) => Value::Nothing,
            check::Value::Member(decl) => Value::Member(*decl),
            check::Value::List(values) => {
                Value::Struct(values.iter().map(|value| self.constant(value)).collect())
            }
        }
    }

    /// Returns the name of the extern of an object.
    pub(crate) fn unit(&self, object: ObjectId) -> &'a str {
        self.name(self.pipe.objects[object].decl)
    }

    /// Returns the argument of an object's constructor for a parameter.
    pub(crate) fn made_with(&self, object: ObjectId, param: &str) -> Option<&'a Binding> {
        let object = &self.pipe.objects[object];
        let at = self.ast.params(object.constructor?).iter().position(|&decl| self.name(decl) == param)?;
        object.args.get(at)?.as_ref()
    }

    /// Returns the number that an object's constructor got for a parameter.
    pub(crate) fn made_with_number(&self, object: ObjectId, param: &str) -> Option<u64> {
        match self.made_with(object, param)? {
            Binding::Value(value) => self.constant(value).as_u64(),
            _ => None,
        }
    }

    /// Returns the object that another object's constructor got for a parameter.
    pub(crate) fn made_with_object(&self, object: ObjectId, param: &str) -> Option<ObjectId> {
        match self.made_with(object, param)? {
            Binding::Object(object) => Some(*object),
            _ => None,
        }
    }

    /// Returns the type arguments of an object.
    pub(crate) fn type_args(&self, object: ObjectId) -> Vec<Ty> {
        match self.checked.types.kind(self.pipe.objects[object].ty) {
            TyKind::Extern(_, args) => args.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns the place of an object's declaration.
    pub(crate) fn object_span(&self, object: ObjectId) -> Span {
        self.pipe.objects[object].instance.map_or(Span::NONE, |decl| self.ast.decls[decl].span)
    }

    /// Returns the annotation of this name of a declaration.
    pub(crate) fn annotation(&self, decl: DeclId, name: &str) -> Option<&'a Annotation> {
        let ast = self.ast;
        ast.decls[decl].annotations.iter().find(|annotation| ast.text(annotation.name) == name)
    }

    /// Returns the words and numbers of an annotation.
    pub(crate) fn annotation_args(&self, annotation: &'a Annotation) -> Vec<AnnotationArg<'a>> {
        let AnnotationBody::Args(args) = &annotation.body else { return Vec::new() };
        let tokens = args.iter().flat_map(|arg| &arg.tokens);
        let arg = |kind: &'a AnnotationTokenKind| match kind {
            AnnotationTokenKind::Word(text) | AnnotationTokenKind::Text(text) => {
                Some(AnnotationArg::Word(self.ast.names.text(*text)))
            }
            AnnotationTokenKind::Int(number) => u64::try_from(&number.value).ok().map(AnnotationArg::Number),
            AnnotationTokenKind::Punct(_) => None,
        };
        tokens.filter_map(|token| arg(&token.kind)).collect()
    }
}

/// A word or number of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnnotationArg<'a> {
    Word(&'a str),
    Number(u64),
}

/// Refuses fields whose place the author leaves to the compiler.
fn placed(fields: &Fields, at: Span) -> Res<()> {
    if fields.is_flexible { Err(unsupported(at, "the bits of `@flexible` fields")) } else { Ok(()) }
}
