//! `hashing_scenarios.txt` names the test of each of the forty scenarios of the model page (model: hashing §8), and these tests
//! exist.

use std::path::Path;

#[test]
fn every_scenario_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = include_str!("hashing_scenarios.txt");
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, file, test] = cells[..] else { return None };
        Some((id.parse::<u32>().ok()?, file, test))
    });
    let rows: Vec<(u32, &str, &str)> = rows.collect();
    assert!(rows.iter().map(|(id, ..)| *id).eq(1..=40), "{rows:?}");
    for (id, file, test) in rows {
        assert!(test.contains(&format!("_{id:02}")), "{id}: {test}");
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(source.contains(&format!("fn {test}(")), "{id}: {file} has no test {test}");
    }
}
