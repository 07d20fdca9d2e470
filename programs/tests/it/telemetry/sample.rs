//! The embedded samples through the default entries: what a run without inputs shows.

use crate::telemetry::node::{Frame, Node};
use expect_test::expect_file;
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::Time;
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::int::{Marks, Telemetry, decode};
use sluice_pcaps::samples;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The sample of a program, and what comes in beside it, in order of time.
fn frames(program: &str) -> Vec<Frame> {
    let (name, bytes) = samples::of(program);
    let all = std::iter::once((0, name, bytes)).chain(samples::beside(program).iter().copied());
    let mut frames = Vec::new();
    for (front, name, bytes) in all {
        let mut reader = CaptureReader::from_bytes(bytes, name).unwrap();
        while let Some(seen) = reader.next_frame().unwrap() {
            let ps = seen.time.ps_since(CaptureTime::from_secs(1_700_000_000)).unwrap();
            frames.push((Time::from_ps(ps), front, seen.data.to_vec()));
        }
    }
    frames.sort_by_key(|(time, front, _)| (*time, *front));
    let frame = |(tag, (time, front, bytes))| Frame { front, time, bytes, tag };
    (0..).zip(frames).map(frame).collect()
}

/// Fates of the packets, by front-panel port and by what they carry.
fn fates(program: &str) -> String {
    let node = Node::new(program, &ChipSpec::tofino2(), &[]);
    let story = node.run(&frames(program));
    let marks = Marks { hpcc_port: (program == "hpcc-int").then_some(4791), ..Marks::default() };
    let mut fates: BTreeMap<String, u32> = BTreeMap::new();
    for (left, bytes) in &story.sent {
        let carries = match decode(bytes, &marks) {
            Ok(Some(Telemetry::Int(int))) => {
                format!("INT of {} hops{}", int.hops.len(), if int.hops_exceeded { ", E" } else { "" })
            }
            Ok(Some(Telemetry::Hpcc(_, hops))) => format!("{} records", hops.len()),
            Ok(Some(Telemetry::Reports(list))) => {
                let (report, inner) = &list[0];
                let flags = [(report.dropped, "D"), (report.congested, "Q"), (report.tracked, "F")];
                let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, f)| *f).collect();
                let hops = inner.as_ref().map_or(0, |int| int.hops.len());
                format!("report {flags} of {hops} hops")
            }
            Ok(None) => "no telemetry".to_owned(),
            Err(_) => "broken telemetry".to_owned(),
        };
        let front = (0..32).find(|front| node.dev(*front) == left.egress_port);
        let port = front.map_or("?".to_owned(), |front| front.to_string());
        *fates.entry(format!("port {port:>2}: {carries}")).or_default() += 1;
    }
    for (lost, _) in &story.lost {
        *fates.entry(format!("ended: {}", lost.reason.name(&node.program))).or_default() += 1;
    }
    let mut table = String::new();
    fates.iter().for_each(|(fate, count)| writeln!(table, "{fate:40} {count:4}").unwrap());
    writeln!(table, "events {:?}", node.counter(&story, "events")).unwrap();
    table
}

#[test]
fn the_samples_show_what_the_programs_do() {
    for program in ["int", "hpcc-int"] {
        expect_file![format!("golden/sample_{program}.txt")].assert_eq(&fates(program));
    }
}
