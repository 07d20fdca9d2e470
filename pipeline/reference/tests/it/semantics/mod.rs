//! The meaning of constructs, with results computed by hand.
//!
//! Each program gets packets with the header `in_h`, and writes results to the header `out_h`, which its ingress deparser emits
//! in front of the bytes that the parser did not take.

mod control;
mod externs;
mod parser;
mod tables;
mod values;

use crate::tree::Tree;
use sluice_asic::intrinsic::Architecture;
use sluice_reference::{Gress, Nothing, Outside, PassIn, PassOut, Verdict};

const PROGRAM: &str = "
#include <core.p4>
#include <tna.p4>
header in_h { bit<8> a; bit<8> b; bit<16> c; bit<32> d; }
header out_h { bit<32> x; bit<32> y; }
header byte_h { bit<8> v; }
struct headers_t { out_h o; in_h i; byte_h[3] s; byte_h t; }
struct meta_t { bit<8> m; bit<16> n; bit<1> flag; }
TOP
parser IP(packet_in pkt, out headers_t hdr, out meta_t md, out ingress_intrinsic_metadata_t ig) {
    PARSERLOCALS
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); pkt.extract(hdr.i); transition PARSE }
    STATES
}
control Ingress(inout headers_t hdr, inout meta_t md, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
        inout ingress_intrinsic_metadata_for_tm_t tm) {
    LOCALS
    apply {
        hdr.o.setValid();
        tm.ucast_egress_port = 2;
        APPLY
    }
}
control ID(packet_out pkt, inout headers_t hdr, in meta_t md, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    DEPARSERLOCALS
    apply { DEPARSE pkt.emit(hdr.o); pkt.emit(hdr.s); pkt.emit(hdr.t); }
}
parser EP(packet_in pkt, out headers_t hdr, out meta_t md, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control Egress(inout headers_t hdr, inout meta_t md, in egress_intrinsic_metadata_t eg,
        in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
        inout egress_intrinsic_metadata_for_output_port_t port) {
    apply {}
}
control ED(packet_out pkt, inout headers_t hdr, in meta_t md, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
Pipeline(IP(), Ingress(), ID(), EP(), Egress(), ED()) pipe;
Switch(pipe) main;
";

/// Parts of a program.
#[derive(Clone, Copy, Default)]
struct Parts<'t> {
    top: &'t str,
    parser_locals: &'t str,
    parse: &'t str,
    states: &'t str,
    locals: &'t str,
    apply: &'t str,
    deparser_locals: &'t str,
    deparse: &'t str,
}

impl Parts<'_> {
    fn tree(self) -> Tree {
        let parse = if self.parse.is_empty() { "accept;" } else { self.parse };
        let text = PROGRAM
            .replace("DEPARSERLOCALS", self.deparser_locals)
            .replace("PARSERLOCALS", self.parser_locals)
            .replace("TOP", self.top)
            .replace("DEPARSE", self.deparse)
            .replace("PARSE", parse)
            .replace("STATES", self.states)
            .replace("LOCALS", self.locals)
            .replace("APPLY", self.apply);
        Tree::of(&text, Architecture::Tna).unwrap_or_else(|messages| panic!("{messages}"))
    }

    /// Returns the results of packets that come one after the other.
    fn passes(self, packets: &[&[u8]], outside: &mut dyn Outside) -> Vec<PassOut> {
        let tree = self.tree();
        let mut reference = tree.reference();
        let mut run = |bytes: &&[u8]| {
            let input = PassIn::new(Gress::Ingress, 5, bytes.to_vec());
            reference.pass(&input, outside).unwrap_or_else(|missing| panic!("{}", tree.show(&missing)))
        };
        packets.iter().map(&mut run).collect()
    }

    /// Returns the bytes that a packet becomes.
    fn bytes(self, packet: &[u8]) -> Vec<u8> {
        let out = self.passes(&[packet], &mut Nothing).remove(0);
        assert_eq!(out.verdict, Verdict::Forward);
        out.bytes
    }

    /// Returns the two results for a packet.
    fn words(self, packet: &[u8]) -> [u32; 2] {
        let bytes = self.bytes(packet);
        [0, 4].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()))
    }
}

/// a = 0x12, b = 0xf0, c = 0x8001, d = 0x01020304.
const PACKET: [u8; 8] = [0x12, 0xf0, 0x80, 0x01, 1, 2, 3, 4];

/// Returns the two results of statements for [`PACKET`].
fn apply(apply: &str) -> [u32; 2] {
    Parts { apply, ..Parts::default() }.words(&PACKET)
}

/// Returns the two results of statements with declarations.
fn apply_with(locals: &str, apply: &str) -> [u32; 2] {
    Parts { locals, apply, ..Parts::default() }.words(&PACKET)
}
