//! The flow hash as a hash extern: RTAG7's functions, and the algorithms of the extern.

use super::headers::Headers;
use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_asic::hash::{CrcParams, HashAlgorithm, XorWidth};
use sluice_build::{ActionRef, GressBuilder, HashRef};
use sluice_hashing::scheme::{FlowFunction, Setting};
use sluice_ir as ir;

/// Returns true if a setting's hash is composed of two halves, each of which is written to a field of eight bits: an
/// extern keeps the low bits of one algorithm's result, and an action writes whole fields.
pub(super) const fn in_halves(setting: &Setting) -> bool {
    use Rtag7Function::{Crc32Hi, Xor1, Xor2, Xor4, Xor8};
    match setting.function {
        FlowFunction::Rtag7(Xor1 | Xor2 | Xor4 | Xor8) => true,
        FlowFunction::Rtag7(Crc32Hi) => setting.offset != 0,
        _ => false,
    }
}

/// Declares the 16-bit flow hash of a setting and the action of this name that computes it, whole or in `halves`.
/// Halves are rotated by swapping them, because planners rotate by eight bits only (`Setting::offset`).
///
/// RTAG7 feeds a CRC with every word's lowest bit first and reverses the result: that is the plain CRC, not
/// reflected, of the fields with their bits reversed. Zero bits in front change nothing, as the CRC register starts
/// at 0. The seed is the constant that RTAG7 XORs onto every hash.
pub(super) fn flow_hash(
    ig: &GressBuilder<'_>,
    name: &str,
    setting: Setting,
    h: Headers,
    halves: bool,
) -> ActionRef {
    use Rtag7Function::{Crc32Hi, Xor1, Xor2, Xor4, Xor8};
    let m = h.m;
    let seed: u64 = setting.function.seed_constant(setting.seed).into();
    let (low, high) = if setting.offset == 8 { (m.hash_high, m.hash_low) } else { (m.hash_low, m.hash_high) };
    match setting.function {
        FlowFunction::Rtag7(f @ (Xor1 | Xor2 | Xor4 | Xor8)) => {
            let crc =
                declare::<16>(ig, &format!("flow_crc_{name}"), bisync(), message_bits(h), seed & 0xff00, 0);
            let width = match f {
                Xor1 => 1,
                Xor2 => 2,
                Xor4 => 4,
                _ => 8,
            };
            let fold = HashAlgorithm::Xor(XorWidth::W8);
            let fold = declare::<8>(ig, &format!("flow_fold_{name}"), fold, folded(h, width), seed & 0xff, 0);
            ig.named(name, "").action(|a| {
                a.set(high, crc.get().slice::<15, 8, 8>());
                a.set(low, fold.get());
            })
        }
        FlowFunction::Rtag7(Crc32Hi) => {
            let name_of_hash = format!("flow_hash_{name}");
            let hash = declare::<32>(ig, &name_of_hash, castagnoli(), message_bits(h), seed << 16, 0);
            ig.named(name, "").action(|a| {
                if halves {
                    a.set(high, hash.get().slice::<31, 24, 8>());
                    a.set(low, hash.get().slice::<23, 16, 8>());
                } else {
                    a.set(m.flow_hash, hash.get().slice::<31, 16, 16>());
                }
            })
        }
        function => {
            let (algorithm, inputs) = whole(function, setting.ttl, h);
            let name_of_hash = format!("flow_hash_{name}");
            let hash = declare::<16>(ig, &name_of_hash, algorithm, inputs, seed, setting.offset.into());
            ig.named(name, "").action(|a| {
                if halves {
                    a.set(m.hash_high, hash.get().slice::<15, 8, 8>());
                    a.set(m.hash_low, hash.get().slice::<7, 0, 8>());
                } else {
                    a.set(m.flow_hash, hash.get());
                }
            })
        }
    }
}

fn declare<const W: u16>(
    ig: &GressBuilder<'_>,
    name: &str,
    algorithm: HashAlgorithm,
    inputs: Vec<ir::Expr>,
    seed: u64,
    rotate: u16,
) -> HashRef<W> {
    let hash = ig.named(name, "Flow hash, or part of it, after seed and rotation").hash::<W>(algorithm);
    let hash = inputs.into_iter().fold(hash, |hash, input| hash.inputs([input]));
    hash.seed(seed).rotate(rotate).build()
}

/// Returns algorithm and inputs of a function that is the low 16 bits of one algorithm's result.
fn whole(function: FlowFunction, ttl: bool, h: Headers) -> (HashAlgorithm, Vec<ir::Expr>) {
    match function {
        FlowFunction::Extern(algorithm) => (algorithm, five_tuple(h, ttl)),
        FlowFunction::Rtag7(Rtag7Function::Xor16) => {
            let mut inputs = five_tuple(h, false);
            inputs.insert(2, ir::Expr::Const(0, 8));
            (HashAlgorithm::Xor(XorWidth::W16), inputs)
        }
        FlowFunction::Rtag7(Rtag7Function::Ccitt) => (plain_crc(16, 0x1021), message_bits(h)),
        FlowFunction::Rtag7(Rtag7Function::Crc32Lo) => (castagnoli(), message_bits(h)),
        FlowFunction::Rtag7(_) => (bisync(), message_bits(h)),
    }
}

fn plain_crc(width: u32, poly: u64) -> HashAlgorithm {
    CrcParams::new(width, poly, false, 0, 0).map_or(HashAlgorithm::Identity, HashAlgorithm::Crc)
}

fn bisync() -> HashAlgorithm {
    plain_crc(16, 0x8005)
}

fn castagnoli() -> HashAlgorithm {
    plain_crc(32, 0x1edc_6f41)
}

fn five_tuple(h: Headers, ttl: bool) -> Vec<ir::Expr> {
    let mut inputs: Vec<ir::Expr> = vec![
        h.ipv4.src.into(),
        h.ipv4.dst.into(),
        h.ipv4.protocol.into(),
        h.m.src_port.into(),
        h.m.dst_port.into(),
    ];
    if ttl {
        inputs.push(h.ipv4.ttl.into());
    }
    inputs
}

/// Returns words 2 to 6 of RTAG7's message, bit by bit from the lowest: protocol, destination port, source port, VLAN
/// (0), destination, source, seed (0).
fn message_bits(h: Headers) -> Vec<ir::Expr> {
    let reversed = |field: ir::Expr, width: u16| {
        (0..width).map(move |bit| ir::Expr::Slice(Box::new(field.clone()), bit, bit))
    };
    let mut bits: Vec<ir::Expr> = reversed(h.ipv4.protocol.into(), 8).collect();
    bits.push(ir::Expr::Const(0, 8));
    bits.extend(reversed(h.m.dst_port.into(), 16));
    bits.extend(reversed(h.m.src_port.into(), 16));
    bits.push(ir::Expr::Const(0, 16));
    bits.extend(reversed(h.ipv4.dst.into(), 32));
    bits.extend(reversed(h.ipv4.src.into(), 32));
    bits.push(ir::Expr::Const(0, 32));
    bits
}

/// Returns the fields in pieces of `width` bits (1, 2, 4 or 8), each padded in front to a byte: their XOR
/// by bytes is the message folded to that width, because every field begins at a multiple of eight bits.
fn folded(h: Headers, width: u16) -> Vec<ir::Expr> {
    let mut pieces = Vec::new();
    for (field, bits) in five_tuple(h, false).into_iter().zip([32, 32, 8, 16, 16]) {
        for low in (0..bits).step_by(width.into()).rev() {
            if width < 8 {
                pieces.push(ir::Expr::Const(0, 8 - width));
            }
            pieces.push(ir::Expr::Slice(Box::new(field.clone()), low + width - 1, low));
        }
    }
    pieces
}
