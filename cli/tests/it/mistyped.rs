//! Mistyped command lines: each is refused with what was found, what is expected, and the nearest word or a working example.
//!
//! `mistyped.txt` lists the command lines with their exit codes and messages. `UPDATE_EXPECT=1` writes the messages anew.

use crate::support::{pcap, text, udp};
use assert_cmd::Command;
use expect_test::expect_file;
use std::fs;
use std::path::Path;

const CONTEST: &str = "\
name = \"two leaves\"
topology = \"leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns\"
port_speed = \"100G\"

[workload]
sizes = \"ali-storage\"
load = 50
time = \"100us\"

[hosts]
cable = \"500ns\"
recovery = \"go-back-n\"

[[program]]
name = \"ecmp\"
";

const SCENARIO: &str = "\
[[scenario]]
id = \"mine\"
source = \"my notes\"
title = \"the packet after the headroom is dropped\"
device = { profiles = [\"th\"], speed = \"100G\", ports = 32, override = { cable = \"300m\" } }
steps = [
  { block = 31 },
  { send = { from = 0, to = 31, size = 64, count = \"drop_at(1) - 1\" } },
  { expect = { what = \"drops\", is = 0 } },
]
";

const P4: &str = "\
#include <core.p4>
#include <v1model.p4>
struct h_t {}
";

/// Files with one mistake: name, text, the part that is replaced, the mistake.
const CHANGED: [(&str, &str, &str, &str); 16] = [
    ("worklod.toml", CONTEST, "[workload]", "[worklod]"),
    ("sizes.toml", CONTEST, "ali-storage", "ali-storag"),
    ("load.toml", CONTEST, "load = 50", "load = 500"),
    ("laod.toml", CONTEST, "load = 50", "laod = 50"),
    ("time.toml", CONTEST, "\"100us\"", "100"),
    ("unit.toml", CONTEST, "100us", "100 furlongs"),
    ("ecpm.toml", CONTEST, "\"ecmp\"", "\"ecpm\""),
    ("spin.toml", CONTEST, "leaf-spine:", "leaf-spin:"),
    ("twice.toml", CONTEST, "load = 50", "load = 50\nload = 60"),
    ("quote.toml", CONTEST, "100us\"", "100us"),
    ("recovery.toml", CONTEST, "recovery = \"go-back-n\"", "recovery = \"go-bakc-n\""),
    ("blok.toml", SCENARIO, "{ block", "{ blok"),
    ("dropz.toml", SCENARIO, "\"drops\"", "\"dropz\""),
    ("profile.toml", SCENARIO, "[\"th\"]", "[\"tx\"]"),
    ("titel.toml", SCENARIO, "title =", "titel ="),
    ("ports.toml", SCENARIO, "ports = 32", "ports = \"many\""),
];

/// Writes the files that the command lines name.
fn files(dir: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join(name), bytes).unwrap();
    for name in ["folder", "empty-folder"] {
        fs::create_dir(dir.join(name)).unwrap();
    }
    for name in ["empty.pcap", "empty.toml", "empty.sluice", "empty.p4", "empty.csv"] {
        write(name, b"");
    }
    for name in ["binary.toml", "binary.sluice", "binary.p4", "binary.csv", "binary.stf"] {
        write(name, b"\x00\x01\x02\xff\xfe binary \x80\x90\n");
    }
    let capture = pcap(&[(0, udp(1, 64)), (500, udp(2, 64))]);
    write("good.pcap", &capture);
    write("cut.pcap", &capture[..capture.len() - 100]);
    write("notes.pcap", b"this is no capture");
    write("contest.toml", CONTEST.as_bytes());
    write("scenario.toml", SCENARIO.as_bytes());
    for (name, text, found, mistake) in CHANGED {
        assert!(text.contains(found), "{name}");
        write(name, text.replacen(found, mistake, 1).as_bytes());
    }
    write(
        "table.toml",
        b"[[table.ipv4_rout]]\nkey = { vrf = 0, dst = \"10.0.0.0/8\" }\naction = \"ipv4_no_route\"\n",
    );
    write(
        "action.toml",
        b"[[table.ipv4_route]]\nkey = { vrf = 0, dst = \"10.0.0.0/8\" }\naction = \"ipv4_no_rout\"\n",
    );
    write("chip.toml", b"base = \"tofino2\"\n[mau]\nstags = 30\n");
    write("base.toml", b"base = \"tofino3\"\n");
    write("v1.p4", P4.as_bytes());
    write("brace.p4", b"#include <core.p4>\n#include <tna.p4>\ncontrol I( { apply {} }\n");
    write("flows.csv", b"start,src,dst,byts\n0,10.0.0.1,10.0.1.1,1000\n");
    write("frames.toml", b"[[frame]]\nkind = \"udq\"\n");
    write("test.stf", b"expct 0 00\n");
    write("changes.txt", b"table_delete ipv4_route 3\n");
    write("late.txt", b"@1.5 table_delete ipv4_route 3\n");
    write("net.toml", b"[[switch]]\nname = \"a\"\n\n[[cable]]\nfrom = \"a:0\"\n");
}

/// Runs a command line in the folder; returns its exit code and what it prints.
fn said(line: &str, dir: &Path) -> String {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let out = Command::cargo_bin("sluice").unwrap().args(&words).current_dir(dir).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let code = out.status.code().unwrap();
    assert!([1, 2].contains(&code), "{line}: exit code {code}");
    format!("$ {line}\nexit {code}\n{}{}\n", text(&out.stdout), text(&out.stderr))
}

#[test]
fn mistyped_command_lines_are_refused_with_a_remedy() {
    let dir = crate::support::folder("mistyped");
    files(dir.path());
    let golden = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mistyped.txt")).unwrap();
    let lines: Vec<&str> = golden.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(lines.len() >= 100, "{} command lines", lines.len());
    let (first, second) = lines.split_at(lines.len() / 2);
    let all = |lines: &[&str]| lines.iter().map(|line| said(line, dir.path())).collect::<String>();
    let found = std::thread::scope(|scope| {
        let later = scope.spawn(|| all(second));
        all(first) + &later.join().unwrap()
    });
    for sign in ["RUST_BACKTRACE", "..=", "os error", "invalid digit", text(dir.path())] {
        assert!(!found.contains(sign), "{sign}:\n{found}");
    }
    expect_file!["mistyped.txt"].assert_eq(&found);
}

#[test]
#[cfg(unix)]
fn a_reader_that_closes_its_end_is_no_panic() {
    let dir = crate::support::folder("head");
    files(dir.path());
    let binary = assert_cmd::cargo::cargo_bin("sluice");
    for line in
        ["replay l3-ecmp --entries table.toml", "report l3-ecmp --ful", "programs", "gen --help", "gen"]
    {
        let script = format!("{} {line} 2>&1 | true; echo ${{PIPESTATUS[0]}}", binary.display());
        let out = std::process::Command::new("bash")
            .args(["-c", &script])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let code = String::from_utf8(out.stdout).unwrap();
        assert!(["0\n", "2\n"].contains(&code.as_str()), "{line}: {code}");
    }
}
