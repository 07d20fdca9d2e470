//! Answers come first: the change that makes a program fit, the one cause, the mistake on the command line, the line of a TOML file
//! that names a file; and commands that the output proposes run where they are printed.

use crate::support::{folder, ok};
use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program whose table `connections` takes the SRAM that its register `cells` wants, too: the table begins a chain, so it is placed
/// first.
const CROWD: &str = r#"#include <core.p4>
#include <tna.p4>
header h_h { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { h_h h; }
struct meta_t { bit<16> next; bit<32> count; }
parser P(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); m = {0, 0}; pkt.extract(hdr.h); transition accept; }
}
control C(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<32>, bit<16>>(65536) cells;
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) add = {
        void apply(inout bit<32> cell, out bit<32> now) { cell = cell + 1; now = cell; }
    };
    action sketch() { m.count = add.execute(hdr.h.type); }
    action to(bit<16> next) { m.next = next; }
    action send(PortId_t port) { tm.ucast_egress_port = port; }
    table connections {
        key = { hdr.h.dst : exact; hdr.h.src : exact; }
        actions = { to; }
        size = SIZE;
    }
    table next_hop {
        key = { m.next : exact; }
        actions = { send; }
        size = 256;
    }
    apply {
        sketch();
        connections.apply();
        next_hop.apply();
    }
}
control D(packet_out pkt, inout headers_t hdr, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}
parser EP(packet_in pkt, out headers_t hdr, out meta_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control EC(inout headers_t hdr, inout meta_t m, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
           inout egress_intrinsic_metadata_for_output_port_t port) { apply {} }
control ED(packet_out pkt, inout headers_t hdr, in meta_t m, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}
Pipeline(P(), C(), D(), EP(), EC(), ED()) pipe;
Switch(pipe) main;
"#;

/// A chip of four stages.
const SMALL: &str = "base = \"tofino2\"\nname = \"small\"\nmau.stages = 4\nlatency.forced_match_stage = 0\n";

/// Runs a command in a folder.
fn run(dir: &Path, args: &[&str]) -> Output {
    Command::new(cargo_bin("sluice")).args(args).current_dir(dir).output().unwrap()
}

/// Returns stderr of a command that fails in a folder with exit code 2 and nothing on stdout.
fn mistake(dir: &Path, args: &[&str]) -> String {
    let out = run(dir, args);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(out.stderr).unwrap()
}

fn crowd(dir: &Path, file: &str, size: &str) {
    fs::write(dir.join(file), CROWD.replace("size = SIZE;", &format!("size = {size};"))).unwrap();
    fs::write(dir.join("small.toml"), SMALL).unwrap();
}

#[test]
fn a_program_that_does_not_fit_has_its_one_cause_first() {
    let dir = folder("cause");
    crowd(dir.path(), "crowd.p4", "400000");
    let out = run(dir.path(), &["report", "crowd.p4", "--chip", "small.toml"]);
    assert_eq!(out.status.code(), Some(1));
    let said = String::from_utf8(out.stdout).unwrap();
    let expected = "crowd on small: does not fit

error: only 372736 of the 400000 entries of `C.connections` have a place in 4 stages: no SRAM left for 94208 entries in stage 3, where 78 of 80 units are in use
  --> crowd.p4:31:9
   |
19 |     table connections {
   |           ----------- the table
...
31 |         connections.apply();
   |         ^^^^^^^^^^^^^^^^^
   |
   = help: `C.connections` holds 312 of the 320 units of SRAM in all stages: lower its size, narrow its key or its action data, or choose a larger chip

sram, first short in stage 0, is wanted by: C.connections

Without a place because of this
  `C.sketch` has no place in 4 stages, because `C.connections` holds 312 of the 320 units of SRAM: no SRAM left for register `C.cells` of 16 RAMs and a spare bank in stage 3, where 78 of 80 units are in use (crowd.p4:30)
  `C.next_hop` has no place in 4 stages: it runs after `C.connections`, which has none (crowd.p4:32)

Any one of these makes it fit
  --chip tofino
  --chip tofino2
";
    assert_eq!(said, expected);
}

#[test]
fn the_smallest_change_is_in_the_first_line() {
    let dir = folder("why");
    crowd(dir.path(), "crowd.p4", "400000");
    let out = run(dir.path(), &["report", "crowd.p4", "--chip", "small.toml", "--why-not"]);
    assert_eq!((out.status.code(), out.stderr.len()), (Some(1), 0));
    let said = String::from_utf8(out.stdout).unwrap();
    // 279552 entries fit, and one step of 512 more does not.
    assert_eq!(
        said.lines().next(),
        Some(
            "crowd on small: does not fit; the smallest change found that makes it fit: table `C.connections` with size = 279552 \
             (from 400000, 30.1 % less)"
        )
    );
    assert_eq!(
        said.lines().nth(2).map(|line| line.starts_with("error: only 372736 of the 400000")),
        Some(true),
        "{said}"
    );
    assert!(said.contains("\n  does not fit  table `C.connections` with size = 280064 ("), "{said}");
    crowd(dir.path(), "fits.p4", "279552");
    assert_eq!(run(dir.path(), &["report", "fits.p4", "--chip", "small.toml"]).status.code(), Some(0));
    crowd(dir.path(), "one.p4", "280064");
    assert_eq!(run(dir.path(), &["report", "one.p4", "--chip", "small.toml"]).status.code(), Some(1));
}

/// A program with a warning.
fn with_warning(dir: &Path) {
    fs::write(dir.join("warns.p4"), CROWD.replace("size = SIZE;", "size = 4000; idle_timeout = true;"))
        .unwrap();
}

const WARNING: &str = "warning: `idle_timeout`: entries live for 60 s without a hit, with sweeps every second, unless the control \
                       plane sets other times
  --> warns.p4:22:22
   |
22 |         size = 4000; idle_timeout = true;
   |                      ^^^^^^^^^^^^^^^^^^^
";

#[test]
fn a_mistake_on_the_command_line_is_said_without_warnings_about_the_program() {
    let dir = folder("warnings");
    with_warning(dir.path());
    fs::write(dir.path().join("e.toml"), "").unwrap();
    let first = |args: &[&str]| mistake(dir.path(), args).lines().next().unwrap_or_default().to_owned();
    for (args, expected) in [
        (&["replay", "warns.p4", "-i", "nix:1"][..], "error: input `nix:1` names no port"),
        (
            &["replay", "warns.p4", "-i", "0@nix.pcap"],
            "error: nix.pcap: cannot read it: there is no such file",
        ),
        (
            &["replay", "warns.p4", "--entries", "nix.toml"],
            "error: cannot read nix.toml: there is no such file",
        ),
        (&["report", "warns.p4", "--sweep", "x"], "error: --sweep `x` names no parameter"),
        (
            &["fuzz", "warns.p4", "--entries", "nix.toml"],
            "error: cannot read nix.toml: there is no such file",
        ),
        (
            &["entries", "warns.p4", "--check", "nix.toml"],
            "error: cannot read nix.toml: there is no such file",
        ),
    ] {
        assert_eq!(first(args), expected, "{args:?}");
    }
    // Without a mistake the warnings come before the results.
    let out = run(dir.path(), &["entries", "warns.p4", "--check", "e.toml"]);
    assert_eq!(String::from_utf8(out.stderr).unwrap(), WARNING);
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "e.toml: 0 entries, no mistakes\n");
    let out = run(dir.path(), &["report", "warns.p4", "-q"]);
    assert_eq!((out.stdout.len(), out.stderr.len()), (0, 0));
    let said = String::from_utf8(run(dir.path(), &["check", "warns.p4"]).stdout).unwrap();
    let verdict =
        "warns.p4: program `warns`: 2 headers, 2 tables, 4 actions, 1 register; no errors, 1 warning\n";
    assert_eq!(said, format!("{WARNING}\n{verdict}"));
}

/// A contest; `TOP` stands for more of its first lines, `WORKLOAD` and `PROGRAM` for lines of these tables.
const CONTEST: &str = "topology = \"leaf-spine:leaves=2,spines=2,hosts=2\"
TOP
[hosts]
cable = \"500ns\"
recovery = \"go-back-n\"
[workload]
load = 10
time = \"10us\"
WORKLOAD
[[program]]
PROGRAM
";

#[test]
fn an_error_in_a_file_that_a_toml_names_has_the_line() {
    let dir = folder("named");
    let sizes = "sizes = \"web-search\"";
    let contest = |top: &str, workload: &str, program: &str| {
        CONTEST.replace("TOP", top).replace("WORKLOAD", workload).replace("PROGRAM", program)
    };
    let no_file = |name: &str| format!("cannot read {name}: there is no such file");
    let cases = [
        (
            contest("", sizes, "name = \"ecmp\"\n[[program]]\nfile = \"own.p4\""),
            "c.toml:13: file `own.p4` is not found".to_owned(),
        ),
        (contest("", sizes, "file = \"own.sluice\""), format!("c.toml:11: {}", no_file("own.sluice"))),
        (
            contest("", sizes, "label = \"x\"\nroles = { leaf = \"own.sluice\" }"),
            format!("c.toml:12: {}", no_file("own.sluice")),
        ),
        (
            contest("chip = \"own.toml\"", sizes, "name = \"ecmp\""),
            format!("c.toml:2: {}", no_file("own.toml")),
        ),
        (
            contest("buffer = \"b.toml\"", sizes, "name = \"ecmp\""),
            format!("c.toml:2: {}", no_file("b.toml")),
        ),
        (
            contest("", sizes, "name = \"ecmp\"\nbuffer = \"b.toml\""),
            format!("c.toml:12: {}", no_file("b.toml")),
        ),
        (
            contest("", sizes, "name = \"ecmp\"\nentries = \"e.toml\""),
            format!("c.toml:12: {}", no_file("e.toml")),
        ),
        (
            contest("", sizes, "name = \"ecmp\"\nentries = \"{switch}.toml\""),
            format!("c.toml:12: {}", no_file("leaf0.toml")),
        ),
        (
            contest("", sizes, "name = \"ecmp\"").replace("leaf-spine:leaves=2,spines=2,hosts=2", "t.toml"),
            format!("c.toml:1: {}", no_file("t.toml")),
        ),
        (
            contest("[[schedule]]\nfile = \"s.txt\"", sizes, "name = \"ecmp\""),
            format!("c.toml: line 2: {}", no_file("s.txt")),
        ),
        (
            contest("", "sizes = \"s.cdf\"", "name = \"ecmp\""),
            format!("c.toml: line 9: workload.sizes: {}", no_file("s.cdf")),
        ),
        (
            contest("[sweep]\nbuffer = [\"chip\", \"b.toml\"]", sizes, "name = \"ecmp\""),
            format!("c.toml:3: {}", no_file("b.toml")),
        ),
    ];
    for (file, expected) in cases {
        fs::write(dir.path().join("c.toml"), &file).unwrap();
        let said = mistake(dir.path(), &["run", "c.toml"]);
        assert!(said.starts_with(&format!("error: {expected}")), "{expected}\n{said}\n{file}");
    }
}

#[test]
fn mistakes_in_a_program_that_a_contest_names_say_so_at_their_end() {
    let dir = folder("named");
    let file = CONTEST
        .replace("TOP", "")
        .replace("WORKLOAD", "sizes = \"web-search\"")
        .replace("PROGRAM", "file = \"own.p4\"");
    fs::write(dir.path().join("c.toml"), file).unwrap();
    fs::write(dir.path().join("own.p4"), "const bit<8> A = ;\n").unwrap();
    let said = mistake(dir.path(), &["run", "c.toml"]);
    assert!(
        said.contains("\n --> own.p4:1:18\n") && said.ends_with("\n  --> c.toml:11  names the file\n"),
        "{said}"
    );
}

#[test]
fn scenarios_packet_tests_and_topologies_say_the_line_of_a_name() {
    let dir = folder("named");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write(
        "s.toml",
        "[device]\nprofiles = [\"th\",\n  \"b.toml\"]\n[[scenario]]\nid = \"x\"\ntitle = \"y\"\nsource = \"z\"\nsteps = \
         [{ block = 31 }, { expect = { what = \"drops\", is = 0 } }]\n",
    );
    let said = String::from_utf8(run(dir.path(), &["run", "s.toml"]).stdout).unwrap();
    assert!(said.contains("s.toml: line 3: cannot read b.toml: there is no such file; "), "{said}");

    let step = "[[step]]\nsend = { port = 0, hex = \"00\" }\nexpect = []\n";
    for (head, expected) in [
        ("program = \"own.sluice\"", "t.toml:1: cannot read own.sluice: there is no such file"),
        ("program = \"ecmp\"\nentries = \"e.toml\"", "t.toml:2: cannot read e.toml: there is no such file"),
        ("program = \"ecmp\"\nchip = \"own.toml\"", "t.toml:2: cannot read own.toml: there is no such file"),
        (
            "program = \"ecmp\"\n[[step]]\nsend = { port = 0, pcap = \"a.pcap\" }",
            "t.toml:3:27: a.pcap: there is no such file",
        ),
    ] {
        write("t.toml", &format!("{head}\n{step}"));
        let out = run(dir.path(), &["test", "t.toml"]);
        let said = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
        assert!(
            said.contains(&format!("  {expected}\n")) || said.starts_with(&format!("error: {expected}\n")),
            "{expected}:\n{said}"
        );
    }

    let topology = |switch: &str| {
        format!(
            "name = \"pair\"\n[[switch]]\nname = \"leaf0\"\nhosts = 1\n[[switch]]\nname = \"leaf1\"\nhosts = 1\n{switch}\n[[cable]]\nbetween = \
             [\"leaf0\", \"leaf1\"]\n"
        )
    };
    for (switch, expected) in [
        ("program = \"own.sluice\"", "t.toml:8: cannot read own.sluice: there is no such file"),
        ("entries = \"e.toml\"", "switch `leaf1`: t.toml:8: cannot read e.toml: there is no such file"),
        ("buffer = \"b.toml\"", "switch `leaf1`: t.toml:8: cannot read b.toml: there is no such file"),
    ] {
        write("t.toml", &topology(switch));
        let said = mistake(dir.path(), &["replay", "l3-ecmp", "--topology", "t.toml"]);
        assert!(said.starts_with(&format!("error: {expected}\n")), "{said}");
    }
}

/// Returns the commands that an output proposes.
fn commands(said: &str) -> Vec<String> {
    let lines = said.lines().map(str::trim_start);
    let lines = lines.map(|line| line.strip_prefix("replay: ").unwrap_or(line));
    let own = lines.filter(|line| line.starts_with("sluice ") && !line.contains(" WORD"));
    // What a command does may follow it.
    own.map(|line| line.split("  ").next().unwrap_or(line).to_owned()).collect()
}

/// Returns the files of a folder with their contents.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

/// Every command that an output proposes runs in the folder where it is printed, and changes no file that was there.
#[test]
fn proposed_commands_run_where_they_are_printed_and_overwrite_nothing() {
    let dir = folder("next");
    let binaries = cargo_bin("sluice").parent().unwrap().to_owned();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let shell = |line: &str| {
        Command::new("sh").args(["-c", line]).env("PATH", &path).current_dir(dir.path()).output().unwrap()
    };
    // A mistake in entries, as in docs/fuzz.md: packets with a hop limit of 255 recirculate until it is used up.
    let entries = ok(&["entries", "l3-ecmp"]).replace("port = 136,", "port = 6,");
    fs::write(dir.path().join("loop.toml"), entries).unwrap();
    fs::write(dir.path().join("l3-ecmp.html"), "a page of the user's").unwrap();
    let mut proposed = 0;
    for line in [
        "new mine --text",
        "replay l3-ecmp --limit 20 --html wd.html --timeline t.csv --drops d.pcapng --max-text 1M",
        "--max placing-steps=1G replay l3-ecmp --limit 20 -o out --comments",
        "replay l3-ecmp --limit 20",
        "report mine.sluice --html mine.html --dot mine.dot",
        "report l3-ecmp --set ipv4_routes=1k -o rep",
        "fuzz l3-ecmp --entries loop.toml --cases 32 -o 'my found'",
    ] {
        let out = shell(&format!("sluice {line}"));
        let said = String::from_utf8(out.stdout).unwrap();
        let list = commands(&said);
        assert!(!list.is_empty(), "{line}: {said}");
        for command in list {
            let before = files(dir.path());
            let out = shell(&command);
            let code = if command.contains("my found") { 1 } else { 0 };
            assert_eq!(out.status.code(), Some(code), "{command}: {}", String::from_utf8_lossy(&out.stderr));
            let after = files(dir.path());
            let changed: Vec<_> = before
                .iter()
                .filter(|(path, text)| after.get(*path) != Some(text))
                .map(|(path, _)| path)
                .collect();
            assert!(changed.is_empty(), "{command} changed {changed:?}");
            proposed += 1;
        }
    }
    assert_eq!(proposed, 4 + 3 + 2 + 3 + 2 + 2 + 1);
}
