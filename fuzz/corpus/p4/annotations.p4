@name("a.b") @stage(3) @pragma stage 4
@pa_container_size("ingress", "hdr.a.b", 8, 16)
@pragma pa_no_overlay ingress hdr.ipv4.$valid
@pure @p[1, 2 + 3] @q[k = 1, l = "m"]
control c(@optional in bit<8> x) {
    @defaultonly action a() { }
    @ways(3) table t {
        key = { x : exact @name("y"); }
        actions = { @defaultonly a; @tableonly a; }
    }
    apply {
        @in_hash { x = y; }
        @hidden { }
    }
}
