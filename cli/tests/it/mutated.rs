//! Mutants of every kind of text, through the commands that read them.
//!
//! For every content of a file, a command ends with an exit code from 0 to 2, says what is wrong, and sends no control character to the
//! terminal. The commands are those that read a file and simulate little: what a file asks for may take long.

use crate::support::*;
use sluice_fuzz::hunt::words;
use sluice_fuzz::text_mutant;

/// Mutants of each file.
const CASES: u64 = 12;

/// Most bytes that a command prints about a file.
const LONGEST: usize = 4 << 20;

/// Returns a text of the corpora of the fuzz targets.
fn corpus(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../fuzz/corpus/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Runs a command on mutants of a file, whose place in the arguments is `FILE`.
fn survives(file: &str, text: &str, args: &[&str]) {
    let dir = folder("mutated");
    let path = dir.path().join(file);
    let place = path.to_str().unwrap();
    let run = |text: &str, what: &str| {
        std::fs::write(&path, text).unwrap();
        let args: Vec<String> = args.iter().map(|arg| arg.replace("FILE", place)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let done = sluice(&args);
        let code = done.status.code().unwrap_or(-1);
        let said = [done.stdout, done.stderr].concat();
        assert!(said.len() < LONGEST, "{args:?}, {what}: {} bytes are printed\n{text:?}", said.len());
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!((0..=2).contains(&code), "{args:?}, {what}: exit code {code}\n{said}\n{text:?}");
        assert!(code == 0 || !said.trim().is_empty(), "{args:?}, {what}: nothing is said\n{text:?}");
        let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
        assert!(!said.contains(obeyed), "{args:?}, {what}: {said:?}\n{text:?}");
        (code, said)
    };
    let (code, said) = run(text, "the file itself");
    assert_eq!(code, 0, "{args:?}: {said}");
    for case in 0..CASES {
        let mut words = words(case);
        let mutant = text_mutant(text, text, &mut || words.next().unwrap_or_default());
        run(&mutant, &format!("mutant {case}"));
    }
}

#[test]
fn files_of_programs() {
    survives("p.sluice", &corpus("program_file/sketch"), &["check", "FILE"]);
    let p4 = include_str!("hostile/two_checksums.p4");
    survives("p.p4", p4, &["check", "FILE", "--chip", "tofino"]);
    survives("e.toml", &corpus("entries/ecmp.toml"), &["entries", "ecmp", "--check", "FILE"]);
    survives("t.toml", &corpus("packet_test/test.toml"), &["test", "FILE"]);
}

#[test]
fn files_of_devices() {
    survives("b.toml", &corpus("buffer_file/th.toml"), &["explain", "buffer", "FILE"]);
    survives("c.json", &corpus("buffer_file/config_db.json"), &["explain", "buffer", "FILE"]);
    survives("m.csv", &corpus("topology/ports"), &["explain", "ports", "--port-map", "FILE"]);
    for routes in ["routes-frr", "routes-linux", "routes-csv"] {
        let map = &["entries", "ecmp", "--routes", "FILE"];
        let text = corpus(&format!("topology/{routes}"));
        // Without names of ports, the numbers of the front panel stand for them.
        let text = text.replace("Ethernet32", "8").replace("Ethernet36", "9").replace("Ethernet40", "10");
        survives("r.txt", &text.replace("Ethernet0", "0").replace("Ethernet4", "1"), map);
    }
}

#[test]
fn files_of_experiments() {
    survives("s.toml", &corpus("scenario/golden.toml"), &["run", "FILE", "--list"]);
    survives("c.toml", corpus("contest/lists.toml").split('\0').next().unwrap(), &["run", "FILE", "--list"]);
    let dir = folder("network");
    let out = dir.path().join("out");
    survives(
        "n.toml",
        &corpus("topology/two.toml"),
        &["programs", "ecmp", "--ir", "--topology", "FILE", "-o", text(&out)],
    );
}
