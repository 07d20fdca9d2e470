//! Register actions that do not map onto a stateful ALU, and the findings about them.

use sluice_asic::chip::ChipSpec;
use sluice_ir::text::parse;
use sluice_ir::verify::for_chip;

/// Returns the findings about register actions with these bodies, all on one register, on a chip.
fn found(element: &str, chip: &str, bodies: &[&str]) -> Vec<String> {
    let mut text = format!(
        "program p;\nmetadata : ingress {{ bit<32> m.a; bit<32> m.b; bit<32> m.c; bit<8> m.d; }}\n\
         register cells : ingress {{ element = \"{element}\"; size = 64; }}\n"
    );
    for (n, body) in bodies.iter().enumerate() {
        text += &format!("register_action r{n} (cells) {{ {body} }}\n");
    }
    let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for_chip(&program, &ChipSpec::from_name(chip).unwrap()).into_iter().map(|d| d.to_string()).collect()
}

fn one(element: &str, chip: &str, body: &str) -> String {
    let list = found(element, chip, &[body]);
    assert_eq!(list.len(), 1, "{list:#?}");
    list[0].clone()
}

#[test]
fn a_third_comparison_is_too_much_for_tofino_only() {
    let body = "if (@lo == 1) { @lo = 2; } else { if (@lo > m.a) { @lo = 3; } } if (m.b < 9) { @out0 = 1; }";
    let text = one("32", "tofino", body);
    assert!(
        text.contains("register action `r0` needs 3 comparisons; a stateful ALU of this chip has 2"),
        "{text}"
    );
    assert!(text.contains("a test and its opposite share one"), "{text}");
    assert_eq!(found("32", "tofino2", &[body]), [""; 0]);
    // The opposite of a test, and the same test turned around, are free.
    let same = "if (@lo > m.a) { @lo = 0; } if (m.a >= @lo) { @out0 = 1; } if (m.a < @lo) { @hi = 1; }";
    assert!(found("32x2", "tofino", &[same]).iter().all(|d| !d.contains("comparisons")));
}

#[test]
fn each_refusal_names_the_part_and_a_remedy() {
    let rows = [
        ("32", "@lo = add(m.a, m.b);", "computes on two values from the packet"),
        ("32x2", "@lo = add(@lo, @hi);", "computes on both halves"),
        ("32", "@lo = and(add(@lo, 1), m.a);", "computes several operations in one value"),
        (
            "32",
            "if (m.a == 1) { @lo = 1; } else { if (m.a == 2) { @lo = 2; } else { @lo = 3; } }",
            "gives the element 3 different values; each half has two update ALUs",
        ),
        (
            "32",
            "if (@lo > m.a) { @out0 = 1; } if (saddu(@lo, 1) > m.b) { @lo = 1; }",
            "orders a computed value by size",
        ),
        ("32x2", "if (@lo > @hi) { @out0 = 1; }", "compares both halves of the element"),
        ("32", "if (m.a > m.b) { @out0 = 1; }", "compares two values from the packet"),
        (
            "32",
            "if (and(@lo, 7) == 1) { @out0 = 1; }",
            "compares under a mask; this chip's comparators have none",
        ),
        ("1", "@lo = 1; @out0 = @lo;", "returns something other than the old bit"),
        ("1", "if (@lo == 1) { @lo = 0; }", "has a condition, which a one-bit access cannot have"),
    ];
    for (element, body, wanted) in rows {
        let text = one(element, "tofino", body);
        assert!(text.contains("register action `r0`") && text.contains(wanted), "{body}: {text}");
        assert!(text.contains("= help: "), "{body}: {text}");
    }
}

#[test]
fn what_the_actions_of_a_register_share_is_counted_together() {
    let four = ["@lo = m.a;", "@lo = m.b;", "@out0 = @lo;", "@lo = 0;"];
    assert_eq!(found("32", "tofino", &four), [""; 0]);
    let five = [&four[..], &["@lo = 1;"]].concat();
    assert!(found("32", "tofino", &five).concat().contains("5 register actions; a register has room for 4"));
    let three = ["@lo = m.a;", "@lo = m.b;", "@lo = m.c;"];
    let text = found("32", "tofino2", &three).concat();
    assert!(text.contains("take 3 values from the packet (m.a, m.b, m.c); a stateful ALU takes 2"), "{text}");
    let large = ["@lo = 1000;", "@lo = 2000; @out0 = 3000;", "@lo = add(@lo, 4000);", "@lo = 5000;"];
    assert!(found("32", "tofino", &large).concat().contains("5 register file rows are needed"));
}
