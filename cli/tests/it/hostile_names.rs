//! Hostile names: whatever an input calls something, files are written below the output folder only, results are not lost, and the
//! terminal gets no control characters.

use crate::support::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns all files below a folder with their contents.
fn below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(below(&path)),
            false => _ = found.insert(path.clone(), std::fs::read(&path).unwrap()),
        }
    }
    found
}

/// A command with input files in which `NAME` stands for a name.
struct Case {
    what: &'static str,
    /// Paths and texts. In `.toml`, `.json` and `.p4` files the name is escaped as in a TOML string.
    files: Vec<(&'static str, String)>,
    /// Arguments, which run in the folder of the files; `OUT` stands for the output folder.
    args: &'static [&'static str],
    /// True if a written file has the name in its own.
    names_a_file: bool,
}

/// Names that nobody but an attacker gives. `ABS` stands for an absolute path, `LONG` for 300 letters.
const HOSTILE: [&str; 9] = [
    "../../evil",
    "ABS",
    "a/../../../../evil",
    "..",
    ".hidden",
    "a\\..\\evil",
    "a\u{1b}[2Jb\u{7}\u{202e}",
    "a\0b",
    "LONG",
];

/// Returns the text as it stands in a string of TOML, JSON or P4.
fn escaped(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() || c == '\u{202e}' => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect()
}

/// Runs a case with a name. Returns the exit code, and the files that were written, relative to the output folder.
fn tried(case: &Case, name: &str) -> (i32, Vec<PathBuf>) {
    let dir = folder("names");
    let work = dir.path().join("deep/down/work");
    std::fs::create_dir_all(&work).unwrap();
    let name = match name {
        "ABS" => dir.path().join("absolute").display().to_string(),
        "LONG" => "n".repeat(300),
        name => name.to_owned(),
    };
    for (file, template) in &case.files {
        let path = work.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let is_escaped = [".toml", ".json", ".p4"].iter().any(|ending| file.ends_with(ending));
        std::fs::write(
            &path,
            template.replace("NAME", &if is_escaped { escaped(&name) } else { name.clone() }),
        )
        .unwrap();
    }
    std::fs::write(work.join("in.pcap"), pcap(&[(0, udp(1, 64)), (900, udp(2, 64))])).unwrap();
    let before = below(dir.path());
    let args: Vec<String> = case.args.iter().map(|arg| arg.replace("OUT", "out")).collect();
    let binary = env!("CARGO_BIN_EXE_sluice");
    let done = std::process::Command::new(binary).current_dir(&work).args(&args).output().unwrap();
    let code = done.status.code().unwrap_or(-1);
    let (what, said) = (case.what, String::from_utf8_lossy(&done.stderr).into_owned());
    assert!((0..=2).contains(&code), "{what}, {name:?}: exit code {code}\n{said}");
    assert!(
        code == 0 || !said.trim().is_empty() || !done.stdout.is_empty(),
        "{what}, {name:?}: nothing is said"
    );
    for said in [said.clone(), String::from_utf8_lossy(&done.stdout).into_owned()] {
        let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
        assert!(!said.contains(obeyed), "{what}, {name:?}: {said:?}");
    }
    let (after, mut written) = (below(dir.path()), Vec::new());
    for (path, content) in &before {
        assert_eq!(after.get(path), Some(content), "{what}, {name:?} changed {}", path.display());
    }
    for path in after.into_keys().filter(|path| !before.contains_key(path)) {
        let own = path.strip_prefix(work.join("out")).map(Path::to_owned);
        let own = own.unwrap_or_else(|_| panic!("{what}, {name:?} wrote {}", path.display()));
        assert!(
            !own.to_string_lossy().contains(|c: char| c.is_control() || c == '\u{202e}'),
            "{what}, {name:?} wrote {own:?}"
        );
        written.push(own);
    }
    (code, written)
}

/// Tries all hostile names, after a plain one, with which a command must work: otherwise a case would show nothing.
fn all_stay_inside(cases: &[Case]) {
    for case in cases {
        let (code, written) = tried(case, "plain");
        assert!(code <= 1 && !written.is_empty(), "{}: {code}, {written:?}", case.what);
        let named = written.iter().any(|path| path.to_string_lossy().contains("plain"));
        assert_eq!(named, case.names_a_file, "{}: {written:?}", case.what);
        for name in HOSTILE {
            tried(case, name);
        }
    }
}

/// Two switches, one of which has the name.
const NETWORK: &str = "name = \"NAME\"\nrate = \"100G\"\nhost_rate = \"100G\"\n[[switch]]\nname = \"NAME\"\nhosts = 3\n[[switch]]\nname = \"b\"\nhosts = 1\n[[cable]]\nbetween = [\"NAME\", \"b\"]\n";

fn case(
    what: &'static str,
    files: &[(&'static str, &str)],
    args: &'static [&'static str],
    names_a_file: bool,
) -> Case {
    let files = files.iter().map(|(file, text)| (*file, (*text).to_owned())).collect();
    Case { what, files, args, names_a_file }
}

#[test]
fn switches_do_not_choose_where_files_are_written() {
    let network = [("t.toml", NETWORK)];
    all_stay_inside(&[
        case("entries", &network, &["entries", "ecmp", "--topology", "t.toml", "-o", "OUT"], true),
        case("programs", &network, &["programs", "int", "--ir", "--topology", "t.toml", "-o", "OUT"], false),
        case(
            "polarization",
            &network,
            &["polarization", "--topology", "t.toml", "--flows", "100", "-o", "OUT"],
            false,
        ),
        case(
            "replay",
            &network,
            &[
                "replay",
                "ecmp",
                "--topology",
                "t.toml",
                "-i",
                "b:0@in.pcap",
                "--drops",
                "OUT/d.pcapng",
                "--timeline",
                "OUT/t.csv",
                "--timeline",
                "OUT/t.svg",
                "--buffer",
                "chip",
                "-o",
                "OUT",
            ],
            true,
        ),
    ]);
}

/// Returns a scenario whose parts are changed.
fn scenario(from: &str, to: &str) -> String {
    let text = "[[scenario]]\nid = \"i\"\nsource = \"s\"\ntitle = \"t\"\ndevice = { profiles = [\"a\"], ports = 4 }\n\
        sweep = [{ key = \"n\", values = [1, 2] }]\nsteps = [{ send = { from = 0, to = 1, count = \"n\" } }, \
        { save = { name = \"x\", value = \"n\" } }, { expect = { what = \"1\", is = 1 } }]\n";
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

#[test]
fn scenarios_do_not_choose_where_files_are_written() {
    let args = &["run", "s.toml", "--timelines", "csv", "-o", "OUT"];
    let of = |what, from, to| case(what, &[("s.toml", &scenario(from, to))], args, true);
    let profile = ok(&["explain", "buffer", "th"]);
    let elsewhere = scenario("[\"a\"]", "[\"../NAME.toml\", \"a\"]");
    all_stay_inside(&[
        of("id", "id = \"i\"", "id = \"NAME\""),
        case("profile", &[("s.toml", &elsewhere), ("../plain.toml", &profile)], args, true),
        of("saved number", "name = \"x\"", "name = \"NAME\""),
        of(
            "name of a case",
            "sweep = [{ key = \"n\", values = [1, 2] }]",
            "case = [{ name = \"NAME\", let = { n = 1 } }]",
        ),
    ]);
}

/// Returns a contest whose parts are changed.
fn contest(from: &str, to: &str) -> String {
    let text = "name = \"n\"\nid = \"i\"\ntopology = \"leaf-spine:leaves=2,spines=2,hosts=1,rate=100G\"\nseeds = 1\n\
        [[workload]]\nname = \"w\"\nbytes = \"2KB\"\nload = 20\ntime = \"10us\"\n[hosts]\ncable = \"500ns\"\n\
        recovery = \"go-back-n\"\n[[program]]\nname = \"ecmp\"\nlabel = \"l\"\n";
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

#[test]
fn contests_do_not_choose_where_files_are_written() {
    let args = &["run", "c.toml", "-o", "OUT"];
    let of = |what, from, to, names| case(what, &[("c.toml", &contest(from, to))], args, names);
    let lists = &["run", "c.toml", "--write-flows", "OUT"];
    let builder = "leaf-spine:leaves=2,spines=2,hosts=1,rate=100G";
    all_stay_inside(&[
        of("name", "name = \"n\"", "name = \"NAME\"", false),
        of("id", "id = \"i\"", "id = \"NAME\"", false),
        of("label", "label = \"l\"", "label = \"NAME\"", false),
        of("workload", "name = \"w\"", "name = \"NAME\"", false),
        case("lists of flows", &[("c.toml", &contest("name = \"w\"", "name = \"NAME\""))], lists, true),
        case("switch", &[("t.toml", NETWORK), ("c.toml", &contest(builder, "t.toml"))], args, false),
    ]);
}

/// An experiment of a paper; `[[contest]]` has more keys.
const EXPERIMENT: &str =
    "id = \"me/a\"\ntitle = \"t\"\nfigures = \"f\"\ndeviations = []\n[[contest]]\nfile = \"c.toml\"\n";
const PUBLISHED: &str = "[[paper]]\nid = \"me\"\ntitle = \"t\"\n[[value]]\nid = \"me/x\"\nvalue = 1\nprecision = 0.1\nread = \"text\"\nside = \"paper\"\nsource = \"s\"\n";

#[test]
fn experiments_of_papers_do_not_choose_where_files_are_written() {
    let args = &["reproduce", "me/a", "--papers", "P", "-o", "OUT"];
    let claim = "[[claim]]\nwhat = \"w\"\nsource = \"s\"\nexpect = \"1 == 1\"\n";
    let of = |what, more: &str| {
        let experiment = format!("{EXPERIMENT}{more}\n{claim}");
        let contest = contest("\"n\"", "\"n\"");
        let files = [
            ("P/published.toml", PUBLISHED),
            ("P/contests/c.toml", &contest),
            ("P/experiments/me/a.toml", &experiment),
        ];
        case(what, &files, args, true)
    };
    all_stay_inside(&[
        of("label", "label = \"NAME\""),
        of("part", "name = \"NAME\"\n[[contest]]\nfile = \"c.toml\""),
    ]);
}

/// A config of HPCC's simulator, its topology and its flows.
fn ns3() -> [&'static str; 3] {
    let text = include_str!("../../../fuzz/corpus/ns3/star");
    let parts: Vec<&str> = text.split('\0').collect();
    parts.try_into().unwrap()
}

#[test]
fn configs_of_ns3_do_not_choose_where_files_are_written() {
    let [config, topology, flows] = ns3();
    let of = |what, file: &str| {
        let config = config.replace(file, "NAME").replace("mix/", "");
        let files = [("config.txt", config.as_str()), ("topology.txt", topology), ("flow.txt", flows)];
        case(what, &files, &["run", "config.txt", "-o", "OUT"], true)
    };
    all_stay_inside(&[of("ends", "mix/fct.txt"), of("pauses", "mix/pfc.txt"), of("queues", "mix/qlen.txt")]);
}

#[test]
fn programs_and_devices_do_not_choose_where_files_are_written() {
    let own = |file: &str| std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let sketch = own("../examples/sketch.sluice").replace("program sketch;", "program `NAME`;");
    let p4 = own("tests/it/hostile/two_checksums.p4");
    let control = p4.replace("control Ingress(", "@name(\"NAME\") control Ingress(");
    let pipe = p4.replace("Pipeline(Ing", "@name(\"NAME\") Pipeline(Ing");
    let profile = ok(&["explain", "buffer", "th"]).replace("name = \"th\"", "name = \"NAME\"");
    let profile = profile.replace("ingress_pool", "NAME");
    let hunt = &["fuzz", "p.sluice", "--cases", "1", "-o", "OUT"];
    let graphs = &["report", "p.p4", "--chip", "tofino", "--dot", "OUT/g.dot", "-o", "OUT"];
    let map = &[
        "replay",
        "ecmp",
        "--port-map",
        "m.csv",
        "-i",
        "0@in.pcap",
        "--timeline",
        "OUT/t.svg",
        "--buffer",
        "chip",
        "-o",
        "OUT",
    ];
    let pools = &[
        "replay",
        "ecmp",
        "--chip",
        "tofino",
        "-i",
        "0@in.pcap",
        "--buffer",
        "b.toml",
        "--timeline",
        "OUT/t.csv",
        "-o",
        "OUT",
    ];
    all_stay_inside(&[
        case("report of a program", &[("p.sluice", &sketch)], &["report", "p.sluice", "-o", "OUT"], false),
        case("hunt in a program", &[("p.sluice", &sketch)], hunt, false),
        case("control of P4", &[("p.p4", &control)], graphs, false),
        case("pipe of P4", &[("p.p4", &pipe)], graphs, false),
        case("port", &[("m.csv", "NAME,0\nEthernet4,1\n")], map, false),
        case("profile and pool", &[("b.toml", &profile)], pools, false),
    ]);
}

#[test]
fn names_in_a_manifest_do_not_choose_what_is_removed() {
    let dir = folder("listed");
    let mine = dir.path().join("mine.txt");
    std::fs::write(&mine, "mine").unwrap();
    // SHA-256 of `mine`: the list says that Sluice wrote the file.
    let digest = "3fd30542fe3f61b14bd4a4b2dc0b6fb30fa6f63ebce52dd1778aaa8c4dc02cff";
    for (number, name) in
        ["../mine.txt", text(&mine), "x/../../mine.txt", "./../mine.txt"].into_iter().enumerate()
    {
        let (out, name) = (dir.path().join(number.to_string()), escaped(name));
        std::fs::create_dir(&out).unwrap();
        let manifest = format!(
            "{{\"schema\":\"sluice.manifest/1\",\"files\":[{{\"file\":\"{name}\",\"command\":\"report\",\"sha256\":\"{digest}\"}}]}}"
        );
        std::fs::write(out.join("manifest.json"), manifest).unwrap();
        ok(&["report", "ecmp", "-o", text(&out)]);
        assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine", "{name}");
    }
}

#[test]
fn names_that_become_one_lose_no_file() {
    let dir = folder("one");
    let place = |name: &str| dir.path().join(name);
    let both = scenario("id = \"i\"", "id = \"a/b\"")
        + &scenario("id = \"i\"", "id = \"A-b\"").replace("[1, 2]", "[3, 4]");
    std::fs::write(place("s.toml"), both).unwrap();
    ok(&["run", text(&place("s.toml")), "-o", text(&place("out"))]);
    let read = |name: &str| std::fs::read_to_string(place(name)).unwrap();
    assert_eq!(read("out/a-b.a.csv").lines().last(), Some("2,2"));
    assert_eq!(read("out/A-b.a.2.csv").lines().last(), Some("4,4"));
    let manifest = read("out/manifest.json");
    assert!(manifest.contains("\"file\": \"A-b.a.2.csv\""), "{manifest}");

    let [config, topology, flows] = ns3();
    for folder in ["x", "y"] {
        std::fs::create_dir(place(folder)).unwrap();
        let config = config.replace("mix/fct.txt", "manifest.json").replace("mix/", "");
        for (name, text) in [("config.txt", config.as_str()), ("topology.txt", topology), ("flow.txt", flows)]
        {
            std::fs::write(place(folder).join(name), text).unwrap();
        }
    }
    let configs = [place("x/config.txt"), place("y/config.txt")];
    let said = ok(&["run", text(&configs[0]), "-o", text(&place("lone"))]);
    assert!(said.contains("manifest.2.json"), "{said}");
    assert_eq!(read("lone/manifest.2.json").lines().count(), 4);
    let said = ok(&["run", text(&configs[0]), text(&configs[1]), "-o", text(&place("both"))]);
    assert!(said.contains("config.pfc.txt") && said.contains("config.pfc.2.txt"), "{said}");
    assert_eq!(read("both/config.pfc.txt"), read("both/config.pfc.2.txt"));
}

#[test]
fn configs_of_ns3_replace_results_alone() {
    let [config, topology, flows] = ns3();
    let dir = folder("replaced");
    let place = |name: &str| dir.path().join(name);
    for (name, text) in
        [("topology.txt", topology), ("flow.txt", flows), ("thesis.tex", "mine\n"), ("empty", "")]
    {
        std::fs::write(place(name), text).unwrap();
    }
    let run = |fct: &str| {
        let config = config.replace("mix/fct.txt", fct).replace("mix/", "");
        std::fs::write(place("config.txt"), config).unwrap();
        let before = below(dir.path());
        let done = sluice(&["run", text(&place("config.txt"))]);
        (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap(), before)
    };
    for file in ["thesis.tex", "config.txt", "topology.txt", "flow.txt"] {
        let (code, said, before) = run(file);
        assert!(code == 2 && said.contains(":6: FCT_OUTPUT_FILE: "), "{file}: {said}");
        assert!(
            said.contains(&format!("{file} is there and has other contents; it is not replaced")),
            "{said}"
        );
        assert!(said.contains("-o DIR writes the file into DIR"), "{said}");
        assert_eq!(below(dir.path()), before, "{file}");
    }
    let (code, said, _) = run("pfc.txt");
    assert!(
        code == 2 && said.contains(":7: PFC_OUTPUT_FILE: `pfc.txt` is the file of FCT_OUTPUT_FILE too"),
        "{said}"
    );
    // Its own results, and an empty file, a run replaces.
    for file in ["empty", "fct.txt", "fct.txt"] {
        assert_eq!(run(file).0, 0, "{file}");
        assert_eq!(std::fs::read_to_string(place(file)).unwrap().lines().count(), 4, "{file}");
    }
}

#[test]
fn a_new_program_has_a_plain_name() {
    for name in ["../evil", "/tmp/evil", "..", "a/b", "a\\b", "con.", "a\u{1b}[2J", "-x", &"n".repeat(300)] {
        let dir = folder("new");
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_sluice"))
            .current_dir(dir.path())
            .args(["new", "--", name])
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(2), "{name:?}");
        assert!(below(dir.path()).is_empty(), "{name:?}");
        assert!(!String::from_utf8_lossy(&done.stderr).contains('\u{1b}'), "{name:?}");
    }
}
