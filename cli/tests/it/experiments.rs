//! `sluice run` of experiments: metrics, sweeps, schedules, roles, watched messages, dry runs, pages; and `sluice compare`.

use crate::contest::run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One message of 100 packets between two leaves, through the real binary.
pub(crate) const LONE: &str = r#"
id = "lone"
name = "one message"
topology = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns"
port_speed = "100G"
seeds = 1

[workload]
flows = "flows.txt"
time = "10us"

[hosts]
cable = "500ns"
recovery = "go-back-n"

[metrics]
size_bins = ["100KB"]
sample = "10us"

[[program]]
name = "ecmp"
"#;

/// Line time of a full packet, ps: 1000 bytes with Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, preamble 8 and gap 12
/// at 100 Gb/s.
const PACKET_PS: u64 = 1_082 * 80;

pub(crate) fn folder(contest: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("lone.toml"), contest).unwrap();
    fs::write(dir.path().join("flows.txt"), "1\n0 2 3 100000 0.0 50000\n").unwrap();
    dir
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Rows of a table by the names of its columns.
pub(crate) fn table(path: &Path) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let heads: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row =
        |record: csv::StringRecord| heads.iter().cloned().zip(record.iter().map(str::to_owned)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

pub(crate) fn value<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(head, _)| head == name).unwrap_or_else(|| panic!("no column {name}")).1
}

/// The only folder of a run.
fn lone_run(out: &Path) -> PathBuf {
    let mut runs: Vec<PathBuf> = fs::read_dir(out.join("runs")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Completion time of the message of `LONE` with more text at its end, ps.
fn time_with(more: &str) -> u64 {
    let dir = folder(&format!("{LONE}{more}"));
    let (code, text, error) = run(dir.path(), &["run", "lone.toml", "-o", "out"]);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    let rows = table(&dir.path().join("out/flows.csv"));
    let number = |name: &str| value(&rows[0], name).parse::<u64>().unwrap();
    number("end_ps") - number("start_ps")
}

#[test]
fn numbers_of_a_lone_message_are_those_of_paper_and_pencil() {
    let dir = folder(LONE);
    let (code, text, error) = run(dir.path(), &["run", "lone.toml", "-o", "out"]);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    let out = dir.path().join("out");
    let rows = table(&out.join("sweep.csv"));
    let number = |name: &str| value(&rows[0], name).parse::<u64>().unwrap();
    assert_eq!(
        (number("bin_100000.messages"), number("bin_more.messages"), number("bytes")),
        (1, 0, 100_000)
    );
    // 100 packets and 100 acknowledgements over two links each.
    assert_eq!((number("sent"), number("acks"), number("hops")), (100, 100, 400));
    assert_eq!((number("unaccounted"), number("deadlocks"), number("pauses")), (0, 0, 0));
    let flows = table(&out.join("flows.csv"));
    let end: u64 = value(&flows[0], "end_ps").parse().unwrap();
    assert_eq!(number("fct_avg_ns"), end / 1_000);
    assert_eq!(number("bin_100000.fct_p99_ns"), end / 1_000);
    assert_eq!(number("goodput_mbps"), 100_000 * 8 * 1_000_000 / end);
    assert_eq!(number("bin_100000.avg"), number("avg"));
    // One uplink has all 100 packets in its line time; of the other one nothing: (most - least) / mean = 2.
    let record = json(&lone_run(&out).join("run.json"));
    assert_eq!(record["schema"], "sluice.run/1");
    let links = record["samples"]["links"].as_array().unwrap();
    let up: Vec<u64> = links
        .iter()
        .filter(|link| link["from"] == "leaf0" && link["up"] == true)
        .map(|link| link["share"].as_array().unwrap().iter().map(|share| share.as_u64().unwrap()).sum())
        .collect();
    let samples = links[0]["share"].as_array().unwrap().len() as u64;
    let expected = 100 * PACKET_PS / 10_000;
    assert_eq!((up.len(), up.iter().min()), (2, Some(&0)));
    let most = up[0].max(up[1]);
    assert!(most <= expected && most + samples >= expected, "{most} of {expected}");
    assert_eq!(number("imbalance_p50"), 2_000);
    for file in ["contest.html", "contest.json", "manifest.json"] {
        assert!(out.join(file).exists(), "{file}");
    }
    for file in ["flows.parquet", "sweep.parquet"] {
        assert_eq!(out.join(file).exists(), cfg!(feature = "parquet"), "{file}");
    }
}

#[test]
fn cables_degrade_as_the_schedule_says() {
    let plain = time_with("");
    // Two events, because the message may take either spine.
    let both = |rest: &str| -> String {
        let event = |spine: u8| {
            format!(
                "[[schedule]]\nat = \"0us\"\ncable = [\"leaf0\", \"spine{spine}\"]\nfrom = \"leaf0\"\n{rest}\n"
            )
        };
        event(0) + &event(1)
    };
    assert_eq!(time_with(&both("set = \"extra_delay\"\nto = \"5us\"")), plain + 5_000_000);
    // The last packet waits for 99 packets at a quarter of the rate.
    let slow = time_with(&both("set = \"rate\"\nto = \"25G\"")) - plain;
    let expected = 99 * 3 * PACKET_PS;
    assert!(slow.abs_diff(expected) * 100 < expected, "{slow} ps, expected {expected} ps");
    assert_eq!(time_with(&both("set = \"rate\"\nto = \"full\"")), plain);
    let dir = folder(&format!(
        "{LONE}{}",
        both("set = \"down\"").replace("seeds = 1", "seeds = 1\ndrain = \"1ms\"")
    ));
    let (code, text, error) = run(dir.path(), &["run", "lone.toml"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(text.contains("ecmp: UNFINISHED 1") && text.contains("link_down"), "{text}");
}

#[test]
fn a_watched_message_shows_its_sender_and_its_queues() {
    let dir = folder(LONE);
    let args =
        ["run", "lone.toml", "-o", "out", "--watch-flow", "10.0.0.1-10.0.1.1", "--watch-every", "500ns"];
    let (code, text, error) = run(dir.path(), &args);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    // The message passes three switches, with a queue at each.
    assert!(
        text.contains("message 1 of 100000 bytes from 10.0.0.1 to 10.0.1.1") && text.contains(", 3 queues"),
        "{text}"
    );
    let rows = table(&dir.path().join("out/flow.csv"));
    let of = |name: &str| -> Vec<u64> {
        rows.iter()
            .filter(|row| value(row, "name") == name)
            .map(|row| value(row, "value").parse().unwrap())
            .collect()
    };
    // Without congestion control the sender has the rate of its line.
    let rates = of("rate_bps");
    assert!(rates.len() > 15 && rates.iter().all(|rate| *rate == 100_000_000_000), "{rates:?}");
    // More than a round trip of 7 us is in flight once the first acknowledgement is about to come: 80 packets.
    let most = of("in_flight_bytes").into_iter().max().unwrap();
    assert!((70_000..=100_000).contains(&most), "{most}");
    assert!(dir.path().join("out/flow.html").exists() && !dir.path().join("out/contest.json").exists());
    let (code, _, error) = run(dir.path(), &["run", "lone.toml", "-o", "out", "--watch-flow", "7"]);
    assert!(code == 2 && error.contains("there is no message 7; the workload has 1 messages"), "{error}");
    let (code, _, error) = run(dir.path(), &["run", "lone.toml", "-o", "out", "--watch-flow", "x"]);
    assert!(code == 2 && error.contains("expected the number of a message"), "{error}");
}

#[test]
fn a_dry_run_counts_packet_hops_and_writes_nothing() {
    let dir = folder(LONE);
    let (code, text, error) = run(dir.path(), &["run", "lone.toml", "--dry-run"]);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    assert!(text.contains("PACKET-HOPS") && text.contains("nothing was run"), "{text}");
    let (_, text, _) = run(dir.path(), &["--json", "run", "lone.toml", "--dry-run", "--seeds", "3"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let program = &value["contests"][0]["programs"][0];
    // 100 packets and 100 acknowledgements through three switches.
    assert_eq!(
        (&program["packets"], &program["packet_hops"], &program["runs"]),
        (&100.into(), &600.into(), &3.into())
    );
    assert!(program["seconds"].as_f64().unwrap() > 0.0 && value["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// The folder of the example that has everything.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests/experiments")
}

/// Runs the example into a folder.
fn run_example(out: &Path, more: &[&str]) -> (i32, String, String) {
    let out = out.to_str().unwrap();
    run(&example(), &[&["run", "slow-cable.toml", "-o", out], more].concat())
}

#[test]
fn a_sweep_is_resumed_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let (code, text, error) = run_example(&one, &["--threads", "2"]);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    // Two loads, two programs, two seeds.
    let rows = table(&one.join("sweep.csv"));
    let keys: Vec<[&str; 3]> =
        rows.iter().map(|row| ["workload.load", "program", "seed"].map(|name| value(row, name))).collect();
    assert_eq!(keys[..3], [["20", "conweave", "3"], ["20", "conweave", "8"], ["20", "mixed", "3"]]);
    assert_eq!((keys.len(), keys[7]), (8, ["40", "mixed", "8"]));
    assert_eq!(fs::read_dir(one.join("runs")).unwrap().count(), 8);
    let flows = table(&one.join("flows.csv"));
    for (number, row) in rows.iter().enumerate() {
        let own: Vec<_> = flows.iter().filter(|flow| value(flow, "run") == number.to_string()).collect();
        assert_eq!(own.len().to_string(), value(row, "messages"));
        // Percentiles are ranks, and classes of sizes have all messages.
        let mut slow: Vec<u64> =
            own.iter().map(|flow| value(flow, "slowdown_thousandths").parse().unwrap()).collect();
        slow.sort_unstable();
        assert_eq!(slow[(slow.len() * 99).div_ceil(100) - 1].to_string(), value(row, "p99"));
        let bins = ["bin_4000", "bin_16000", "bin_64000", "bin_more"];
        let of = |bin: &str| value(row, &format!("{bin}.messages")).parse::<usize>().unwrap();
        assert_eq!(bins.map(of).iter().sum::<usize>(), own.len());
    }
    // One thread writes the same bytes.
    assert_eq!(run_example(&two, &[]).0, 0);
    assert_eq!(files(&one), files(&two));
    // Kept runs are not believed if one number of them was changed: such a run is done again.
    let kept = two.join("runs").join(value(&rows[0], "digest"));
    for (name, from, to) in [
        ("run.json", "\"acks\": ", "\"acks\": 7"),
        ("run.json", "\"seed\": ", "\"seed\": 7"),
        ("flows.csv", ",1", ",2"),
    ] {
        let path = kept.join(name);
        let text = fs::read_to_string(&path).unwrap();
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed, "{name}: {from}");
        fs::write(&path, changed).unwrap();
        let (code, _, error) = run_example(&two, &[]);
        assert!(code == 0 && error.contains("was changed since it was written"), "{name}: {from}: {error}");
        assert_eq!(files(&one), files(&two), "{name}: {from}");
    }
    let kept = kept.join("run.json");
    // A comparison finds one number that differs.
    let results = fs::read_to_string(two.join("contest.json")).unwrap();
    fs::write(two.join("contest.json"), with_other_acks(&results)).unwrap();
    let compare = |a: &Path, b: &Path, more: &[&str]| {
        run(dir.path(), &[&["compare", a.to_str().unwrap(), b.to_str().unwrap()], more].concat())
    };
    let (code, text, _) = compare(&one, &two, &["--figures", "acks"]);
    assert!(text.contains("numbers differ"), "{text}");
    // Of two seeds the one difference is not distinguishable from 0: 12.7 standard errors.
    assert_eq!((code, text.matches("same").count()), (0, 4));
    fs::write(two.join("contest.json"), results).unwrap();
    // A damaged record is said and done again.
    fs::write(&kept, "{").unwrap();
    let (code, _, error) = run_example(&two, &[]);
    assert!(code == 0 && error.contains("is damaged") && error.contains("the run is done again"), "{error}");
    assert_eq!(files(&one), files(&two));
    let (code, text, _) = compare(&one, &two, &[]);
    assert!(code == 0 && text.contains("\n0 of "), "{text}");
    let (code, _, error) = compare(&one, &two, &["--figures", "p98"]);
    assert!(
        code == 2 && error.contains("has no number `p98`") && error.contains("did you mean `p9"),
        "{error}"
    );
    let (code, _, error) = compare(&one, &dir.path().join("three"), &[]);
    assert!(code == 2 && error.contains("there is no contest.json"), "{error}");
}

#[test]
fn a_longer_message_differs() {
    let dir = folder(LONE);
    assert_eq!(run(dir.path(), &["run", "lone.toml", "-o", "a"]).0, 0);
    fs::write(dir.path().join("flows.txt"), "1\n0 2 3 200000 0.0 50000\n").unwrap();
    assert_eq!(run(dir.path(), &["run", "lone.toml", "-o", "a2"]).0, 0);
    // The contents of the list are part of the key.
    let digest = |out: &str| value(&table(&dir.path().join(out).join("sweep.csv"))[0], "digest").to_owned();
    assert_ne!(digest("a"), digest("a2"));
    let (code, text, _) =
        run(dir.path(), &["--json", "compare", "a", "a2", "--figures", "fct_avg_ns,dropped"]);
    assert_eq!(code, 1);
    let rows: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&rows["rows"][0]["verdict"], &rows["rows"][1]["verdict"]),
        (&"too few seeds".into(), &"same".into())
    );
    // 100 more packets at line rate, to the nanosecond below.
    let more = rows["rows"][0]["difference"].as_f64().unwrap();
    assert!((more - 100.0 * PACKET_PS as f64 / 1_000.0).abs() <= 1.0, "{more}");
}

/// All files of a folder with their contents, by name.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => {
                all.extend(files(&entry).into_iter().map(|(name, text)| (Path::new("d").join(name), text)))
            }
            false => all.push((entry.file_name().unwrap().into(), fs::read(&entry).unwrap())),
        }
    }
    all.sort();
    all
}

#[test]
#[cfg(unix)]
fn an_interrupted_sweep_keeps_what_was_finished() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = ["run", "slow-cable.toml", "--seeds", "4", "-o", out.to_str().unwrap()];
    let mut child = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .current_dir(example())
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let done = || {
        let runs = fs::read_dir(out.join("runs")).into_iter().flatten();
        runs.filter(|run| run.as_ref().unwrap().path().join("run.json").exists()).count()
    };
    while done() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("of 16 runs are in") && error.contains("the same command continues"), "{error}");
    let before = done();
    assert!((2..16).contains(&before), "{before}");
    // Nothing but finished runs is there.
    assert!(!out.join("contest.json").exists());
    let marked = fs::read_dir(out.join("runs")).unwrap().map(|run| run.unwrap().path().join("run.json"));
    let times: Vec<_> = marked
        .filter(|path| path.exists())
        .map(|path| (fs::metadata(&path).unwrap().modified().unwrap(), path))
        .collect();
    let (code, _, error) = run(&example(), &args);
    assert_eq!((code, error.as_str()), (0, ""));
    assert_eq!(done(), 16);
    for (time, path) in times {
        assert_eq!(
            fs::metadata(&path).unwrap().modified().unwrap(),
            time,
            "{} was done again",
            path.display()
        );
    }
}

#[test]
fn mistakes_are_refused_with_place_and_proposal() {
    for (from, to, said) in [
        (
            "sample = \"10us\"",
            "sampel = \"10us\"",
            "lone.toml:18: unknown key `sampel`; did you mean `sample`?",
        ),
        ("size_bins = [\"100KB\"]", "size_bins = [\"9KB\", \"1KB\"]", "expected rising sizes"),
        (
            "[metrics]",
            "[sweep]\n\"hosts.cabel\" = [\"1us\"]\n[metrics]",
            "unknown key `cabel`; did you mean `cable`?",
        ),
        (
            "[metrics]",
            "[[schedule]]\nat = \"1us\"\nswitch = \"laef0\"\nop = \"x\"\n[metrics]",
            "line 16: there is no switch `laef0`; did you mean `leaf0`?",
        ),
        ("[metrics]", "[[schedule]]\nat = \"1us\"\nswitch = \"leaf0\"\nop = \"port_up\"\n[metrics]", "leaf0"),
        ("[metrics]", "[[schedule]]\nswitch = \"leaf0\"\nfile = \"no.txt\"\n[metrics]", "cannot read no.txt"),
        ("name = \"ecmp\"", "roles = { laef = \"ecmp\" }", "did you mean `leaf`?"),
        ("name = \"ecmp\"", "roles = { leaf = \"ecmp\" }", "nothing about switch `spine0`"),
    ] {
        assert!(LONE.contains(from), "{from}");
        let dir = folder(&LONE.replace(from, to));
        let (code, text, error) = run(dir.path(), &["run", "lone.toml"]);
        assert_eq!((code, text.as_str()), (2, ""), "{error}");
        assert!(error.contains(said), "{to}: {error}");
    }
}

/// A page as Chromium has it after its script has run; `None` without Chromium.
fn in_browser(page: &Path, part: &str) -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())?;
    let address = format!("file://{}{part}", page.display());
    let output = Command::new(found)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=2000",
            "--dump-dom",
            &address,
        ])
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok().filter(|dom| dom.contains("</html>"))
}

/// Texts of the paragraphs below the plots, by the plots' headings.
fn read_outs(dom: &str) -> Vec<(String, String)> {
    let figures = dom.split("<figure class=\"plot\">").skip(1);
    let between = |text: &str, from: &str, to: &str| -> String {
        text.split_once(from)
            .and_then(|(_, rest)| rest.split_once(to))
            .map_or(String::new(), |(text, _)| text.to_owned())
    };
    figures
        .map(|figure| {
            (
                between(figure, "<figcaption>", "</figcaption>"),
                between(figure, "<p class=\"read\" role=\"status\">", "</p>"),
            )
        })
        .collect()
}

#[test]
fn pages_are_whole_without_a_network_and_zoom_in_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    assert_eq!(run_example(&out, &["--threads", "2"]).0, 0);
    for name in ["sweep.html", "0.contest.html", "1.contest.html"] {
        let html = fs::read_to_string(out.join(name)).unwrap();
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"), "{name}");
        for address in ["http:", "https:", "src=", "<link", "@import"] {
            assert!(!html.contains(address), "{name} has {address}");
        }
        // Every drawing has its lines without the script.
        assert!(
            html.matches("<path d=\"M").count() >= html.matches("<figure class=\"plot\">").count(),
            "{name}"
        );
    }
    let (page, link) = (out.join("1.contest.html"), "Busiest link");
    let Some(dom) = in_browser(&page, "") else {
        // Without a browser the drawings alone are tested.
        return;
    };
    // The busiest link of all samples, from the records of the runs with the first seed.
    let rows = table(&out.join("sweep.csv"));
    let mut most = 0;
    for row in rows.iter().filter(|row| value(row, "workload.load") == "40" && value(row, "seed") == "3") {
        let record = json(&out.join("runs").join(value(row, "digest")).join("run.json"));
        for link in record["samples"]["links"].as_array().unwrap() {
            most = link["share"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s.as_u64().unwrap())
                .max()
                .unwrap()
                .max(most);
        }
    }
    let of = |dom: &str| read_outs(dom).into_iter().find(|(title, _)| title == link).unwrap().1;
    let said = of(&dom);
    assert!(said.starts_with(&format!("greatest {} (", most as f64 / 10.0)), "{most}: {said}");
    assert!(said.contains("; least ") && said.contains("drag, Ctrl + wheel or + zoom"), "{said}");
    let number = read_outs(&dom).iter().position(|(title, _)| title == link).unwrap();
    let zoomed = in_browser(&page, &format!("#plot={number},20,40")).unwrap();
    let said = of(&zoomed);
    assert!(said.contains("from 20 to 40; double click or 0 shows all"), "{said}");
    // The other plots are as before.
    assert_eq!(read_outs(&zoomed)[0], read_outs(&dom)[0]);
}

#[test]
fn every_key_of_a_file_is_in_the_handbook() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let pages = ["contest.md", "contest-hosts.md", "experiments.md", "workloads.md"];
    let pages: String = pages.iter().map(|page| fs::read_to_string(docs.join(page)).unwrap()).collect();
    // The parser lists the keys of a table when it finds an unknown one.
    let known = |text: &str| -> Option<Vec<String>> {
        let error = sluice_scenario::contest::Contest::parse("f", text).unwrap_err().to_string();
        let (_, list) = error.split_once("(known keys: ")?;
        Some(list.trim_end_matches(')').split(", ").map(str::to_owned).collect())
    };
    let mut count = 0;
    // Keys of workloads depend on their kind, and have their own test.
    for table in ["", "[hosts]", "[metrics]", "[[schedule]]", "[[program]]"] {
        let keys = known(&format!("{table}\nno_such_key = 1\n"));
        for key in keys.unwrap_or_else(|| panic!("{table} takes every key")) {
            count += 1;
            let said = [format!("`{key}`"), format!("[{key}]"), format!("\n{key} = ")];
            assert!(said.iter().any(|said| pages.contains(said)), "{table} {key}");
        }
    }
    assert!(count >= 50, "{count} keys");
}

/// Returns results in which the first number of acknowledgements is another.
fn with_other_acks(results: &str) -> String {
    fn change(value: &mut Value) -> bool {
        match value {
            Value::Object(map) => {
                if let Some(first) = map.get_mut("acks").and_then(|acks| acks.get_mut("seeds")?.get_mut(0)) {
                    *first = 77.into();
                    return true;
                }
                map.values_mut().any(change)
            }
            Value::Array(list) => list.iter_mut().any(change),
            _ => false,
        }
    }
    let mut value = serde_json::from_str(results).unwrap();
    assert!(change(&mut value));
    value.to_string()
}
