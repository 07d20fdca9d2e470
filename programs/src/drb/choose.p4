
// drb: the next turn of the group (or, with BY_FLOW, of the flow) picks the candidate.
#define LAST_TURN 15119
#define START 0
#ifndef BY_FLOW
#define NO_FLOW
#endif
control Draw(inout headers_t hdr, inout meta_t m) {
    Register<bit<16>, bit<32>>(32768, START) turn;
    RegisterAction<bit<16>, bit<32>, bit<16>>(turn) take_turn = {
        void apply(inout bit<16> value, out bit<16> out_) {
            out_ = value;
            if (value >= LAST_TURN) { value = 0; } else { value = value + 1; }
        }
    };
    apply {
        if (m.group != 0) {
#ifdef BY_FLOW
            m.draw = take_turn.execute((bit<32>) m.flow[14:0]);
#else
            m.draw = take_turn.execute((bit<32>) m.group);
#endif
        }
    }
}

// No member is remembered.
control Keep(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
