
// presto: the number of the flow's cell, plus the flow's offset, picks the candidate.
#define CELL 65536
#define HEADERS 40
#define LAST_TURN 15119
control Draw(inout headers_t hdr, inout meta_t m) {
    bit<32> payload = 0;
    bit<1> next = 0;
    bit<16> number = 0;
    bit<16> first = 0;
    Register<bit<32>, bit<15>>(32768) filled;
    RegisterAction<bit<32>, bit<15>, bit<1>>(filled) fill = {
        void apply(inout bit<32> value, out bit<1> out_) {
            out_ = 0;
            if (value + payload > CELL) { out_ = 1; value = payload; } else { value = value + payload; }
        }
    };
    Register<bit<16>, bit<15>>(32768) cells;
    RegisterAction<bit<16>, bit<15>, bit<16>>(cells) same_cell = {
        void apply(inout bit<16> value, out bit<16> out_) { out_ = value; }
    };
    RegisterAction<bit<16>, bit<15>, bit<16>>(cells) next_cell = {
        void apply(inout bit<16> value, out bit<16> out_) {
            if (value >= LAST_TURN) { value = 0; } else { value = value + 1; }
            out_ = value;
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) beginning;
    // Only the hash unit moves a 16-bit container into a 32-bit one.
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv4_widened;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv6_widened;
    apply {
        if (m.group != 0) {
            if (hdr.ipv4.isValid()) {
                payload = ipv4_widened.get({ 16w0, hdr.ipv4.total_len });
                payload = payload |-| HEADERS;
            } else if (hdr.ipv6.isValid()) {
                payload = ipv6_widened.get({ 16w0, hdr.ipv6.payload_len });
                payload = payload |-| (HEADERS - 20);
            }
            first = beginning.get({ 6w0, m.flow[31:22] });
            next = fill.execute(m.flow[14:0]);
            if (next == 1) { number = next_cell.execute(m.flow[14:0]); }
            else { number = same_cell.execute(m.flow[14:0]); }
            m.draw = number + first;
        }
    }
}

// No member is remembered.
control Keep(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
