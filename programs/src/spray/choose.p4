
// spray: a random number picks the candidate of every packet, whatever its flow.
#define NO_FLOW
control Draw(inout headers_t hdr, inout meta_t m) {
    Random<bit<16>>() coin;
    apply { if (m.group != 0) { m.draw = coin.get(); } }
}

// No member is remembered.
control Keep(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
