//! The P4 sketches beside the programs.

use sluice_programs::catalogue;

/// Returns the places in `text` at which the word `name` stands, as the text after it.
fn after<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '#';
    text.match_indices(name).filter_map(move |(at, _)| {
        let rest = &text[at + name.len()..];
        let whole = !text[..at].ends_with(word) && !rest.starts_with(word);
        whole.then_some(rest)
    })
}

/// Returns the names of externs and tables that `text` uses, without names that the preprocessor joins.
fn used(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for method in [".apply()", ".execute(", ".count(", ".get("] {
        for (at, _) in text.match_indices(method) {
            let start =
                text[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |i| i + 1);
            if !text[..start].ends_with(['.', '#']) && start < at {
                names.push(&text[start..at]);
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn a_sketch_declares_the_names_that_it_uses() {
    let mut checked = 0;
    for shipped in catalogue().programs() {
        let Some(p4) = shipped.p4() else { continue };
        assert_eq!(after(p4, "void_t").count(), 0, "{}: P4 has no functions without a type", shipped.name());
        // This sketch says which tables it leaves out.
        if shipped.name() == "int" {
            continue;
        }
        for name in used(p4) {
            let joined = (1..=name.len()).any(|i| p4.contains(&format!(" {}##", &name[..i])));
            let declared = joined || after(p4, name).any(|rest| !rest.starts_with('.'));
            assert!(declared, "{}: {name} is used and not declared", shipped.name());
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn the_sketch_of_conweave_counts_what_the_program_counts() {
    let catalogue = catalogue();
    let shipped = catalogue.get("conweave").unwrap();
    let (built, p4) = (shipped.build(&[]).unwrap(), shipped.p4().unwrap());
    for counter in built.counters.values() {
        assert!(p4.contains(&format!("{}.count(", counter.name)), "{}", counter.name);
    }
}
