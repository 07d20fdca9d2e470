//! The invariants of a shared buffer on the emulated switch, over random profiles and events (model: buffer §8, I1 to I10).
//!
//! Other tests compare the accounting alone with an independent ledger. This test has frames, pauses in both
//! directions, blocked ports, watchdogs, copies and changes during the run. The scenario runner checks I1 to I7 after
//! each event, and I8 and I10 at the end; I9 is the second test.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sluice_scenario::{Lab, Outcome, ScenarioFile, shipped};
use std::cell::{Cell, RefCell};
use std::fmt::Write;

/// Runs a scenario on one profile.
fn run(lab: &RefCell<Lab>, text: &str) -> Outcome {
    let file = ScenarioFile::parse("random", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let profiles = |name: &str| shipped::profile(name).map(str::to_owned).ok_or_else(|| name.to_owned());
    let mut found = None;
    lab.borrow_mut().run(&file, &profiles, &|_| true, &mut |outcome| found = Some(outcome));
    found.unwrap()
}

/// Returns an error with the failed checks and the scenario's text.
fn verdict(outcome: &Outcome, text: &str) -> Result<(), TestCaseError> {
    let failed: Vec<_> = outcome.checks.iter().filter(|c| !c.passed).collect();
    prop_assert!(outcome.error.is_none() && failed.is_empty(), "{:?}\n{failed:#?}\n{text}", outcome.error);
    prop_assert!(!outcome.checks.is_empty());
    Ok(())
}

/// Number of ports of the device.
const PORTS: u16 = 4;

fn port() -> impl Strategy<Value = u16> {
    0..PORTS
}

/// A random event, as a step of a scenario.
fn event() -> impl Strategy<Value = String> {
    let class = prop::sample::select(vec![0u8, 1, 3, 3, 4]);
    let size = prop::sample::select(vec![64u16, 257, 1500, 9000]);
    let train = (port(), port(), any::<bool>(), class, size, 1u32..120, 0u8..4);
    let send = train.prop_map(|(from, to, copies, class, size, count, ecn)| {
        let to = if copies { format!("\"{to}, {}\"", (to + 1) % PORTS) } else { to.to_string() };
        format!(
            "{{ send = {{ from = {from}, to = {to}, class = {class}, size = {size}, count = {count}, ecn = {ecn} }} }}"
        )
    });
    let priorities = prop::sample::select(vec!["3", "4", "3, 4", "0", "0, 1, 2, 3, 4, 5, 6, 7"]);
    let quanta = prop::sample::select(vec![0u16, 1, 200, 65_535]);
    let pause = (port(), priorities, quanta).prop_map(|(from, priorities, quanta)| {
        format!(
            "{{ send = {{ from = {from}, pfc = {{ priorities = [{priorities}], quanta = {quanta} }} }} }}"
        )
    });
    let reader = prop::sample::select(vec!["user", "persistent", "periodic"]);
    prop_oneof![
        8 => send,
        3 => pause,
        2 => port().prop_map(|p| format!("{{ block = {p} }}")),
        3 => port().prop_map(|p| format!("{{ unblock = {p} }}")),
        2 => (1u32..400).prop_map(|us| format!("{{ wait = \"{us}us\" }}")),
        1 => Just("{ wait = \"150ms\" }".to_owned()),
        1 => (port(), -8i8..=7)
            .prop_map(|(p, n)| format!("{{ set-alpha = {{ port = {p}, class = 3, n = {n} }} }}")),
        1 => (0u32..9000).prop_map(|cells| format!("{{ resize-pool = {cells} }}")),
        1 => reader.prop_map(|reader| format!("{{ clear-watermarks = \"{reader}\" }}")),
        1 => (port(), port())
            .prop_map(|(from, to)| format!("{{ send = {{ from = {from}, to = {to}, damaged = true, count = 3 }} }}")),
        1 => any::<bool>().prop_map(|on| format!("{{ big-red-switch = {on} }}")),
        1 => Just("\"restart-watchdogs\"".to_owned()),
    ]
}

/// A random device: a shipped profile, or the small one with limits of all sizes.
fn device() -> impl Strategy<Value = String> {
    let watchdog = prop::sample::select(vec![
        "",
        ", watchdog = { detection_time = 100, restoration_time = 100, poll_interval = 100 }",
        ", watchdog = { detection_time = 100, restoration_time = 100, poll_interval = 100, action = \"forward\" }",
        ", stuck_queue_timeout = \"120ms\"",
    ]);
    let shipped = prop::sample::select(vec!["td2", "th", "th2", "tofino", "tofino2", "voq"]);
    let shipped = shipped.prop_map(|name| (name, "pfc_enable = \"3-4\"".to_owned()));
    let limits = (-8i8..=7, -8i8..=7, 0u32..60, 0u32..300, 1u32..600, 0u32..80, 200u32..9000);
    let choices = (any::<bool>(), any::<bool>(), any::<bool>());
    let own = (limits, choices).prop_map(|(limits, (pre, rescan, once))| {
        let (alpha, queue_alpha, reserved, cap, pool, xon, ingress) = limits;
        let test = if pre { "pre-admission" } else { "post-admission" };
        let bytes = |cells: u32| format!("\"{}B\"", u64::from(cells) * 256);
        let text = format!(
            "accept = [\"over-commit\", \"headroom-cap\", \"xon\", \"lossy-pool\", \"lossless-pool\"], \
             decisions = {{ xoff_test = \"{test}\", rescan = {rescan}, multicast_once = {once} }}, \
             pool = [{{ name = \"ingress_pool\", size = {}, xoff = {} }}], \
             profile = [{{ name = \"lossless\", size = {}, xoff = {}, xon = {}, dynamic_th = {alpha} }}, \
             {{ name = \"egress_lossy\", dynamic_th = {queue_alpha} }}]",
            bytes(ingress),
            bytes(pool),
            bytes(reserved),
            bytes(cap),
            bytes(xon)
        );
        ("a", text)
    });
    (prop_oneof![2 => own, 1 => shipped], watchdog, 1u64..1000).prop_map(|((name, change), watchdog, seed)| {
        format!("{{ profiles = [\"{name}\"], ports = {PORTS}, seed = {seed}, override = {{ {change}{watchdog} }} }}")
    })
}

/// Returns the checks at the end, after everything was resumed: no packet is inside, no queue is paused (I8), and no
/// packet was reordered (I10).
fn ends() -> String {
    let mut text =
        String::from("  { big-red-switch = false },\n  { unblock = \"0 to 3\" },\n  { drain = \"2s\" },\n");
    for what in ["held", "total", "violations"] {
        let _ = writeln!(text, "  {{ expect = {{ what = \"{what}\", is = 0 }} }},");
    }
    for port in 0..PORTS {
        let _ = writeln!(
            text,
            "  {{ expect = {{ what = \"pg.xoff({port}, 3) + pg.xoff({port}, 4)\", is = 0 }} }},"
        );
        let _ = writeln!(text, "  {{ expect = {{ what = \"delivered.reordered({port})\", is = 0 }} }},");
    }
    text
}

#[test]
fn random_events_break_no_invariant() {
    let lab = RefCell::new(Lab::default());
    let mut runner = TestRunner::new(Config { cases: 160, failure_persistence: None, ..Config::default() });
    let events = prop::collection::vec(event(), 1..40);
    let (dropped, paused) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&(device(), events), |(device, events)| {
        let mut steps: String = events.iter().map(|e| format!("  {e},\n")).collect();
        steps.push_str(&ends());
        steps.push_str("  { save = { name = \"drops\", value = \"drops\" } },\n");
        steps.push_str("  { expect = { what = \"drops\", at_least = 0 } },\n");
        steps.push_str("  { expect = { what = \"pfc.tx_all\", at_least = 0 } },\n");
        let text = format!(
            "[[scenario]]\nid = \"random\"\nsource = \"random\"\ntitle = \"random\"\ndevice = {device}\nsteps = [\n{steps}]\n"
        );
        let outcome = run(&lab, &text);
        let of = |what: &str| {
            let check = outcome.checks.iter().find(|c| c.what == what);
            check.map_or(0, |c| i128::from(c.actual != "0"))
        };
        dropped.set(dropped.get() + of("drops"));
        paused.set(paused.get() + of("pfc.tx_all"));
        verdict(&outcome, &text)
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    // Without drops and pauses, the test would prove nothing.
    assert!(dropped.get() >= 5 && paused.get() >= 5, "{} dropped, {} paused", dropped.get(), paused.get());
}

/// I9: if senders obey pauses, the headroom fits the data on their cables, and no watchdog acts, then no packet is
/// lost.
#[test]
fn headroom_that_fits_loses_nothing() {
    let lab = RefCell::new(Lab::default());
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    let places =
        vec![("th", 25u32), ("th", 50), ("th", 100), ("th2", 100), ("tofino2", 25), ("tofino2", 100)];
    let place = prop::sample::select(places);
    let cable = (prop::sample::select(vec![5u32, 40, 300]), 0u32..=100);
    let traffic = (2u16..=7, prop::sample::select(vec![64u32, 257, 1500, 9000]), 1u32..=2, any::<bool>());
    let events = prop::collection::vec((0u8..4, 1u32..40), 1..10);
    let (fitting, pausing) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&(place, cable, traffic, events), |(place, cable, traffic, events)| {
        let ((profile, gbps), (length, share), (fan_in, size, classes, copies)) = (place, cable, traffic);
        let pool = if profile == "tofino2" { "ingress_lossless_pool" } else { "ingress_pool" };
        let metres = (length * share / 100).max(1);
        let last = fan_in - 1;
        let mut steps = String::from("  { block = 8 },\n");
        for class in (3..=4).take(classes as usize) {
            let to = if copies { "\"8, 9\"" } else { "8" };
            let _ = writeln!(
                steps,
                "  {{ start = {{ from = \"0 to {last}\", to = {to}, class = {class}, size = {size}, obeys = true, \
                 cable = \"{metres}m\", lasts = \"60us\" }} }},"
            );
        }
        for (what, us) in events {
            steps.push_str(match what {
                0 => "  { block = 8 },\n",
                1 => "  { unblock = 8 },\n",
                2 => "  { send = { from = 8, pfc = { priorities = [3, 4], quanta = 2000 } } },\n",
                _ => "  { send = { from = 8, pfc = { priorities = [3, 4], quanta = 0 } } },\n",
            });
            let _ = writeln!(steps, "  {{ wait = \"{us}us\" }},");
        }
        steps.push_str("  { unblock = 8 },\n  { wait = \"100us\" },\n  { drain = \"1s\" },\n");
        steps.push_str("  { expect = { what = \"drops == 0\", at_least = \"fits\" } },\n");
        for port in [8, 9] {
            let _ = writeln!(steps, "  {{ expect = {{ what = \"delivered.reordered({port})\", is = 0 }} }},");
        }
        steps.push_str("  { expect = { what = \"held + total + violations\", is = 0 } },\n");
        steps.push_str("  { expect = { what = \"pfc.tx_all\", at_least = 0 } },\n");
        // Headroom for the data on the cable in both directions, the peer's reaction, the latency of this MAC (1.5 us),
        // a frame at either end, and one more frame.
        let text = format!(
            "[[scenario]]\nid = \"random\"\nsource = \"random\"\ntitle = \"random\"\n\
             device = {{ profiles = [\"{profile}\"], speed = \"{gbps}G\", ports = 16, override = {{ cable = \"{length}m\", \
             accept = [\"lossy-pool\", \"lossless-pool\"], pool = [{{ name = \"{pool}\", size = \"2000000B\" }}] }} }}\n\
             let = {{ wire = \"cable_bytes({metres}) + (reaction_ps + 1500000) * {gbps} / 8000\", \
             need = \"cells({size}) * (wire / ({size} + 24) + 3)\", \
             fits = \"(need <= headroom) * (need * {fan_in} * {classes} <= headroom_pool)\" }}\n\
             steps = [\n{steps}]\n"
        );
        let outcome = run(&lab, &text);
        let fit = outcome.checks.iter().any(|c| c.what == "drops == 0" && c.expected == "at least 1");
        let paused = outcome.checks.iter().any(|c| c.what == "pfc.tx_all" && c.actual != "0");
        fitting.set(fitting.get() + u32::from(fit));
        pausing.set(pausing.get() + u32::from(fit && paused));
        verdict(&outcome, &text)
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    let (fit, paused) = (fitting.get(), pausing.get());
    assert!(fit >= 8 && paused >= 5, "{fit} of 24 fit, {paused} of these paused senders");
}
