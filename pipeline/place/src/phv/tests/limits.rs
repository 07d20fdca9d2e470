//! Programs that cannot be allocated, and the findings about them.

use super::*;

#[test]
fn arithmetic_on_part_of_a_byte_run_is_refused() {
    let mut s = Small::new();
    let (_, ip) = s.header("ip", &[("flags", 3), ("offset", 13)]);
    s.set(ip[1], alu(AluOp::Add, field(ip[1]), Expr::Const(1, 13)));
    let program = s.program();
    for chip in chips() {
        let found = allocate(&program, &chip, &Options::default(), &cfgs(&program)).unwrap_err();
        assert_eq!(texts(&found).len(), 1);
        assert_says(&texts(&found), "`ip.offset` (13 bits at bit 3 of `ip`)");
        assert!(found[0].help.contains("metadata"));
    }
}

#[test]
fn arithmetic_wider_than_a_container_is_refused() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("seq", 48)]);
    s.set(h[0], alu(AluOp::Add, field(h[0]), Expr::Const(1, 48)));
    assert_says(&refusal(&s.program(), &ChipSpec::tofino2()), "`h.seq` of 48 bits");
}

#[test]
fn bitwise_functions_of_wide_fields_are_not_refused() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 48), ("b", 48)]);
    s.set(h[0], alu(AluOp::Xor, field(h[0]), field(h[1])));
    let program = s.program();
    for chip in chips() {
        allocated(&program, &chip);
    }
}

#[test]
fn bitwise_functions_of_two_odd_fields_are_refused() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 4), ("b", 4)]);
    s.set(h[0], alu(AluOp::Xor, field(h[0]), field(h[1])));
    assert_says(&refusal(&s.program(), &ChipSpec::tofino()), "a multiple of 8 bits on a byte boundary");
}

#[test]
fn saturation_at_an_odd_width_is_refused_and_wrapping_is_not() {
    for (op, refused) in
        [(AluOp::Saddu, true), (AluOp::Sadds, true), (AluOp::Add, false), (AluOp::Minu, false)]
    {
        let mut s = Small::new();
        let x = s.sketch.meta("x", 9);
        s.set(x, alu(op, field(x), Expr::Const(1, 9)));
        let program = s.program();
        for chip in chips() {
            assert_eq!(
                allocate(&program, &chip, &Options::default(), &cfgs(&program)).is_err(),
                refused,
                "{op}"
            );
        }
    }
}

#[test]
fn operands_of_two_sizes_are_refused() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("ttl", 8), ("pad", 8), ("len", 16)]);
    s.set(h[2], alu(AluOp::Add, field(h[2]), Expr::Cast(Box::new(field(h[0])), 16)));
    let found = refusal(&s.program(), &ChipSpec::tofino());
    assert_says(
        &found,
        "`h.len` is computed from `h.ttl`, but the first needs a 16-bit container and the second a 8-bit",
    );
}

#[test]
fn a_parser_copies_bits_to_their_place_in_a_container() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 4), ("b", 12)]);
    let x = s.sketch.meta("x", 4);
    let mut program = s.program();
    also(&mut program, ParserOpKind::Set(x, field(h[0])));
    let placed = allocated(&program, &ChipSpec::tofino2());
    assert!(findings(&program, &ChipSpec::tofino2(), &placed).is_empty());
    let [slice] = placed.slices(x) else { panic!("{placed:?}") };
    assert_eq!((slice.lo, slice.width, slice.at), (0, 4, 4));
    // Bits of another place in their byte cannot come to the same container.
    let low = Expr::Slice(Box::new(field(h[1])), 4, 1);
    also(&mut program, ParserOpKind::Set(x, low));
    assert_says(
        &refusal(&program, &ChipSpec::tofino2()),
        "another state copies bits that begin at bit 4 of a byte",
    );
}

#[test]
fn a_parser_copy_of_bits_to_a_part_of_a_field_is_refused() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 4), ("b", 4)]);
    let x = s.sketch.meta("x", 8);
    let mut program = s.program();
    also(&mut program, ParserOpKind::SetSlice(x, 3, 0, field(h[1])));
    assert_says(
        &refusal(&program, &ChipSpec::tofino2()),
        "extractors copy whole bytes, and bits beside them",
    );
}

#[test]
fn a_parser_copies_bits_to_a_byte_of_a_header_beside_padding_and_ones() {
    let mut s = Small::new();
    let (_, from) = s.header("from", &[("rest", 7), ("flag", 1)]);
    let (_, to) = s.header("to", &[("padding", 6), ("known", 1), ("flag", 1), ("next", 8)]);
    s.set(from[1], Expr::Const(0, 1));
    let mut program = s.program();
    also(&mut program, ParserOpKind::Set(to[2], field(from[1])));
    // Nothing reads the bits beside the flag yet.
    for chip in chips() {
        allocated(&program, &chip);
    }
    // A reader of a neighbour would see a bit of the packet there, unless it is one in any case.
    let reader = program.actions.values_mut().next().unwrap();
    let kind = set(from[1], field(to[1]));
    reader.body = vec![sluice_ir::Primitive { kind, loc: reader.loc }];
    assert_says(&refusal(&program, &ChipSpec::tofino()), "bits beside them would change `to.known`");
    also(&mut program, ParserOpKind::Set(to[1], Expr::Const(1, 1)));
    let chip = ChipSpec::tofino();
    let placed = allocated(&program, &chip);
    // The verifier finds the reader by itself.
    let ones = program.states.values_mut().last().unwrap().ops.pop();
    assert!(ones.is_some());
    assert_says(&findings(&program, &chip, &placed), "which changes `to.known`");
}

#[test]
fn a_parser_does_not_copy_bits_to_other_places_in_a_byte_of_a_header() {
    let mut s = Small::new();
    let (_, from) = s.header("from", &[("flag", 1), ("rest", 7)]);
    let (_, to) = s.header("to", &[("padding", 7), ("flag", 1)]);
    let mut program = s.program();
    also(&mut program, ParserOpKind::Set(to[1], field(from[0])));
    assert_says(&refusal(&program, &ChipSpec::tofino()), "is at other bits of its byte");
}

/// Returns a program of headers with eight 32-bit fields each; an action adds to every field.
fn hungry(headers: usize) -> Program {
    let mut s = Small::new();
    let names: Vec<String> = (0..8).map(|i| format!("f{i}")).collect();
    for i in 0..headers {
        let fields: Vec<(&str, u16)> = names.iter().map(|n| (n.as_str(), 32)).collect();
        let (_, f) = s.header(&format!("h{i}"), &fields);
        for x in f {
            s.set(x, alu(AluOp::Add, field(x), Expr::Const(1, 32)));
        }
    }
    s.program()
}

#[test]
fn overflow_names_counts_and_consumers() {
    // Tofino has 64 of them, 4 of which are wired to egress; Tofino 2 has 48 that can add.
    for (chip, fit, reach) in [(ChipSpec::tofino(), 7, "60 normal"), (ChipSpec::tofino2(), 6, "48 normal")] {
        allocated(&hungry(fit), &chip);
        let found = refusal(&hungry(fit + 1), &chip);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_says(&found, "PHV: ingress needs");
        assert_says(&found, "containers of 32 bits");
        assert_says(&found, reach);
        assert_says(&found, "header `h0` 8");
    }
}

#[test]
fn pass_through_bytes_fall_back_to_smaller_containers() {
    // 128 words: more than the chips have for one gress.
    let names: Vec<String> = (0..64).map(|i| format!("f{i}")).collect();
    let fields: Vec<(&str, u16)> = names.iter().map(|n| (n.as_str(), 32)).collect();
    let mut s = Small::new();
    s.header("a", &fields);
    s.header("b", &fields);
    let program = s.program();
    let chip = ChipSpec::tofino();
    let allocation = allocated(&program, &chip);
    let sizes: std::collections::BTreeSet<u32> = program
        .fields
        .keys()
        .flat_map(|f| allocation.slices(f).to_vec())
        .map(|s| info(&chip, s.container).size.bits())
        .collect();
    assert!(sizes.contains(&32) && sizes.contains(&16));
    assert_eq!(findings(&program, &chip, &allocation), Vec::<String>::new());
}

#[test]
fn a_cluster_that_no_group_holds_is_refused_with_a_hint() {
    // Forty words copied around in a ring must share a group of 16 (Tofino) or 12 (Tofino 2).
    let mut s = Small::new();
    let fields: Vec<Field> = (0..40).map(|i| s.sketch.meta(&format!("x{i}"), 32)).collect();
    for pair in fields.windows(2) {
        s.set(pair[1], field(pair[0]));
    }
    // And back, so that all of them hold something at once.
    for pair in fields.windows(2) {
        s.set(pair[0], field(pair[1]));
    }
    let program = s.program();
    for chip in chips() {
        let found = allocate(&program, &chip, &Options::default(), &cfgs(&program)).unwrap_err();
        assert_says(&texts(&found), "40 of them find no place");
        assert!(found[0].help.contains("one MAU group"), "{}", found[0].help);
    }
}
