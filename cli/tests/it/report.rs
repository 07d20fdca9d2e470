//! `sluice report`: pages, the vendor's layout, comparisons and sweeps.

use crate::support::{folder, json, ok, refused, sluice, text};
use serde_json::Value;

#[test]
fn a_folder_gets_every_form_of_the_report() {
    let dir = folder("report");
    ok(&["report", "l3-ecmp", "-o", text(dir.path())]);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
    for file in manifest["files"].as_array().unwrap() {
        assert!(!read(file["file"].as_str().unwrap()).is_empty(), "{file}");
    }
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    let (page, log) = (read("report.html"), read("mau.resources.log"));
    for table in report["tables"].as_array().unwrap() {
        let name = table["name"].as_str().unwrap();
        assert!(page.contains(name) && log.contains(name), "{name}");
    }
    let alone = dir.path().join("alone.html");
    ok(&["report", "l3-ecmp", "--html", text(&alone)]);
    assert_eq!(std::fs::read_to_string(alone).unwrap(), page);
    let printed = ok(&["report", "l3-ecmp", "--vendor-layout"]);
    assert!(printed.starts_with(&log) && printed.ends_with(&read("table_summary.log")));
}

#[test]
fn the_result_of_each_pass_is_printed() {
    let help = ok(&["report", "--help"]);
    let (code, said) = refused(&["report", "l3-ecmp", "--dump", "phw"]);
    assert_eq!(code, 2);
    for pass in &sluice_place::PASSES {
        assert!(help.contains(&format!("- {}:", pass.name)), "{}: {help}", pass.name);
        assert!(said.contains(pass.name), "{}: {said}", pass.name);
    }
    assert!(said.contains("phv"), "{said}");
    let dump = |pass: &str| ok(&["report", "l3-ecmp", "--dump", pass]);
    assert!(dump("tables").lines().any(|line| line.contains("ipv4_route stage ")), "{}", dump("tables"));
    assert!(dump("dependencies").starts_with("digraph"));
    // Passes before the one that fails have a result.
    let large = ["report", "l3-ecmp", "--set", "ipv4_routes=400000", "--dump"];
    assert_eq!(ok(&[&large[..], &["dependencies"]].concat()), dump("dependencies"));
    let (code, said) = refused(&[&large[..], &["tables"]].concat());
    assert!(code == 1 && said.contains("ipv4_route"), "{said}");
}

#[test]
fn a_comparison_takes_what_is_not_named_from_the_first() {
    let more = json(&["report", "l3-ecmp", "--compare", "ipv4_routes=40000", "--json"]);
    assert_eq!(more["params"][0]["key"], "ipv4_routes");
    let row = |value: &Value, what: &str| {
        let rows = value["rows"].as_array().unwrap();
        rows.iter().find(|r| r["what"] == what).unwrap()["values"].clone()
    };
    let tcam = row(&more, "TCAM");
    assert!(tcam[0].as_u64() < tcam[1].as_u64(), "{tcam}");
    let chips = json(&["report", "l3-ecmp", "--compare", "chip=tofino", "--json"]);
    assert_eq!(chips["names"][1], "l3-ecmp on tofino");
    assert!(ok(&["report", "l3-ecmp", "--compare", "chip=tofino"]).contains("B - A"));
    let too_much = sluice(&["report", "l3-ecmp", "--compare", "ipv4_routes=400000", "--json"]);
    assert_eq!(too_much.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&too_much.stdout).unwrap();
    assert_eq!(value["fits"], serde_json::json!([true, false]));
    assert!(value["reasons"][1].as_str().unwrap().contains("tcam"), "{value}");
}

#[test]
fn a_sweep_finds_the_largest_value_that_fits() {
    let dir = folder("sweep");
    let args =
        ["report", "l3-ecmp", "--sweep", "ipv4_routes=180200..180240", "--json", "-o", text(dir.path())];
    let out = sluice(&args);
    let sweep: Value = serde_json::from_slice(&out.stdout).unwrap();
    let points = sweep["points"].as_array().unwrap();
    let largest = sweep["largest_that_fits"].as_u64();
    let fits = |value: u64| points.iter().find(|p| p["value"] == value).unwrap()["fits"] == true;
    match largest {
        // The next value was tried and does not fit.
        Some(largest) if largest < 180_240 => assert!(fits(largest) && !fits(largest + 1)),
        Some(_) => assert!(points.iter().all(|p| p["fits"] == true)),
        None => assert_eq!(out.status.code(), Some(1)),
    }
    let drawing = std::fs::read_to_string(dir.path().join("sweep.svg")).unwrap();
    assert!(drawing.starts_with("<svg") && drawing.contains("ipv4_routes"));
    // The table has a row for each value that was tried, with the numbers of the JSON.
    let rows = std::fs::read_to_string(dir.path().join("sweep.csv")).unwrap();
    let rows: Vec<Vec<&str>> = rows.lines().skip(1).map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), points.len());
    for (row, point) in rows.iter().zip(points) {
        assert_eq!((row[0], row[1]), (&*point["value"].to_string(), &*point["fits"].to_string()), "{row:?}");
    }
}

#[test]
fn mistakes_in_words_are_named() {
    for (args, word) in [
        (&["report", "l3-ecmp", "--sweep", "ipv4_routes"][..], "names no parameter"),
        (&["report", "l3-ecmp", "--sweep", "ipv4_routes=9..3"], "FROM must be at least 1"),
        (&["report", "l3-ecmp", "--sweep", "ipv4_rotues=1..2"], "ipv4_routes"),
        (&["report", "l3-ecmp", "--compare", "chip=tofino3"], "tofino3"),
        (&["report", "l3-ecmp", "--compare", "l4-ecmp"], "l4-ecmp"),
    ] {
        let (code, stderr) = refused(args);
        assert!(code == 2 && stderr.contains(word), "{args:?}: {stderr}");
    }
}

#[test]
fn a_program_that_does_not_fit_gets_remedies_that_help() {
    let small = ["--set", "ecmp_groups=64", "--set", "neighbors=64", "--set", "macs=64"];
    let args =
        [&["report", "l3-ecmp", "--chip", "tofino", "--set", "ipv4_routes=100000", "--json"], &small[..]]
            .concat();
    let out = sluice(&args);
    assert_eq!(out.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let remedies = report["remedies"].as_array().unwrap();
    let routes = remedies.iter().find(|r| r["set"] == "ipv4_routes").unwrap();
    let to = routes["to"].as_u64().unwrap();
    let fits = |value: u64| {
        let set = format!("ipv4_routes={value}");
        sluice(&[&["report", "l3-ecmp", "--chip", "tofino", "--set", &set], &small[..]].concat())
            .status
            .success()
    };
    assert!(fits(to) && !fits(to + 1), "{to}");
    assert!(remedies.iter().any(|r| r["chip"] == "tofino2"));
}

#[test]
fn two_aims_and_fewer_means_are_placed_as_asked() {
    let value = json(&["report", "pfc", "--objective", "latency", "--json"]);
    let few = json(&["report", "pfc", "--json"]);
    let cycles = |v: &Value| -> u64 {
        ["ingress", "egress"].iter().map(|g| v["latency"][g]["mau_cycles"].as_u64().unwrap()).sum()
    };
    assert_eq!((value["objective"].as_str(), few["objective"].as_str()), (Some("latency"), Some("stages")));
    assert!(cycles(&value) < cycles(&few), "{} {}", cycles(&value), cycles(&few));
    let text = ok(&["report", "l3-ecmp", "--without", "attached-gateways,turns"]);
    assert!(text.contains("placed without attached-gateways\n  placed without turns"), "{text}");
    let compared = ok(&["report", "ecmp", "--compare", "without=attached-gateways"]);
    assert!(compared.contains("ecmp on tofino2 without=attached-gateways"), "{compared}");
    let (code, why) = refused(&["report", "ecmp", "--without", "luck"]);
    assert!(code == 2 && why.contains("there is no optimisation `luck`"), "{code} {why}");
}

/// A browser shows the page as it was written: it repairs, fetches and loses nothing, and can print it.
#[test]
fn the_page_opens_and_prints_in_a_browser_without_network() {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|b| std::process::Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success()))
    else {
        eprintln!("skipped: no Chromium on this machine");
        return;
    };
    let dir = folder("browser");
    let (page, pdf) = (dir.path().join("page.html"), dir.path().join("page.pdf"));
    ok(&["report", "l3-ecmp", "--html", text(&page)]);
    let source = std::fs::read_to_string(&page).unwrap();
    let profile = format!("--user-data-dir={}", text(&dir.path().join("profile")));
    let open = |what: &str| {
        let output = std::process::Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--window-size=1400,900",
            ])
            .args([profile.as_str(), what, &format!("file://{}", text(&page))])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let dom = open("--dump-dom");
    for tag in ["<table", "<td", "<th", "<svg", "<rect", "<path", "<title", "<h2"] {
        assert_eq!(dom.matches(tag).count(), source.matches(tag).count(), "{tag}");
    }
    assert!(dom.matches("<td").count() > 20 * 20, "the matrix has a cell per stage and resource");
    open(&format!("--print-to-pdf={}", text(&pdf)));
    // The widest page needs no scrolling sideways in a window of 1400 pixels. A script of this test measures it.
    ok(&["report", "conweave", "--html", text(&page)]);
    let source = std::fs::read_to_string(&page).unwrap();
    let measure = "<script>e=document.documentElement;document.title=e.scrollWidth+' of '+e.clientWidth</script></body>";
    std::fs::write(&page, source.replace("</body>", measure)).unwrap();
    let dom = open("--dump-dom");
    let title = dom.split("<title>").nth(1).and_then(|t| t.split("</title>").next()).unwrap();
    let (content, window) = title.split_once(" of ").unwrap();
    let [content, window] = [content, window].map(|n| n.parse::<u32>().unwrap());
    assert!((1300..=1400).contains(&window) && content <= window, "{title} pixels");
    assert!(std::fs::read(&pdf).unwrap().starts_with(b"%PDF-"));
}
