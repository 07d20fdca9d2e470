//! Scenario files that are part of the product, and the profiles that they need in addition to the shipped ones.

/// Name and text of each scenario file.
pub const FILES: [(&str, &str); 11] = [
    ("buffer/thresholds.toml", include_str!("../buffer/thresholds.toml")),
    ("buffer/golden.toml", include_str!("../buffer/golden.toml")),
    ("buffer/lossy.toml", include_str!("../buffer/lossy.toml")),
    ("buffer/pfc.toml", include_str!("../buffer/pfc.toml")),
    ("buffer/watchdog.toml", include_str!("../buffer/watchdog.toml")),
    ("buffer/ecn.toml", include_str!("../buffer/ecn.toml")),
    ("buffer/hosts.toml", include_str!("../buffer/hosts.toml")),
    ("buffer/bad.toml", include_str!("../buffer/bad.toml")),
    ("buffer/catalogue.toml", include_str!("../buffer/catalogue.toml")),
    ("buffer/sweeps.toml", include_str!("../buffer/sweeps.toml")),
    ("buffer/lessons.toml", include_str!("../buffer/lessons.toml")),
];

/// Profiles in addition to those of the chips.
const PROFILES: [(&str, &str); 1] = [("a", include_str!("../profiles/a.toml"))];

/// Returns the text of a profile: one of the scenarios' or one of the chips'.
#[must_use]
pub fn profile(name: &str) -> Option<&'static str> {
    let own = PROFILES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text);
    own.or_else(|| sluice_asic::tm::buffer::BufferFile::text_of(name))
}
