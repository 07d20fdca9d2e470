//! Keys that a contest file must have, so that one message names all that are missing.

use toml::de::{DeTable, DeValue};

/// Tables and lists that every contest has.
const TOP: [&str; 4] = ["topology", "workload", "hosts", "program"];

/// Keys of `[hosts]` of which one says how the hosts send.
const TRANSPORTS: [&str; 5] = ["recovery", "generation", "tcp", "udp", "transport"];

/// Returns the paths of the required keys that a contest file lacks; none if the text is no TOML.
pub(crate) fn missing(text: &str) -> Vec<&'static str> {
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let table = table.get_ref();
    let mut missing: Vec<&str> = TOP.into_iter().filter(|key| !table.contains_key(*key)).collect();
    let lacks = |of: &str, keys: &[&str]| {
        let part = table.get(of).map(|value| value.get_ref());
        matches!(part, Some(DeValue::Table(part)) if keys.iter().all(|key| !part.contains_key(*key)))
    };
    if lacks("workload", &["time"]) {
        missing.push("workload.time");
    }
    if lacks("hosts", &["cable"]) {
        missing.push("hosts.cable");
    }
    if lacks("hosts", &TRANSPORTS) {
        missing.push("hosts.recovery");
    }
    missing
}

/// Returns a sentence about missing keys.
pub(crate) fn sentence(missing: &[&str]) -> String {
    let quoted: Vec<String> = missing.iter().map(|key| format!("`{key}`")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("the keys {} and {last} are missing", before.join(", "))
        }
        _ => format!("the key {} is missing", quoted.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_missing_keys_are_named_at_once() {
        let nothing = missing("seeds = 2");
        assert_eq!(sentence(&nothing), "the keys `topology`, `workload`, `hosts` and `program` are missing");
        let parts =
            missing("topology = \"two-tor\"\nprogram = []\n[workload]\nload = 3\n[hosts]\nmtu = 9000");
        assert_eq!(
            sentence(&parts),
            "the keys `workload.time`, `hosts.cable` and `hosts.recovery` are missing"
        );
        let one = missing("topology = 1\nprogram = []\n[hosts]\ncable = \"1us\"\ntcp = {}");
        assert_eq!(sentence(&one), "the key `workload` is missing");
        assert_eq!(missing("no = [TOML"), [""; 0]);
    }
}
