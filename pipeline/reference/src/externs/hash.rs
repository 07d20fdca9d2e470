//! Hashes. The arithmetic of the algorithms is that of the chip model; what they read is decided here.

use super::Method;
use crate::bits::Bits;
use crate::program::{AnnotationArg, Program};
use crate::run::Run;
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_asic::hash::{BitString, CrcParams, HashAlgorithm, HashFunction, Seed};
use sluice_p4::check;
use sluice_p4::elaborate::{Binding, ObjectId};

/// Settings of a hash that an annotation adds.
#[derive(Default)]
struct Extra {
    seed: u64,
    rotate: u32,
    matrix: Option<u64>,
}

impl Run<'_, '_> {
    /// Calls `get` of a hash.
    pub(crate) fn hash(&mut self, method: Method<'_>) -> Res<Value> {
        let at = self.span(method.expr);
        let [Some(data)] = method.call.args.as_slice() else {
            return Err(unsupported(at, "a hash with a base and a range"));
        };
        let (value, ty) = (self.value(*data)?, self.ty(*data));
        let mut bits = Bits::default();
        self.core.program.flatten(ty, &value, false, &mut bits, at)?;
        let hash = object_hash(&mut self.core.program, method.object, &bits)?;
        Ok(Value::Number(BigInt::from(hash)))
    }
}

/// Returns the hash of bits by an object.
pub(crate) fn object_hash(program: &mut Program<'_>, object: ObjectId, bits: &Bits) -> Res<u64> {
    let at = program.object_span(object);
    let extra = extra(program, object)?;
    let algorithm = match extra.matrix {
        Some(seed) => HashAlgorithm::Random { seed },
        None => algorithm(program, object)?,
    };
    let width = match program.type_args(object).first() {
        Some(&ty) => program.width(ty, at)?,
        None => 0,
    };
    let function = HashFunction::new(algorithm, width)
        .and_then(|function| function.extended().with_seed(Seed::Xor(extra.seed)))
        .map_err(|error| unsupported(at, error.to_string()))?;
    let input: BitString = bits.iter().collect();
    Ok(function.rotated_right(extra.rotate).hash(&input))
}

fn extra(program: &Program<'_>, object: ObjectId) -> Res<Extra> {
    let mut extra = Extra::default();
    let Some(decl) = program.pipe.objects[object].instance else { return Ok(extra) };
    let at = program.object_span(object);
    if program.annotation(decl, "symmetric").is_some() {
        return Err(unsupported(at, "a symmetric hash"));
    }
    let Some(annotation) = program.annotation(decl, "sluice_hash") else { return Ok(extra) };
    let mut args = program.annotation_args(annotation).into_iter();
    while let (Some(AnnotationArg::Word(key)), Some(AnnotationArg::Number(value))) =
        (args.next(), args.next())
    {
        match key {
            "seed" => extra.seed = value,
            "rotate" => extra.rotate = value as u32,
            "matrix" => extra.matrix = Some(value),
            _ => return Err(unsupported(at, format!("`{key}` of a hash"))),
        }
    }
    Ok(extra)
}

fn algorithm(program: &mut Program<'_>, object: ObjectId) -> Res<HashAlgorithm> {
    let at = program.object_span(object);
    if let Some(polynomial) = program.made_with_object(object, "poly") {
        return polynomial_of(program, polynomial);
    }
    let name = match program.made_with(object, "algo") {
        Some(Binding::Value(check::Value::Member(decl))) => program.name(*decl),
        _ => return Err(unsupported(at, "a hash without an algorithm")),
    };
    HashAlgorithm::from_name(name).map_err(|error| unsupported(at, error.to_string()))
}

fn polynomial_of(program: &mut Program<'_>, object: ObjectId) -> Res<HashAlgorithm> {
    let at = program.object_span(object);
    let width = match program.type_args(object).first() {
        Some(&ty) => program.width(ty, at)?,
        None => 0,
    };
    let number = |name: &str| program.made_with_number(object, name).unwrap_or(0);
    // The chip computes with the constant term set.
    let coefficients = number("coeff") | 1;
    let crc = CrcParams::new(width, coefficients, number("reversed") == 1, number("init"), number("xor"));
    crc.map(HashAlgorithm::Crc).map_err(|error| unsupported(at, error.to_string()))
}
