//! Hashes.

use super::super::frame::Frame;
use super::super::name::Space;
use super::super::{Lower, Res};
use crate::check::{Call, Callee, Value};
use crate::elaborate::{Binding, ObjectId};
use crate::source::Span;
use crate::syntax::ast::{ExprId, ExprKind};
use sluice_asic::hash::{CrcParams, HashAlgorithm};
use sluice_ir::{self as ir, HashData};

/// The widest hash of the program in bits.
const MOST: u32 = 64;

impl Lower<'_> {
    /// Returns the hash that an expression computes, if it is a call of `get` or the low bits of one.
    pub(in crate::lower) fn hash_value(&mut self, frame: &Frame, id: ExprId) -> Res<Option<ir::Hash>> {
        let mut width = self.scalar_of(frame, id).map_or(0, |scalar| scalar.width);
        let mut id = id;
        loop {
            let inner = match &self.ast.exprs[id].kind {
                ExprKind::Cast { operand, .. } => *operand,
                ExprKind::Slice { base, lo, .. } if self.number(frame, *lo) == Some(0) => *base,
                ExprKind::Call { callee, .. } => {
                    let Some(call) = self.checked.calls.get(&id).cloned() else { return Ok(None) };
                    let (Callee::Method(_), ExprKind::Member { base, .. }) =
                        (call.callee, &self.ast.exprs[*callee].kind)
                    else {
                        return Ok(None);
                    };
                    let Some(Binding::Object(object)) = self.pipe.instance(self.checked, frame.block, *base)
                    else {
                        return Ok(None);
                    };
                    let object = *object;
                    if self.object_kind(object) != "Hash" {
                        return Ok(None);
                    }
                    let at = self.ast.exprs[id].span;
                    return self.hash(frame, object, &call, width, at).map(Some);
                }
                _ => return Ok(None),
            };
            if let Some(scalar) = self.scalar_of(frame, inner) {
                width = width.min(scalar.width);
            }
            id = inner;
        }
    }

    /// Declares a hash over the arguments of a call of `get`.
    fn hash(&mut self, frame: &Frame, object: ObjectId, call: &Call, width: u32, at: Span) -> Res<ir::Hash> {
        let [Some(data)] = call.args.as_slice() else {
            return Err(self.refuse(
                at,
                "`get` with a base and a range",
                "take low bits of the hash, and add the base in a later action",
            ));
        };
        let mut inputs = self.leaves(frame, *data)?;
        inputs.retain(|input| input.width(&self.program) > 0);
        let inputs: Res<Vec<ir::Expr>> = inputs.into_iter().map(|input| self.plain(input, at)).collect();
        let inputs = inputs?;
        self.new_hash(object, inputs, width, at)
    }

    /// Declares a hash whose result is a concatenation of at most 64 bits, the most significant piece first.
    pub(in crate::lower) fn identity(&mut self, inputs: Vec<ir::Expr>, at: Span) -> ir::Hash {
        let width = super::super::simplify::width(&self.program, &inputs) as u16;
        let loc = self.loc(at);
        let name = self.names.take(Space::Hash, &format!("joined_l{}", loc.line));
        self.program.hashes.push(HashData {
            name,
            gress: self.gress,
            algorithm: HashAlgorithm::Identity,
            inputs,
            symmetric: Vec::new(),
            width,
            seed: 0,
            rotate: 0,
            doc: String::new(),
            loc,
        })
    }

    /// Declares a hash of an object's algorithm.
    pub(in crate::lower) fn new_hash(
        &mut self,
        object: ObjectId,
        inputs: Vec<ir::Expr>,
        width: u32,
        at: Span,
    ) -> Res<ir::Hash> {
        if width > MOST {
            let text = format!("a hash of {width} bits");
            return Err(self.refuse(at, text, "a hash has at most 64 bits: compute two"));
        }
        let width = width as u16;
        // The same hash of the same fields is one.
        for &known in self.hashes.get(&object).into_iter().flatten() {
            let data = &self.program.hashes[known];
            if data.width == width && data.inputs == inputs {
                return Ok(known);
            }
        }
        let algorithm = self.algorithm(object)?;
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let name = self.names.take(Space::Hash, &name);
        let mut data = HashData {
            name,
            gress: self.gress,
            algorithm,
            inputs,
            symmetric: Vec::new(),
            width,
            seed: 0,
            rotate: 0,
            doc: String::new(),
            loc: self.loc(at),
        };
        self.annotate_hash(object, &mut data);
        let hash = self.program.hashes.push(data);
        self.hashes.entry(object).or_default().push(hash);
        Ok(hash)
    }

    fn algorithm(&mut self, object: ObjectId) -> Res<HashAlgorithm> {
        let at = self.object_at(object);
        let name = self.made_with_member(object, "algo").unwrap_or("RANDOM");
        if let Some(polynomial) = self.made_with_object(object, "poly") {
            return self.polynomial(polynomial);
        }
        HashAlgorithm::from_name(name).map_err(|_| {
            let text = format!("the hash algorithm `{name}`");
            self.refuse(at, text, "use `IDENTITY`, `RANDOM`, `CRC16` or `CRC32`, or give a polynomial")
        })
    }

    fn polynomial(&mut self, object: ObjectId) -> Res<HashAlgorithm> {
        let at = self.object_at(object);
        let width = self.type_args(object).first().and_then(|&ty| self.scalar(ty)).map_or(0, |s| s.width);
        let flag =
            |name: &str| matches!(self.made_with(object, name), Some(Binding::Value(Value::Bool(true))));
        let number = |name: &str| self.made_with_number(object, name).unwrap_or(0);
        let (reversed, coefficients) = (flag("reversed"), number("coeff"));
        // The chip's compiler keeps a polynomial without its lowest bit, and computes with that bit set.
        let odd = coefficients | 1;
        let (init, xor) = (number("init"), number("xor"));
        if odd != coefficients {
            let text = format!("CRC polynomial {coefficients:#x} is even");
            self.note(at, text, format!("{odd:#x} is computed: the constant term of a polynomial is 1"));
        }
        match CrcParams::new(width, odd, reversed, init, xor) {
            Ok(crc) => Ok(HashAlgorithm::Crc(crc)),
            Err(error) => Err(self.refuse(
                at,
                error.to_string(),
                "use a polynomial of 8 to 64 bits with its lowest bit set",
            )),
        }
    }
}
