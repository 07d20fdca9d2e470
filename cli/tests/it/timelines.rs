//! `--timeline`: rows that add up, the same ones in every format, whole files after Ctrl-C.

use crate::support::*;
#[cfg(feature = "parquet")]
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Subject of a row, and its values by column.
type Place = (String, String, u64);
type Row = (u64, Place, BTreeMap<&'static str, u64>);

const VALUES: [&str; 8] =
    ["cells", "reserved", "shared", "headroom", "watermark", "headroom_watermark", "paused", "limit"];

fn rows(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "time_ps,subject,name,index,cells,reserved,shared,headroom,watermark,headroom_watermark,paused,limit"
    );
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let values = VALUES.iter().zip(&cells[4..]).filter(|(_, v)| !v.is_empty());
        let place = (cells[1].to_owned(), cells[2].to_owned(), cells[3].parse().unwrap());
        (cells[0].parse().unwrap(), place, values.map(|(k, v)| (*k, v.parse().unwrap())).collect())
    };
    lines.map(row).collect()
}

/// The last row of each place.
fn last(rows: &[Row]) -> BTreeMap<&Place, &BTreeMap<&'static str, u64>> {
    rows.iter().map(|(_, place, values)| (place, values)).collect()
}

#[test]
fn rows_add_up_and_are_the_same_in_every_format() {
    let dir = folder("timelines");
    let at = |name: &str| dir.path().join(name);
    let (csv, parquet, svg) = (at("t.csv"), at("t.parquet"), at("t.svg"));
    let mut args = vec!["--json", "replay", "pfc", "--buffer", "chip"];
    for path in [&csv, &svg] {
        args.extend(["--timeline", text(path)]);
    }
    if cfg!(feature = "parquet") {
        args.extend(["--timeline", text(&parquet)]);
    }
    let summary = json(&args);
    let rows = rows(&csv);
    assert!(rows.len() > 1000 && rows.windows(2).all(|w| w[0].0 <= w[1].0));
    let mut now: BTreeMap<&Place, &BTreeMap<&'static str, u64>> = BTreeMap::new();
    for (i, (time, place, values)) in rows.iter().enumerate() {
        assert!(now.insert(place, values) != Some(values), "a row without news: {place:?} at {time}");
        if place.0 == "pg" || place.0 == "queue" {
            let parts = values["reserved"] + values["shared"] + values.get("headroom").unwrap_or(&0);
            assert_eq!(values["cells"], parts, "{place:?} at {time}");
            assert!(values["shared"] <= values["watermark"]);
        }
        // Once all rows of a time are there, groups, queues and the memory hold the same.
        if rows.get(i + 1).is_none_or(|next| next.0 > *time) {
            let sum =
                |kind: &str| now.iter().filter(|(p, _)| p.0 == kind).map(|(_, v)| v["cells"]).sum::<u64>();
            assert_eq!((sum("pg"), sum("queue")), (sum("buffer"), sum("buffer")), "at {time}");
            let shared = now.iter().filter(|(p, _)| p.0 == "pg").map(|(_, v)| v["shared"]).sum::<u64>();
            assert_eq!(shared, sum("ingress_pool"), "at {time}");
        }
    }
    assert!(last(&rows).values().all(|v| v["cells"] == 0), "everything has left");
    assert!(rows.iter().any(|(_, p, v)| p.0 == "queue" && v["paused"] == 1), "the peer pauses a queue");
    // Watermarks are those of the summary, which has bytes.
    let cell = 176;
    let most =
        |kind: &str| last(&rows).iter().filter(|(p, _)| p.0 == kind).map(|(_, v)| v["watermark"]).max();
    let groups = summary["buffer"]["priority_groups"].as_array().unwrap();
    let of = |g: &serde_json::Value| g["shared"]["user"].as_u64();
    assert_eq!(groups.iter().filter_map(of).max(), most("pg").map(|cells| cells * cell));
    #[cfg(feature = "parquet")]
    has_rows(&parquet, &rows);
    let drawing = std::fs::read_to_string(svg).unwrap();
    assert!(drawing.contains("all of it") && drawing.contains("queue 3") && drawing.ends_with("</svg>\n"));
}

/// Checks that a Parquet file has these rows.
#[cfg(feature = "parquet")]
fn has_rows(parquet: &Path, rows: &[Row]) {
    use parquet::record::RowAccessor;
    let file = SerializedFileReader::new(std::fs::File::open(parquet).unwrap()).unwrap();
    let mut found = 0;
    for (row, (time, place, values)) in file.get_row_iter(None).unwrap().zip(rows) {
        let row = row.unwrap();
        assert_eq!((row.get_long(0).unwrap() as u64, row.get_string(2).unwrap()), (*time, &place.1));
        assert_eq!(row.get_long(4).unwrap() as u64, values["cells"]);
        assert_eq!(row.get_long(7).ok().map(|v| v as u64), values.get("headroom").copied());
        found += 1;
    }
    assert_eq!((found, file.metadata().file_metadata().num_rows()), (rows.len(), rows.len() as i64));
}

#[test]
fn samples_are_what_was_so_at_their_time() {
    let dir = folder("timelines");
    let (every, sampled) = (dir.path().join("every.csv"), dir.path().join("sampled.csv"));
    let run = |path: &Path, more: &[&str]| {
        let mut args = vec!["--json", "replay", "pfc", "--buffer", "chip", "--timeline", text(path)];
        args.extend(more);
        let mut summary = json(&args);
        summary["wall"] = serde_json::Value::Null;
        summary
    };
    let (a, b) = (run(&every, &[]), run(&sampled, &["--timeline-every", "10us"]));
    let mut none = json(&["--json", "replay", "pfc", "--buffer", "chip"]);
    none["wall"] = serde_json::Value::Null;
    assert_eq!((&a, &b), (&none, &none), "looking changes nothing");
    let (every, sampled) = (rows(&every), rows(&sampled));
    assert!(sampled.len() * 4 < every.len() && last(&every) == last(&sampled));
    let end = sampled.iter().map(|r| r.0).max().unwrap();
    for (time, place, values) in &sampled {
        assert!(time % 10_000_000 == 0 || *time == end, "{time}");
        let before = every.iter().rfind(|(at, of, _)| at <= time && of == place);
        assert_eq!(before.map(|(.., v)| v), Some(values), "{place:?} at {time}");
    }
}

#[test]
fn without_a_shared_buffer_there_are_queues() {
    let dir = folder("timelines");
    let csv = dir.path().join("t.csv");
    ok(&["replay", "l3-ecmp", "--timeline", text(&csv)]);
    let rows = rows(&csv);
    assert!(rows.iter().all(|(_, p, _)| p.0 == "buffer" || p.0 == "queue"));
    assert!(rows.iter().any(|(_, p, v)| p.0 == "queue" && v["watermark"] > 0));
}

#[test]
fn other_endings_and_runs_without_queues_are_refused() {
    let (code, error) = refused(&["replay", "pfc", "--timeline", "t.txt"]);
    assert!(code == 2 && error.contains(".csv, .parquet or .svg"), "{error}");
    assert_eq!(refused(&["replay", "l3-ecmp", "--functional", "--timeline", "t.csv"]).0, 2);
    assert_eq!(refused(&["replay", "l3-ecmp", "--timeline-every", "1us"]).0, 2);
    assert_eq!(refused(&["replay", "l3-ecmp", "--timeline", "t.csv", "--timeline-every", "0"]).0, 2);
}

#[test]
fn files_are_whole_after_ctrl_c() {
    let dir = folder("timelines");
    let (csv, parquet) = (dir.path().join("t.csv"), dir.path().join("t.parquet"));
    let tables = [&csv, &parquet].into_iter().take(if cfg!(feature = "parquet") { 2 } else { 1 });
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("sluice"))
        .args(["replay", "l3-ecmp", "--loop", "100000000", "--buffer", "chip", "--timeline-every", "1us"])
        .args(tables.flat_map(|path| ["--timeline", text(path)]))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The files get their names at the end; rows have come when a temporary one has grown.
    let grown = || {
        let files = std::fs::read_dir(dir.path()).unwrap();
        files.filter_map(|f| f.ok()?.metadata().ok()).any(|m| m.len() > 20_000)
    };
    while !grown() {
        assert!(child.try_wait().unwrap().is_none(), "the run has ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().count();
    assert!(lines > 3);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let rows = rows(&csv);
    assert!(rows.len() > 100 && std::fs::read_to_string(&csv).unwrap().ends_with('\n'));
    #[cfg(feature = "parquet")]
    {
        let file = SerializedFileReader::new(std::fs::File::open(parquet).unwrap()).unwrap();
        assert_eq!(file.metadata().file_metadata().num_rows(), rows.len() as i64);
    }
}

#[test]
#[cfg(not(feature = "parquet"))]
fn a_build_without_parquet_says_how_to_get_it() {
    for args in
        [&["replay", "pfc", "--timeline", "t.parquet"][..], &["run", "--timelines", "parquet", "-o", "out"]]
    {
        let (code, error) = refused(args);
        assert!(code == 2 && error.contains("`--features parquet`") && error.contains("archives"), "{error}");
    }
}

#[test]
fn scenarios_have_timelines_of_each_device() {
    let dir = folder("timelines");
    let out = dir.path().join("out");
    ok(&["run", "--filter", "8.5", "-o", text(&out), "--timelines", "csv", "--timelines", "svg"]);
    let rows = rows(&out.join("8.5.a.timeline.csv"));
    let group =
        |(_, place, values): &&Row| place.0 == "pg" && values["headroom"] == 200 && values["paused"] == 1;
    assert!(rows.iter().any(|row| group(&row)), "headroom fills up");
    assert!(last(&rows).values().all(|v| v["cells"] == 0 && v.get("paused").is_none_or(|p| *p == 0)));
    let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(manifest.contains("8.5.a.timeline.csv") && manifest.contains("8.5.a.timeline.svg"));
}

#[test]
fn a_group_pauses_its_senders_at_its_limit() {
    let dir = folder("limits");
    let (capture, csv) = (dir.path().join("lossless.pcapng"), dir.path().join("t.csv"));
    let rate = ["--dscp", "3", "--dst", "10.9.9.9/32", "--rate", "100G"];
    let made = ["gen", "udp", "--packets", "2k", "--size", "1024"];
    ok(&[&made[..], &rate, &["-o", text(&capture)]].concat());
    let inputs = ["0", "1"].map(|port| format!("{port}@{}", capture.display()));
    let replay =
        ["replay", "l3-ecmp", "-i", &inputs[0], "-i", &inputs[1], "--buffer", "th", "--port-speed", "100G"];
    ok(&[&replay[..], &["--obey-pfc", "--timeline", text(&csv)]].concat());
    let (mut pauses, mut before) = (0, BTreeMap::new());
    for (time, place, values) in rows(&csv).into_iter().filter(|(_, place, _)| place.0 == "pg") {
        let begins = values["paused"] == 1 && before.insert(place.clone(), 1) != Some(1);
        // The group is at its limit when it asks for a pause: what comes after is headroom.
        if begins {
            let full = values["cells"] >= values["limit"] || values["headroom"] > 0;
            assert!(full, "{place:?} at {time}: {values:?}");
        }
        pauses += u64::from(begins);
        before.insert(place, values["paused"]);
    }
    assert!(pauses > 5, "{pauses}");
}
