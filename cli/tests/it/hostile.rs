//! Hostile inputs: files that would not end, escape sequences, files of others. Names are in `hostile_names`.

use crate::support::*;

#[test]
fn names_in_a_topology_are_refused_with_a_remedy() {
    let dir = folder("hostile-topology");
    let topology = dir.path().join("t.toml");
    std::fs::write(&topology, "name = \"t\"\n[[switch]]\nname = \"../../evil\"\nhosts = 1\n").unwrap();
    let out = dir.path().join("out");
    let (code, said) = refused(&["entries", "ecmp", "--topology", text(&topology), "-o", text(&out)]);
    assert_eq!(code, 2);
    assert!(said.contains("`../../evil.toml` cannot name a file in"), "{said}");
}

#[test]
fn files_of_others_are_neither_replaced_nor_removed() {
    let dir = folder("manifest");
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("thesis.tex"), "mine").unwrap();
    let manifest = "{\"schema\":\"sluice.manifest/1\",\"files\":[{\"file\":\"thesis.tex\"}]}";
    std::fs::write(out.join("manifest.json"), manifest).unwrap();
    ok(&["report", "ecmp", "-o", text(&out)]);
    assert_eq!(std::fs::read_to_string(out.join("thesis.tex")).unwrap(), "mine");
    // Its own files it writes again.
    ok(&["report", "ecmp", "-o", text(&out)]);
    std::fs::write(out.join("report.json"), "mine too").unwrap();
    let (code, said) = refused(&["report", "ecmp", "-q", "-o", text(&out)]);
    assert!(code == 2 && said.contains("report.json was changed since Sluice wrote it"), "{said}");
    assert_eq!(std::fs::read_to_string(out.join("report.json")).unwrap(), "mine too");
    // A manifest of somebody else stays too.
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("manifest.json"), "{\"name\": \"a web page\"}").unwrap();
    let (_, said) = refused(&["report", "ecmp", "-q", "-o", text(&other)]);
    assert!(said.contains("manifest.json is not of Sluice"), "{said}");
    let left: Vec<_> = std::fs::read_dir(&other).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["manifest.json"]);
}

#[test]
fn files_of_dead_runs_are_removed_and_those_of_others_stay() {
    let dir = folder("dead");
    std::fs::write(dir.path().join(".sluice-abcdef.tmp"), "half").unwrap();
    std::fs::write(dir.path().join(".tmpmine"), "mine").unwrap();
    let alive = std::fs::File::create(dir.path().join(".sluice-alive.tmp")).unwrap();
    alive.lock().unwrap();
    ok(&["report", "ecmp", "-o", text(dir.path())]);
    let has = |name: &str| dir.path().join(name).exists();
    assert_eq!([has(".sluice-abcdef.tmp"), has(".tmpmine"), has(".sluice-alive.tmp")], [false, true, true]);
}

#[test]
fn escape_sequences_are_shown_and_not_obeyed() {
    let dir = folder("escape");
    let place = |name: &str| text(&dir.path().join(name)).to_owned();
    let bad = "\\u001b]0;x\\u0007\\u001b[2J\\u202e";
    let contest = format!(
        "name = \"{bad}\"\ntopology = \"leaf-spine:leaves=2,spines=2,hosts=2\"\nid = \"{bad}\"\n[hosts]\ncable = \"1us\"\n\
         [workload]\nkind = \"poisson\"\n"
    );
    std::fs::write(place("contest.toml"), contest).unwrap();
    let topology = format!("name = \"{bad}\"\n[[switch]]\nname = \"{bad}\"\nhosts = 1\n");
    std::fs::write(place("topology.toml"), topology).unwrap();
    let scenario = format!(
        "[[scenario]]\nid = \"{bad}\"\nsource = \"s\"\ntitle = \"{bad}\"\ndevice = {{ profiles = [\"a\"] }}\nsteps = [{{ expect = {{ what = \"1\", is = 2 }} }}]\n"
    );
    std::fs::write(place("scenario.toml"), scenario).unwrap();
    let strange = place("a\u{1b}[2J.toml");
    for args in [
        &["run", "--dry-run", &place("contest.toml")][..],
        &["run", "--list", &place("contest.toml")],
        &["run", &place("scenario.toml")],
        &["run", "--markdown", &place("scenario.toml")],
        &["run", &strange],
        &["replay", "l3-ecmp", "--topology", &place("topology.toml")],
        &["polarization", "--topology", &place("topology.toml")],
        &["explain", "a\u{1b}[2J"],
        &["report", "a\u{1b}[2J"],
        &["nonsense\u{1b}[2J"],
    ] {
        let done = sluice(args);
        for said in [done.stdout, done.stderr] {
            let said = String::from_utf8(said).unwrap();
            let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
            assert!(!said.contains(obeyed), "{args:?}: {said:?}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_an_end_are_refused() {
    for args in [
        &["run", "/dev/zero"][..],
        &["replay", "l3-ecmp", "--entries", "/dev/zero"],
        &["replay", "l3-ecmp", "--topology", "/dev/zero"],
        &["replay", "l3-ecmp", "--port-map", "/dev/zero"],
        &["gen", "flows", "/dev/zero", "-o", "/dev/null"],
        &["replay", "l3-ecmp", "--buffer", "/dev/zero.json"],
    ] {
        assert_eq!(sluice(args).status.code(), Some(2), "{args:?}");
    }
    let dir = folder("long");
    let long = dir.path().join("long.toml");
    std::fs::write(&long, "# 0123456789\n".repeat(10)).unwrap();
    let (_, said) = refused(&["run", text(&long), "--max-text", "100"]);
    assert!(said.contains("it has more than 100 bytes; --max-text BYTES raises the limit"), "{said}");
}

/// Returns the path of a file of these tests.
fn own(name: &str) -> String {
    format!("{}/tests/it/hostile/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn programs_that_send_packets_round_for_ever_end() {
    let dir = folder("round");
    let trace = dir.path().join("t.pcap");
    std::fs::write(&trace, pcap(&[(0, udp(1, 64)), (900, udp(2, 64))])).unwrap();
    let program = own("recirculate_forever.p4");
    let input = format!("0@{}", text(&trace));
    let run = ["replay", &program, "--chip", "tofino", "-i", &input, "--max-recirculations", "500", "--json"];
    let summary = json(&run);
    assert_eq!(summary["drops"]["too_many_laps"], 2);
    assert_eq!(summary["recirculated"], 2 * 501);
    let warnings = summary["warnings"].to_string();
    assert!(
        warnings.contains("2 packets went round more than 500 times and were given up (too_many_laps)"),
        "{warnings}"
    );
    assert!(warnings.contains("in line 26") || warnings.contains("egress port is set by `"), "{warnings}");
    let hunt = sluice(&["fuzz", &program, "--chip", "tofino", "--cases", "2", "--json"]);
    assert!(hunt.status.code().unwrap() <= 1, "{}", String::from_utf8_lossy(&hunt.stderr));
}

#[test]
fn each_checksum_object_has_a_sum_of_its_own() {
    let dir = folder("checksums");
    for protocol in ["tcp", "udp"] {
        let trace = dir.path().join(format!("{protocol}.pcap"));
        ok(&["gen", protocol, "--packets", "50", "-o", text(&trace)]);
        let input = format!("0@{}", text(&trace));
        for chip in ["tofino", "tofino2"] {
            let summary = json(&[
                "replay",
                &own("two_checksums.p4"),
                "--chip",
                chip,
                "-i",
                &input,
                "--check",
                "--json",
            ]);
            assert_eq!(summary["violations"].as_array().map(Vec::len), Some(0), "{protocol} {chip}");
            assert_eq!(summary["packets"]["out"], 50, "{protocol} {chip}");
        }
    }
}

#[test]
fn actions_that_call_each_other_twice_have_a_bound() {
    let (code, said) = refused(&["check", &own("actions_doubled.p4"), "--chip", "tofino"]);
    assert!(
        code == 2
            && said.contains("bodies of actions have more than 10000 statements after calls are inlined"),
        "{said}"
    );
}

#[test]
fn files_that_include_each_other_twice_have_a_bound() {
    let dir = folder("includes");
    for level in 0..20 {
        let next = format!("#include \"{}.p4\"\n", level + 1).repeat(2);
        std::fs::write(dir.path().join(format!("{level}.p4")), next).unwrap();
    }
    std::fs::write(dir.path().join("20.p4"), "\n").unwrap();
    let (code, said) = refused(&["check", text(&dir.path().join("0.p4"))]);
    assert!(code == 2 && said.contains("at most 5000"), "{said}");
}

#[test]
fn scenarios_have_a_budget() {
    let dir = folder("budget");
    let path = dir.path().join("s.toml");
    let point = "host = { reaction-point = { form = \"published\", line = \"100Gbps\" } }";
    let device = "device = { profiles = [\"a\"], ports = 4 }";
    let check = "{ expect = { what = \"1\", is = 1 } }";
    for (setting, step) in [
        (point, "{ notify = 1000000000000 }"),
        (point, "{ repeat = { times = 1000000000000, steps = [] } }"),
        (device, "{ repeat = { times = 4000000000, steps = [] } }"),
        (
            device,
            "{ repeat = { times = 400, steps = [{ repeat = { times = 400, steps = [{ wait = \"1ns\" }] } }] } }",
        ),
    ] {
        let scenario = format!(
            "[[scenario]]\nid = \"x\"\nsource = \"s\"\ntitle = \"t\"\n{setting}\nsteps = [{step}, {check}]\n"
        );
        std::fs::write(&path, scenario).unwrap();
        let done = sluice(&["run", text(&path)]);
        let said =
            String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        let most = if setting == point { 20_000_000 } else { 100_000 };
        assert!(
            !done.status.success() && said.contains(&format!("this case has at most {most}")),
            "{step}: {said}"
        );
    }
}

#[test]
fn networks_and_lists_that_ask_for_too_much_are_refused() {
    let dir = folder("much");
    let topology = dir.path().join("t.toml");
    let switches: String = (0..1_025).map(|n| format!("[[switch]]\nname = \"s{n}\"\n")).collect();
    std::fs::write(&topology, format!("name = \"t\"\n{switches}")).unwrap();
    let (code, said) = refused(&["polarization", "--topology", text(&topology)]);
    assert!(code == 2 && said.contains("there are 1025 switches; expected at most 1024"), "{said}");
    let flows = dir.path().join("f.csv");
    std::fs::write(&flows, "src,dst,packets\n10.0.0.1,10.0.0.2,4294967296\n10.0.0.1,10.0.0.2,9000000000\n")
        .unwrap();
    let (code, said) = refused(&["gen", "flows", text(&flows), "-o", text(&dir.path().join("f.pcap"))]);
    assert!(code == 2 && said.contains("f.csv:3:") && said.contains("at most 10000000000"), "{said}");
}
