//! Parser of hash declarations.

use super::code::Code;
use super::cursor::{Cursor, Parsed};
use super::decls::{gress, required, settings};
use super::scan::Item;
use crate::HashData;
use sluice_asic::hash::{CrcParams, HashAlgorithm};

pub(super) fn hash(code: &mut Code<'_>, item: &Item) -> Parsed<HashData> {
    let (mut algorithm, mut inputs, mut width, mut seed, mut rotate) = (None, None, None, 0, 0);
    let mut symmetric = Vec::new();
    settings(code, &["algorithm", "inputs", "symmetric", "width", "seed", "rotate"], |code, word| {
        match word {
            "algorithm" => algorithm = Some(hash_algorithm(&mut code.c)?),
            "inputs" => {
                code.c.expect("{")?;
                inputs = Some(code.list("}", Code::expr)?);
            }
            "symmetric" => {
                code.c.expect("{")?;
                symmetric = code.list("}", positions)?;
            }
            "width" => width = Some(code.c.number("a width in bits")?),
            "seed" => seed = code.c.number("a seed")?,
            _ => rotate = code.c.number("a rotation in bits")?,
        }
        Ok(())
    })?;
    Ok(HashData {
        name: item.name.clone(),
        gress: gress(item),
        algorithm: required(code, algorithm, "algorithm")?,
        inputs: required(code, inputs, "inputs")?,
        symmetric,
        width: required(code, width, "width")?,
        seed,
        rotate,
        doc: item.doc.clone(),
        loc: item.loc,
    })
}

/// Parses two inputs of a hash, `(0, 1)`.
fn positions(code: &mut Code<'_>) -> Parsed<[u16; 2]> {
    code.c.expect("(")?;
    let first = code.c.number("the position of an input, from 0")?;
    code.c.expect(",")?;
    let second = code.c.number("the position of an input, from 0")?;
    code.c.expect(")")?;
    Ok([first, second])
}

fn hash_algorithm(c: &mut Cursor<'_>) -> Parsed<HashAlgorithm> {
    let before = c.clone();
    let name = c.name()?;
    if !c.eat("(") {
        let unknown =
            |e: sluice_asic::hash::UnknownHashName| before.error_with("a hash algorithm", e.to_string());
        return HashAlgorithm::from_name(&name).map_err(unknown);
    }
    let values: Vec<u64> = c.list(")", |c| c.number("a number"))?;
    match (name.as_str(), values.as_slice()) {
        ("random", [seed]) => Ok(HashAlgorithm::Random { seed: *seed }),
        ("crc", [width, poly, reflect, init, xor_out]) => {
            let width = u32::try_from(*width).unwrap_or(u32::MAX);
            let crc = CrcParams::new(width, *poly, *reflect != 0, *init, *xor_out);
            crc.map(HashAlgorithm::Crc).map_err(|e| before.error_with("a possible CRC", e.to_string()))
        }
        _ => Err(before.error("`random(seed)` or `crc(width, polynomial, reflect, init, xor_out)`")),
    }
}
