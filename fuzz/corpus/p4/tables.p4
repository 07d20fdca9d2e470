control c(inout headers_t h) {
    Counter<bit<32>, bit<8>>(1024, CounterType_t.PACKETS) hits;
    ActionProfile(16) profile;
    action a(bit<8> p, in bit<8> q) { h.x = p; }
    action b() { hits.count(1); }
    table t {
        key = {
            h.x : exact;
            h.ipv4.isValid() : ternary @name("v4");
            h.y[7:0] : lpm;
            h.z & 0xFF : range;
        }
        actions = { a(1); b; .NoAction; }
        const default_action = a(1, 2);
        size = 1 << 10;
        implementation = profile;
        idle_timeout = true;
        const entries = {
            (1, true, 3 &&& 0xF, 4 .. 5): a(1);
            (_, default, _, _): b() @name("rest");
        }
    }
    table u { key = { h.x : exact; } actions = { b; } entries = { 1: b; _: b(); } }
    apply { t.apply(); }
}
