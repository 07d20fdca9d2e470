//! Annotations about containers and tables: rules of the program, and notes on what has no effect.

use super::lowered;

/// Returns the rules about containers and the notes on annotations.
fn rules(annotations: &str) -> String {
    let declarations = format!(
        "{annotations}
        action two(bit<8> x) {{ m.a = x; m.b = x; }}
        table t {{ key = {{ m.word : exact; m.wide : exact; }} actions = {{ two; }} size = 16; }}"
    );
    let lowered =
        lowered(&declarations, "t.apply(); hdr.ipv4.ttl = hdr.ipv4.ttl - 1; tm.ucast_egress_port = 2;")
            .unwrap_or_else(|messages| panic!("{messages}"));
    let text = sluice_ir::text::print(&lowered.program);
    assert_eq!(sluice_ir::text::parse(&text).as_ref(), Ok(&lowered.program));
    let rules = text.split("\n\n").find(|block| block.trim_start().starts_with("containers "));
    let notes = lowered.notes.iter().filter(|note| note.what.starts_with("`@"));
    let notes: String = notes.map(|note| format!("{}: {}\n", note.what, note.effect)).collect();
    rules.map_or(String::new(), |rules| rules.trim_end().to_owned() + "\n") + &notes
}

/// Returns the lines of the table about its memory and order, and the notes on annotations.
fn table(annotations: &str, kind: &str) -> String {
    let declarations = format!(
        "action one(bit<8> x) {{ m.a = x; }}
        {annotations}
        table t {{ key = {{ m.word : {kind}; }} actions = {{ one; }} size = 16; }}"
    );
    let lowered = lowered(&declarations, "t.apply();").unwrap_or_else(|messages| panic!("{messages}"));
    let text = sluice_ir::text::print(&lowered.program);
    let lines = text.lines().map(str::trim);
    let kept = ["ways", "pack", "priority", "pin"];
    let lines = lines.filter(|line| kept.iter().any(|word| line.starts_with(&format!("{word} = "))));
    let notes = lowered.notes.iter().filter(|note| note.what.starts_with("`@"));
    let notes = notes.map(|note| format!("{}: {}", note.what, note.effect));
    lines.map(str::to_owned).chain(notes).collect::<Vec<_>>().join("\n")
}

#[test]
fn annotations_about_containers_are_rules() {
    // The parameter has another name in each block; the pipe may be named before the gress.
    let found = rules(
        "@pa_container_size(\"ingress\", \"m.word\", 32)
        @pa_container_size(\"pipe_0\", \"ingress\", \"other.wide\", 8, 16, 8)
        @pa_atomic(\"ingress\", \"hdr.ipv4.ttl\") @pa_no_overlay(\"ingress\", \"m.a\", \"m.b\")
        @pragma pa_solitary ingress m.a
        @pa_container_type(\"ingress\", \"m.b\", \"normal\")",
    );
    let wanted = "containers ingress {
    m.word : sizes(32);
    m.wide : sizes(8, 16, 8);
    ipv4.ttl : atomic;
    m.a : no_overlay;
    m.b : no_overlay;
    m.a : solitary;
    m.b : kind(normal);
}
";
    assert_eq!(found, wanted);
}

#[test]
fn annotations_that_name_nothing_known_are_notes() {
    let without = |annotation: &str| {
        let found = rules(annotation);
        let (_, effect) =
            found.split_once(": is accepted, without effect").unwrap_or_else(|| panic!("{found}"));
        effect.trim().to_owned()
    };
    assert_eq!(without("@pa_solitary(\"ingress\", \"m.c\")"), ": ingress has no field `m.c`");
    assert_eq!(
        without("@pa_solitary(\"in\", \"m.a\")"),
        ": it names no gress; write \"ingress\" or \"egress\" before the field"
    );
    let wrong = ": there are no containers of 24 bits, only of 8, 16 and 32";
    assert_eq!(without("@pa_container_size(\"ingress\", \"m.a\", 24)"), wrong);
    let few = ": `m.wide` has 32 bits, more than these containers";
    assert_eq!(without("@pa_container_size(\"ingress\", \"m.wide\", 8, 16)"), few);
    let chip = ": the chip lays out `tm.ucast_egress_port`";
    assert_eq!(without("@pa_container_size(\"ingress\", \"tm.ucast_egress_port\", 32)"), chip);
    let kinds = ": there are no `wide` containers, only normal, mocha, dark and tagalong ones";
    assert_eq!(without("@pa_container_type(\"ingress\", \"m.a\", \"wide\")"), kinds);
    // A promise that nothing checks, and a rule that placement does not have.
    assert_eq!(without("@pa_mutually_exclusive(\"ingress\", \"m.a\", \"m.b\")"), "");
}

#[test]
fn of_two_sizes_the_last_one_counts_and_unused_fields_need_none() {
    let twice =
        "@pa_container_size(\"ingress\", \"m.word\", 8) @pa_container_size(\"ingress\", \"m.word\", 32)";
    assert_eq!(rules(twice), "containers ingress {\n    m.word : sizes(32);\n}\n");
    assert_eq!(rules("@pa_solitary(\"ingress\", \"m.flag\")"), "");
}

#[test]
fn tables_have_ways_entries_per_word_and_priorities() {
    assert_eq!(
        table("@ways(2) @pack(4) @placement_priority(-1) @stage(3)", "exact"),
        "pin = 3\nways = 2\npack = 4\npriority = -1".replace('\n', ";\n") + ";"
    );
    let none = "`@ways`: is accepted, without effect: the table is no exact match table in SRAM";
    assert_eq!(table("@ways(2)", "ternary"), none);
    let zero = "`@pack`: is accepted, without effect: it names no number from 1 to 255";
    assert_eq!(table("@pack(0)", "exact"), zero);
}
