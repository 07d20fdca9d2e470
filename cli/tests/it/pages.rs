//! `--html`: pages are complete and have the data.

use crate::support::*;
use serde_json::Value;
use std::collections::BTreeSet;

/// Makes a page and returns it.
fn page(args: &[&str]) -> String {
    let dir = folder("pages");
    let path = dir.path().join("page.html");
    let mut args = args.to_vec();
    args.extend(["--html", text(&path)]);
    let out = sluice(&args);
    let code = out.status.code().unwrap();
    assert!(code < 2, "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    std::fs::read_to_string(path).unwrap()
}

/// Asserts that a page is one file, with contents for each section, and that it has these words.
fn is_complete(page: &str, words: &[&str]) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    for loaded in [" src=", "<link", "@import", "url("] {
        assert!(!page.contains(loaded), "the page loads something: {loaded}");
    }
    let ids: Vec<&str> =
        page.split("<section id=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "addresses are unique: {ids:?}");
    for id in ids {
        assert!(page.contains(&format!("<a href=\"#{id}\">")), "the contents name {id}");
    }
    for word in words {
        assert!(page.contains(word), "`{word}` is on the page");
    }
}

#[test]
fn a_replay_has_a_page_with_its_numbers() {
    let html = page(&["replay", "pfc", "--buffer", "chip"]);
    let summary = json(&["--json", "replay", "pfc", "--buffer", "chip"]);
    is_complete(&html, &["pfc_taken", "Fullest queues", "it may not send", "ingress_lossless_pool"]);
    for port in summary["ports"].as_array().unwrap() {
        let cell = format!("<td>{}</td>", port["rx_bytes"]);
        assert!(html.contains(&cell), "{cell}");
    }
    // The plot of the memory has the watermark of the summary.
    let most = summary["pools"][0]["max_cells"].as_u64().unwrap();
    let plot = html.split_once("<figcaption>Memory and pools").unwrap().1;
    let data = plot.split("<script type=\"application/json\">").nth(1).unwrap();
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    let levels = data["lines"][0]["y"].as_array().unwrap();
    assert_eq!(levels.iter().filter_map(Value::as_u64).max(), Some(most));
    // Pauses of the queue are shaded.
    assert!(html.contains("\"h\":[["), "a queue is paused");
}

#[test]
fn a_network_has_a_page_with_a_story() {
    let args = ["replay", "conweave", "--topology", "two-tor", "--story", "10.0.0.1:49152-10.0.1.1"];
    let html = page(&args);
    is_complete(&html, &["Life of a flow", "leaf0", "spine0", "Where packets went"]);
    assert!(html.contains("<svg"), "the story is drawn");
}

#[test]
fn a_replay_without_time_has_a_page_without_levels() {
    let html = page(&["replay", "l3-ecmp", "--functional"]);
    is_complete(&html, &["acl_deny", "ipv4_route"]);
    assert!(!html.contains("Buffer over time"));
    let (code, message) = refused(&["replay", "l3-ecmp", "--timeline-every", "1us"]);
    assert_eq!(code, 2);
    assert!(message.contains("--timeline FILE or --html FILE"), "{message}");
}

#[test]
fn scenarios_have_a_page() {
    let html = page(&["run", "--filter", "8.1"]);
    let run = json(&["--json", "run", "--filter", "8.1"]);
    is_complete(&html, &["Every assertion", "8.1", "class=\"tag pass\""]);
    for check in run["scenarios"][0]["checks"].as_array().unwrap() {
        let what = check["what"].as_str().unwrap().replace('<', "&lt;").replace('>', "&gt;");
        assert!(html.contains(&what), "{what}");
    }
}

#[test]
fn a_hunt_has_a_page_with_the_programs_text() {
    let html = page(&["fuzz", "ecmp", "--cases", "4", "--jobs", "1"]);
    is_complete(&html, &["no property failed", "program ecmp;", "parser_states"]);
    // A line with points has their packets.
    let row = html.split("<tr").find(|row| row.contains("state parse_ipv4") || row.contains("state ipv4"));
    assert!(row.is_some_and(|row| row.contains("class=\"all\"")), "{row:?}");
    // The text of a program from a file is the file.
    let dir = folder("pages");
    let path = dir.path().join("own.sluice");
    let ir = ok(&["programs", "ecmp", "--ir"]).replacen("program ecmp;", "// my comment\nprogram ecmp;", 1);
    std::fs::write(&path, ir).unwrap();
    let html = page(&["fuzz", text(&path), "--cases", "2", "--jobs", "1"]);
    assert!(html.contains("// my comment"));
}

#[test]
fn reports_and_comparisons_have_pages() {
    let html = page(&["report", "l3-ecmp"]);
    is_complete(
        &html,
        &[
            "Why it is in this stage",
            "if (ipv4.isValid())",
            ">cycles</text>",
            "ipv6_route continues in stage 4",
        ],
    );
    // A box in each of its stages, 3 and 4.
    assert_eq!(html.matches(">ipv6_route</text>").count(), 2);
    let html = page(&["report", "l3-ecmp", "--compare", "ecmp"]);
    is_complete(&html, &["Quantities", "SRAM", "wire to wire, ns"]);
}
