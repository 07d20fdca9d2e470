parser inner(packet_in p, out headers_t h)(bit<8> n) {
    value_set<bit<16>>(4) types;
    value_set<pair_t>(4) pairs;
    ParserCounter() counter;
    bit<8> left = 0;
    state start {
        p.extract(h.stack.next);
        h.stack.last.bos = 1;
        transition select(h.a.type, p.lookahead<bit<8>>()) {
            (0x0800, 1 &&& 3): v4;
            (types, _): v6;
            (1 .. 2, default): reject;
            default: accept;
        }
    }
    @name("v4") state v4 { transition accept; }
    state v6 { if (left == 0) { left = 1; } }
    state v8 { transition select(left) { 1: accept; 2 &&& 3: v4; 1..5: v6; (bit<8>) 3: v4; (1 + 2) &&& 7: v6; _: reject; } }
}
parser outer(packet_in p);
