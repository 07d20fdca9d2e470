//! `sluice check` of P4 programs.

use super::support::{folder, ok, refused, sluice, text};
use serde_json::Value;
use std::fs;

/// A program that forwards every frame to a port, with `FIELD` written in the action.
const PROGRAM: &str = r#"#include <core.p4>
#include <tna.p4>
#include "ports.p4"
header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
struct headers_t { ethernet_h ethernet; }
struct meta_t {}
parser P(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); pkt.extract(hdr.ethernet); transition accept; }
}
control C(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    action send(PortId_t port) { tm.FIELD = port; }
    table all { key = { hdr.ethernet.dst : exact; } actions = { send; } const default_action = send(PORT); }
    apply { all.apply(); }
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

#[test]
fn a_program_is_checked_with_its_includes_and_macros() {
    let dir = folder("p4");
    fs::write(dir.path().join("leaf.p4"), PROGRAM).unwrap();
    let leaf = dir.path().join("leaf.p4");
    let (code, said) = refused(&["check", text(&leaf)]);
    assert_eq!(code, 2);
    assert!(said.contains("`ports.p4` is not found") && said.contains("leaf.p4:3:"), "{said}");
    fs::create_dir(dir.path().join("inc")).unwrap();
    fs::write(dir.path().join("inc/ports.p4"), "#ifndef PORT\n#error no port\n#endif\n").unwrap();
    let inc = dir.path().join("inc");
    let base = ["check", text(&leaf), "-I", text(&inc)];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let (_, said) = refused(&with(&["-D", "FIELD=ucast_egress_port"]));
    assert!(said.contains("no port") && said.contains("ports.p4:2:"), "{said}");
    let defined = ["-D", "FIELD=ucast_egress_port", "-D", "PORT=8"];
    for chip in ["tofino", "tofino2"] {
        let said = ok(&with(&[&defined[..], &["--chip", chip]].concat()));
        assert!(
            said.contains("program `leaf`: 2 headers, 1 table, 1 action, 0 registers; no mistakes"),
            "{said}"
        );
    }
    let (_, said) = refused(&with(&["-D", "FIELD=ucast_egress_prt", "-D", "PORT=8"]));
    assert!(said.contains("ucast_egress_prt") && said.contains("ucast_egress_port"), "{said}");
    let said = ok(&with(&[&defined[..], &["--place"]].concat()));
    assert!(said.ends_with("fits tofino2: 1 of 20 stages\n"), "{said}");
    let (_, said) = refused(&with(&[&defined[..], &["--set", "size=3"]].concat()));
    assert!(said.contains("--set size: a P4 program has no parameters"), "{said}");
    let out = sluice(&with(&["-D", "FIELD=mtu", "-D", "PORT=8", "--json"]));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), &found["ok"]), (Some(2), &Value::Bool(false)));
    let first = &found["findings"][0];
    assert_eq!((first["severity"].as_str(), first["line"].as_u64()), (Some("error"), Some(13)), "{first}");
}

/// Shipped programs whose P4 is placed here; a test of `sluice-programs` lowers all of them.
const PLACED: [&str; 3] = ["l3-ecmp", "conga", "pfc"];

#[test]
fn a_program_of_the_other_chip_is_told_apart() {
    let dir = folder("p4-chip");
    let file = dir.path().join("leaf.p4");
    // A mirror session has 10 bits on Tofino and 8 on Tofino 2.
    let session = "header copied_h { bit<8> a; }
control D(packet_out pkt, inout headers_t hdr, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply { if (dprsr.mirror_type == 1) { mirror.emit<copied_h>(m.session, {m.a}); } pkt.emit(hdr); } }
parser EP";
    let from = PROGRAM.find("control D(").unwrap();
    let to = PROGRAM.find("parser EP").unwrap();
    let program = format!("{}{}{}", &PROGRAM[..from], session, &PROGRAM[to + "parser EP".len()..])
        .replace("#include \"ports.p4\"\n", "")
        .replace("struct meta_t {}", "struct meta_t { MirrorId_t session; bit<8> a; }")
        .replace("FIELD", "ucast_egress_port")
        .replace("PORT)", "8)");
    fs::write(&file, program.replace("MirrorId_t", "bit<10>")).unwrap();
    ok(&["check", text(&file), "--chip", "tofino"]);
    let (code, said) = refused(&["check", text(&file), "--chip", "tofino2"]);
    assert_eq!(code, 2);
    assert!(said.contains("the program has no mistakes on tofino: give --chip tofino"), "{said}");
    // With mistakes on both chips, another chip is no remedy.
    fs::write(&file, program.replace("MirrorId_t", "bit<11>")).unwrap();
    let (_, said) = refused(&["check", text(&file)]);
    assert!(!said.contains("the program has no mistakes on"), "{said}");
}

#[test]
fn shipped_programs_are_written_as_p4_that_is_checked_and_fits() {
    let dir = folder("p4");
    for name in PLACED {
        let written = ok(&["programs", name, "--p4"]);
        let file = dir.path().join(format!("{name}.p4"));
        fs::write(&file, &written).unwrap();
        let said = ok(&["check", "--place", text(&file)]);
        let is_legal = said.contains("; no mistakes\n") || said.contains("; no errors, ");
        assert!(is_legal && said.contains("fits tofino2: "), "{name}: {said}");
    }
    let set = ok(&["programs", "l3-ecmp", "--p4", "--set", "neighbors=77"]);
    assert!(set.contains("neighbors=77") && set.contains("size = 77;"), "{set}");
}

#[test]
fn a_program_without_a_form_in_p4_is_refused_by_name() {
    let dir = folder("p4");
    let file = dir.path().join("masked.sluice");
    let ir = ok(&["programs", "ecn-mark", "--ir"]);
    let masked = ir.replace("m.draw = and(m.draw, mask);", "set_masked(m.draw, 32w7, mask);");
    assert_ne!(ir, masked);
    fs::write(&file, masked).unwrap();
    let (code, said) = refused(&["programs", text(&file), "--p4"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("action `cut`: a write under a mask") && said.contains("--ir"), "{said}");
}

/// The program of [`PROGRAM`] sends every frame to dev_port 8, which is front-panel port 0 of both chips.
#[test]
fn a_program_is_replayed() {
    let dir = folder("p4");
    let leaf = dir.path().join("leaf.p4");
    fs::write(&leaf, PROGRAM.replace("#include \"ports.p4\"\n", "")).unwrap();
    for engine in ["fast", "reference"] {
        let run = [
            "replay",
            text(&leaf),
            "-D",
            "FIELD=ucast_egress_port",
            "-D",
            "PORT=8",
            "--engine",
            engine,
            "--json",
        ];
        let summary: Value = serde_json::from_str(&ok(&run)).unwrap();
        let packets = &summary["packets"];
        assert!(packets["in"].as_u64().unwrap() > 0, "{summary}");
        assert_eq!((&packets["out"], packets["dropped"].as_u64()), (&packets["in"], Some(0)), "{packets}");
    }
}

/// The router of the handbook's page on networks, which has routes in the file beside it.
fn router() -> (String, String) {
    let page = include_str!("../../../docs/p4-networks.md");
    let block = |mark: &str| {
        let rest = page.split(&format!("<!-- file: {mark} -->\n")).nth(1).unwrap();
        let text = rest.split("```").nth(1).unwrap();
        text.split_once('\n').unwrap().1.to_owned()
    };
    (block("l3.p4"), block("l3.p4.sluice"))
}

#[test]
fn options_of_other_compilers_are_understood() {
    let dir = folder("p4");
    let (leaf, first) = (dir.path().join("leaf.p4"), dir.path().join("first.h"));
    fs::write(&leaf, PROGRAM.replace("#include \"ports.p4\"\n", "")).unwrap();
    fs::write(&first, "#define FIELD ucast_egress_port\n").unwrap();
    let base = ["check", text(&leaf), "-include", text(&first), "-D", "PORT=8", "--place"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let said = ok(&with(&["--target", "tofino", "--arch", "tna"]));
    assert!(said.contains("fits tofino: "), "{said}");
    assert!(ok(&with(&["--arch", "t2na"])).contains("fits tofino2: "));
    let (code, said) = refused(&with(&["--target", "tofino", "--arch", "t2na"]));
    assert!(code == 2 && said.contains("--arch t2na: the architecture of tofino is tna"), "{said}");
    let (code, said) = refused(&with(&["--arch", "v1model"]));
    assert!(
        code == 2 && said.contains("--arch v1model: Sluice reads P4 programs for tna and t2na"),
        "{said}"
    );
    // Every command that takes a program takes the options.
    for command in ["report", "replay", "entries", "programs"] {
        let said = ok(&[command, text(&leaf), "-D", "FIELD=ucast_egress_port", "-D", "PORT=8"]);
        assert!(!said.is_empty(), "{command}");
    }
}

#[test]
fn routes_of_a_network_fill_the_tables_that_the_file_beside_a_program_names() {
    let dir = folder("p4");
    let (program, beside) = router();
    let file = dir.path().join("l3.p4");
    fs::write(&file, &program).unwrap();
    let frames = dir.path().join("hosts.pcap");
    ok(&["gen", "udp", "--packets", "40", "--src", "10.0.0.1", "--dst", "10.0.1.1", "-o", text(&frames)]);
    let input = format!("leaf0:0@{}", frames.display());
    let run = || -> Value {
        let run = ["replay", text(&file), "--topology", "two-tor", "-i", &input, "--json"];
        serde_json::from_str(&ok(&run)).unwrap()
    };
    assert_eq!(run()["packets"]["out"], 0);
    let declarations = dir.path().join("l3.p4.sluice");
    fs::write(&declarations, &beside).unwrap();
    assert_eq!(run()["packets"]["out"], 40);
    // The entries of a switch's place can be written, and given for one switch.
    let written = dir.path().join("entries");
    ok(&["entries", text(&file), "--topology", "two-tor", "-o", text(&written)]);
    fs::remove_file(&declarations).unwrap();
    let of_folder = ["replay", text(&file), "--topology", "two-tor", "-i", &input, "--json", "--entries"];
    let summary: Value = serde_json::from_str(&ok(&[&of_folder[..], &[text(&written)]].concat())).unwrap();
    assert_eq!(summary["packets"]["out"], 40);
    // Mistakes have their line in the file beside the program.
    for (text_of, said) in [
        (beside.replace("Ingress.route", "Ingress.routes"), "did you mean `Ingress.route`?"),
        (beside.replace("sluice 1;\n", ""), "does not state the version"),
        (format!("{beside}program other;\n"), "declare a program themselves"),
        (beside.replace("(port)", "(port, 1)"), "has 1 parameters, not 2"),
    ] {
        fs::write(&declarations, &text_of).unwrap();
        let (code, message) = refused(&["replay", text(&file)]);
        assert!(
            code == 2 && message.contains(said) && message.contains("l3.p4.sluice:"),
            "{said}: {message}"
        );
    }
}

#[test]
fn a_story_says_at_which_line_of_a_program_its_packets_end() {
    let dir = folder("p4");
    let (program, beside) = router();
    let forward = "{ ig_tm_md.ucast_egress_port = port; }";
    let program = program
        .replace(forward, "{ ig_tm_md.ucast_egress_port = port; hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }")
        .replace(
            "    action drop() {",
            "    action expire() { ig_dprsr_md.drop_ctl = 1; }\n    action drop() {",
        )
        .replace("{ route.apply(); }", "{ if (hdr.ipv4.ttl < 2) { expire(); } else { route.apply(); } }");
    let line = 1 + program.lines().position(|l| l.contains("action expire()")).unwrap();
    let file = dir.path().join("l3.p4");
    fs::write(&file, program).unwrap();
    fs::write(dir.path().join("l3.p4.sluice"), beside).unwrap();
    let frames = dir.path().join("hosts.pcap");
    let gen_roce =
        ["gen", "roce", "--flows", "1", "--src", "10.0.0.1", "--dst", "10.0.1.1", "--sport", "5000"];
    let (input, flow) = (format!("leaf0:0@{}", frames.display()), "10.0.0.1:5000-10.0.1.1");
    let replay = ["replay", text(&file), "--topology", "two-tor", "-i", &input, "--story", flow];
    let story = |ttl: &str| {
        ok(&[&gen_roce[..], &["--packets", "3", "--ttl", ttl, "-o", text(&frames)]].concat());
        ok(&replay)
    };
    let columns = |story: &str| -> Vec<String> {
        story.lines().nth(2).unwrap().split_whitespace().map(str::to_owned).collect()
    };
    // Leaf, spine and leaf take one from the TTL each, and need at least two.
    let arrived = story("4");
    let ends = columns(&arrived);
    assert_eq!((ends[1].as_str(), ends[3].as_str()), ("leaf0", "leaf1"), "{arrived}");
    assert!(!arrived.contains("dropped"), "{arrived}");
    let expired = story("3");
    assert_eq!(columns(&expired), ends, "{expired}");
    let place = format!("dropped: l3.p4:{line} ig_dprsr_md.drop_ctl = 1");
    assert!(expired.contains(&place), "{place}: {expired}");
    // Other flows have no story.
    ok(&["gen", "udp", "--packets", "3", "--src", "10.0.0.1", "--dst", "10.0.1.1", "-o", text(&frames)]);
    let (code, said) = refused(&replay);
    assert!(code == 2 && said.contains("no RoCEv2 flow came"), "{said}");
}

#[test]
fn reports_list_what_the_program_ignores() {
    let dir = folder("p4");
    let file = dir.path().join("l3.p4");
    fs::write(&file, router().0.replace("    table route {", "    @own_mark(1)\n    table route {")).unwrap();
    let said = ok(&["report", text(&file)]);
    assert!(said.contains("\napproximated or ignored\n  ") && said.contains(": `@own_mark`: "), "{said}");
    let report: Value = serde_json::from_str(&ok(&["report", text(&file), "--json"])).unwrap();
    let (note, line) =
        (&report["notes"][0], router().0.lines().position(|line| line.contains("table route")));
    assert_eq!((note["line"].as_u64(), &note["what"]), (line.map(|at| at as u64 + 1), &"`@own_mark`".into()));
    let page = dir.path().join("report.html");
    ok(&["report", text(&file), "--html", text(&page)]);
    assert!(fs::read_to_string(&page).unwrap().contains("Approximated or ignored"));
}

#[test]
fn a_program_that_does_not_fit_is_shown_at_its_lines() {
    let dir = folder("p4");
    let file = dir.path().join("l3.p4");
    let keys: String = (0..9).map(|n| format!("md.wide{n} : exact; ")).collect();
    let fields: String = (0..9).map(|n| format!("bit<128> wide{n}; ")).collect();
    let wide = router().0.replace("hdr.ipv4.dst : lpm;", &format!("hdr.ipv4.dst : lpm; {keys}"));
    fs::write(&file, wide.replace("bit<32> ports; }", &format!("bit<32> ports; {fields}}}"))).unwrap();
    let out = sluice(&["check", "--place", text(&file)]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("    table route {\n"), "{said}");
    assert!(said.contains("          ^^^^^"), "{said}");
}

#[test]
fn a_program_gets_the_same_answer_as_p4_and_as_sluice() {
    let dir = folder("p4");
    for (routes, fits) in [("1000", true), ("400000", false)] {
        let answer = |form: &str, file: &str, place: &[&str]| {
            let file = dir.path().join(file);
            let set = format!("ipv4_routes={routes}");
            fs::write(&file, ok(&["programs", "l3-ecmp", form, "--set", &set])).unwrap();
            let out = sluice(&[&["check", text(&file), "--json"], place].concat());
            let value: Value = serde_json::from_slice(&out.stdout).unwrap();
            // Tables of a P4 program have the name of their control in front.
            let reason = value["reason"].as_str().map(|reason| reason.replace("Ingress.", ""));
            (out.status.code(), ["ok", "fits", "program"].map(|key| value[key].clone()), reason)
        };
        let both = |place: &[&str]| {
            let found = answer("--p4", "l3-ecmp.p4", place);
            assert_eq!(found, answer("--ir", "l3-ecmp.sluice", place), "{routes}");
            found
        };
        let (code, answers, reason) = both(&["--place"]);
        assert_eq!((code, reason.is_none()), (Some(i32::from(!fits)), fits), "{routes}");
        assert_eq!(answers, [Value::from(fits), fits.into(), "l3-ecmp".into()], "{routes}");
        let (code, answers, _) = both(&[]);
        assert_eq!((code, answers), (Some(0), [true.into(), Value::Null, "l3-ecmp".into()]), "{routes}");
    }
}

#[test]
fn a_crate_is_written_around_a_program_and_its_files() {
    let dir = folder("p4_crate");
    fs::create_dir_all(dir.path().join("src/common")).unwrap();
    let (program, beside) = router();
    let program =
        format!("#include \"common/size.p4\"\n#include <extra.p4>\n{}", program.replace("1024", "SIZE"));
    fs::write(dir.path().join("src/l3.p4"), program).unwrap();
    fs::write(dir.path().join("src/l3.p4.sluice"), &beside).unwrap();
    fs::write(dir.path().join("src/common/size.p4"), "#ifndef SIZE\n#error no size\n#endif\n").unwrap();
    fs::create_dir(dir.path().join("inc")).unwrap();
    fs::write(dir.path().join("inc/extra.p4"), "// nothing\n").unwrap();
    let new = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("sluice").unwrap();
        command
            .current_dir(dir.path())
            .args(["new", "--from", "src/l3.p4", "-I", "inc"])
            .args(args)
            .output()
            .unwrap()
    };
    let out = new(&["router"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(2) && said.contains("no size"), "{said}");
    assert!(!dir.path().join("router").exists(), "a refused program leaves nothing");
    let out = new(&["router", "-D", "SIZE=512", "--chip", "tofino"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(String::from_utf8_lossy(&out.stdout).contains("-- replay router --chip tofino"));
    let own = |file: &str| fs::read_to_string(dir.path().join("router").join(file)).unwrap();
    assert_eq!(own("p4/src/l3.p4.sluice"), beside);
    assert!(own("p4/src/common/size.p4").contains("no size") && own("p4/inc/extra.p4").contains("nothing"));
    let options = "options: &[\"--chip\", \"tofino\", \"-I\", \"p4/inc\", \"-D\", \"SIZE=512\"],";
    assert!(own("src/program.rs").contains(options), "{}", own("src/program.rs"));
    assert!(
        own("src/program.rs").contains("file: \"p4/src/l3.p4\"")
            && own("Cargo.toml").contains("name = \"router\"")
    );
    // The copy is whole.
    let copy = dir.path().join("router/p4/src/l3.p4");
    let inc = dir.path().join("router/p4/inc");
    assert!(ok(&["check", text(&copy), "-I", text(&inc), "-D", "SIZE=512"]).contains("no mistakes"));
}

/// Wrong texts have one message that says where and what, and exit code 2.
#[test]
fn bad_input_has_a_message_with_its_place() {
    let dir = folder("p4_bad");
    let (program, _) = router();
    let with = |old: &str, new: &str| {
        assert!(program.contains(old), "{old}");
        program.replacen(old, new, 1)
    };
    let deep = format!("size = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let cases: [(&str, String, &str, &str); 17] = [
        (
            "cut",
            program[..program.find("action forward").unwrap() + 7].to_owned(),
            "the end of the program",
            ":36:",
        ),
        ("cut_directive", "#include <".to_owned(), "`#include` has no file name", ":1:1"),
        ("comment", with("control Ingress(", "/* control Ingress("), "does not end", ":27:1"),
        ("include", "#include \"include.p4\"\n".to_owned(), "64 files include each other", "include.p4:1:1"),
        (
            "macro",
            format!("#define A B\n#define B A\n{}", with("1024", "A")),
            "`A` is not declared",
            ":47:16",
        ),
        ("parentheses", with("size = 1024", &deep), "more than 256 parentheses", ":45:"),
        (
            "zero",
            with("bit<8> tos", "int<0> tos"),
            "the width of `int<W>` is 0; it must be from 1 to 2048",
            ":6:29",
        ),
        ("wide", with("bit<8> tos", "bit<1000000000> tos"), "the width of `bit<W>` is 1000000000", ":6:29"),
        ("twice", with("bit<8> tos", "bit<8> ttl"), "`ttl` is declared twice", ":7:"),
        (
            "type_twice",
            with("struct metadata_t", "struct headers_t {}\nstruct metadata_t"),
            "declared twice",
            ":10:8",
        ),
        ("v1model", with("tna.p4", "v1model.p4"), "is for the architecture v1model", ":2:1"),
        ("psa", with("tna.p4", "psa.p4"), "is for the architecture PSA", ":2:1"),
        ("p4_14", "header_type h { fields { a : 8; } }\n".to_owned(), "`header_type` is P4_14", ":1:1"),
        ("chip", with("tna.p4", "t2na.p4"), "choose the chip tofino2", "chip.p4:2:1"),
        ("chip_field", with("drop_ctl", "adv_flow_ctl"), "only Tofino 2 has it", ":35:"),
        ("empty", String::new(), "the program declares nothing", "ends with `Switch(pipe) main;`"),
        ("binary", "\n\0".to_owned(), "the file is not text: line 2 has a zero byte", "binary.p4"),
    ];
    for (name, program, what, place) in cases {
        let file = dir.path().join(format!("{name}.p4"));
        fs::write(&file, program).unwrap();
        let (code, said) = refused(&["check", "--chip", "tofino", text(&file)]);
        assert_eq!(code, 2, "{name}: {said}");
        assert!(said.contains(what) && said.contains(place), "{name}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{name}: {said}");
    }
    // Independent mistakes are found in one run.
    let many =
        with("md.ports = 0", "md.port = 0").replace("isValid()", "isvalid()").replace(": lpm", ": lmp");
    let file = dir.path().join("many.p4");
    fs::write(&file, many).unwrap();
    let (_, said) = refused(&["check", text(&file)]);
    assert_eq!(said.matches("error: ").count(), 3, "{said}");
}

/// `PROGRAM` with statements and a condition in the control, and an action that takes two stages.
fn with_statements() -> String {
    let more = "table all { key = { hdr.ethernet.dst : exact; } actions = { send; join; NoAction; } size = 8; }
    action join(bit<16> by) { hdr.ethernet.ether_type = (hdr.ethernet.ether_type + by) ^ hdr.ethernet.src[15:0]; }
    apply {
        all.apply();
        if (hdr.ethernet.dst[15:0] == 7) { tm.ucast_egress_port = 9; }
    }";
    let start = PROGRAM.find("table all").unwrap();
    let end =
        start + PROGRAM[start..].find("apply { all.apply(); }").unwrap() + "apply { all.apply(); }".len();
    let text = format!("{}{more}{}", &PROGRAM[..start], &PROGRAM[end..]);
    let text = text.replace("#include \"ports.p4\"\n", "").replace("FIELD", "ucast_egress_port");
    // An action is declared before the table that lists it.
    let join = text.lines().find(|line| line.contains("action join")).unwrap().to_owned();
    text.replace(&format!("{join}\n"), "").replace("    table all", &format!("{join}\n    table all"))
}

#[test]
fn outputs_speak_of_the_authors_lines() {
    let dir = folder("p4-words");
    let leaf = dir.path().join("leaf.p4");
    fs::write(&leaf, with_statements()).unwrap();
    let report = ok(&["report", text(&leaf), "--full"]);
    for said in [
        "leaf.p4:17 if (hdr.ethernet.dst[15:0] == 7) (",
        "leaf.p4:13 C.join: hdr.ethernet.ether_type = ",
        "\n  if (hdr.ethernet.dst[15:0] == 7)  ",
        "leaf.p4:13: action `C.join` needs several stages: from here on, tables after the one that runs the action do it",
    ] {
        assert!(report.contains(said), "{said}\n{report}");
    }
    for name in ["ingress_l", "cond-"] {
        assert!(!report.contains(name), "{name}\n{report}");
    }
    let hunt = dir.path().join("hunt");
    let found = sluice(&["fuzz", text(&leaf), "--cases", "1", "-o", text(&hunt)]);
    let coverage = String::from_utf8(found.stdout).unwrap();
    let point = "uncovered: branches: ingress if (ethernet.dst[15:0] == 0x7) is true [leaf.p4:17]";
    assert!(coverage.contains(point), "{coverage}");
    let statement = "uncovered: actions: ingress leaf.p4:17 tm.ucast_egress_port = 9";
    assert!(coverage.contains(statement), "{coverage}");
}

#[test]
fn an_action_of_two_gresses_has_one_name_in_entries() {
    let dir = folder("p4-no-action");
    let leaf = dir.path().join("leaf.p4");
    let egress = "table last { key = { eg.egress_port : exact; } actions = { NoAction; } size = 8; } apply { last.apply(); } }";
    let program = with_statements().replace("apply {} }", egress);
    fs::write(&leaf, program).unwrap();
    let entries = dir.path().join("entries.toml");
    let entry = |table: &str, key: &str| {
        format!("[[table.\"{table}\"]]\nkey = {{ {key} = 3 }}\naction = \"NoAction\"\n")
    };
    fs::write(&entries, entry("C.all", "dst") + &entry("EC.last", "egress_port")).unwrap();
    ok(&["entries", text(&leaf), "--check", text(&entries)]);
}

#[test]
fn a_report_has_the_lines_of_registers_and_fields() {
    let dir = folder("p4-lines");
    let source = PROGRAM
        .replace("#include \"ports.p4\"\n", "")
        .replace("FIELD", "ucast_egress_port")
        .replace("PORT)", "8)");
    // The register and its use are in the lines after that of the action.
    let source = source.replace(
        "    table all {",
        "    Register<bit<32>, bit<1>>(2) last;\n    RegisterAction<bit<32>, bit<1>, bit<32>>(last) keep = {\n        \
         void apply(inout bit<32> value) { value = hdr.ethernet.src[31:0]; } };\n    table all {",
    );
    let source = source.replace("all.apply(); }", "all.apply(); keep.execute(0); }");
    let line = |part: &str| 1 + source.lines().position(|line| line.contains(part)).unwrap();
    let (leaf, page) = (dir.path().join("leaf.p4"), dir.path().join("page.html"));
    fs::write(&leaf, &source).unwrap();
    let report = crate::support::json(&["--json", "report", text(&leaf), "--html", text(&page)]);
    let register = &report["arrays"][0];
    assert_eq!(register["line"], line("Register<bit<32>, bit<1>>(2)"), "{register}");
    assert!(register["file"].as_str().unwrap().ends_with("leaf.p4"));
    let page = fs::read_to_string(page).unwrap();
    let fields = page.split("<section id=\"fields\"").nth(1).unwrap();
    let field = fields.split("ethernet.src").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(field.contains(&format!("leaf.p4:{}", line("header ethernet_h"))), "{field}");
}
