//! Meanings of properties, from the tables of docs/fuzz-properties.md.

/// The page, whose tables are the list of properties.
const PAGE: &str = include_str!("../../../docs/fuzz-properties.md");

/// Returns each property with what must hold, and what is not judged, which may be empty.
pub(super) fn properties() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix('|'));
    rows.filter_map(|row| {
        let (names, rest) = row.split_once(" | ")?;
        let (text, aside) = rest.split_once(" | ").unwrap_or((rest, ""));
        // Rows of numbers are no properties: they are those of mutants.
        let is_text = !text.starts_with(|c: char| c.is_ascii_digit());
        is_text.then_some((names, text.trim(), aside.trim()))
    })
    .flat_map(|(names, text, aside)| names.split(", ").map(move |name| (name.trim_matches('`'), text, aside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_of_every_program_is_explained() {
        let known: Vec<&str> = properties().map(|(name, ..)| name).collect();
        assert!(known.contains(&"as_modelled") && known.contains(&"no_panic"), "{known:?}");
        for stage in sluice_generated::catalogue().programs() {
            let program = stage.build(&[]).unwrap();
            for property in stage.properties(&program) {
                assert!(known.contains(&property.name()), "{}: {}", stage.name(), property.name());
            }
        }
        for property in sluice_switch::property::general() {
            assert!(known.contains(&property.name()), "{}", property.name());
        }
    }
}
