//! The flow hash as an extern: RTAG7's functions and the extern's own. What may not live here: which setting.

use super::headers::Headers;
use crate::planning::scheme::{FlowFunction, Setting};
use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_asic::hash::{CrcParams, HashAlgorithm, XorWidth};
use sluice_pipeline::build::{GressBuilder, HashRef};
use sluice_pipeline::ir;

/// Declares the 16-bit flow hash of a setting.
///
/// RTAG7 feeds a CRC with every word's lowest bit first and reverses the result: that is the plain CRC, not
/// reflected, of the fields with their bits reversed. Zero bins in front change nothing, as the register starts
/// at 0. The seed is the constant that it XORs onto every hash.
pub(super) fn flow_hash(ig: &GressBuilder<'_>, name: &str, setting: Setting, h: Headers) -> HashRef<16> {
    let (algorithm, inputs) = match setting.function {
        FlowFunction::Extern(algorithm) => (algorithm, five_tuple(h, setting.ttl)),
        FlowFunction::Rtag7(function) => rtag7(function, h),
    };
    let hash = ig.named(name, "Hash of the flow: seeded, rotated").hash::<16>(algorithm);
    let hash = inputs.into_iter().fold(hash, |hash, input| hash.inputs([input]));
    let seed = setting.function.seed_constant(setting.seed);
    hash.seed(seed.into()).rotate(setting.offset.into()).build()
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

fn rtag7(function: Rtag7Function, h: Headers) -> (HashAlgorithm, Vec<ir::Expr>) {
    let plain = |width, poly| {
        CrcParams::new(width, poly, false, 0, 0).map_or(HashAlgorithm::Identity, HashAlgorithm::Crc)
    };
    match function {
        Rtag7Function::Xor16 => {
            let mut inputs = five_tuple(h, false);
            inputs.insert(2, ir::Expr::Const(0, 8));
            (HashAlgorithm::Xor(XorWidth::W16), inputs)
        }
        Rtag7Function::Ccitt => (plain(16, 0x1021), message_bits(h)),
        Rtag7Function::Crc32Lo | Rtag7Function::Crc32Hi => (plain(32, 0x1edc_6f41), message_bits(h)),
        _ => (plain(16, 0x8005), message_bits(h)),
    }
}

/// The message's words 2 to 6, bit by bit from the lowest: protocol, destination port, source port, VLAN (0),
/// destination, source, seed (0).
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
