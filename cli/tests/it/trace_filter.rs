//! `sluice replay --trace --where CONDITION`: the way of the packets for which a condition holds.

use crate::support::*;
use std::collections::BTreeSet;

/// Returns the first line of the output, and the numbers of the packets in the trace.
fn selected(args: &[&str]) -> (String, BTreeSet<u64>) {
    let output = ok(args);
    let first = output.lines().next().unwrap_or_default().to_owned();
    // `packet 17: ..`, in a network `leaf0: packet 17: ..`
    let number = |line: &str| line.split_once("packet ")?.1.split_once(':')?.0.parse().ok();
    let lines = output.lines().filter(|line| !line.starts_with(' '));
    (first, lines.filter_map(number).collect())
}

fn of_sample(condition: &str) -> (String, usize) {
    let (first, packets) = selected(&["replay", "l3-ecmp", "--trace", "--where", condition]);
    (first, packets.len())
}

#[test]
fn one_packet_is_shown_whole() {
    let full = ok(&["replay", "l3-ecmp", "--trace", "--limit", "3"]);
    let (mut own, mut is_own) = (String::new(), false);
    for line in full.lines().take_while(|line| !line.starts_with("l3-ecmp on")) {
        if !line.starts_with(' ') {
            is_own = line.starts_with("packet 1: ");
        }
        if is_own {
            own += &format!("{line}\n");
        }
    }
    assert!(own.contains("ingress of pipe") && own.contains("sent by port dev"), "{own}");
    let one = ok(&["replay", "l3-ecmp", "--trace", "--limit", "3", "--where", "packet == 1"]);
    let shown: String =
        one.lines().take_while(|line| !line.starts_with("l3-ecmp on")).map(|l| format!("{l}\n")).collect();
    assert_eq!(shown, format!("1 of 3 packets match --where 'packet == 1'\n{own}"));
}

#[test]
fn conditions_select_as_many_packets_as_counters_say() {
    // Of the 803 packets of the sample 4, 2 and 6 hit the three entries of the filter, 400 are for 10.9.9.9, port 20 sends 328 of
    // them, and its queue drops the others.
    let rows = [
        ("table == ipv4_acl && entry == 0", 4),
        ("table == ipv4_acl && entry != miss", 12),
        ("table == ipv4_acl && entry == miss && port == 0", 724),
        ("table == ipv4_acl && action == set_nexthop", 0),
        ("table == ipv4_acl && port == 3", 0),
        ("reason == acl_deny && fate == dropped", 12),
        ("fate == absorbed", 0),
        ("ipv4.dst == 10.9.9.9", 400),
        ("ipv4.dst == 10.9.9.0/24 && out == 20", 400),
        ("out == 20 && fate == sent", 328),
        ("out == dev:296 && reason == queue_tail_drop", 72),
        ("packet < 5 || packet == 100", 6),
        ("(packet < 5 || packet == 100) && packet != 3", 5),
        ("table == ecmp", 380),
        ("table == vlan && entry != miss", 24),
        ("gress == egress && table == ipv4_acl", 0),
    ];
    for (condition, packets) in rows {
        let line = format!("{packets} of 803 packets match --where '{condition}'");
        assert_eq!(of_sample(condition), (line, packets), "{condition}");
    }
}

#[test]
fn a_packet_is_followed_through_a_network() {
    let network = ["replay", "conweave", "--topology", "two-tor", "--trace", "--where"];
    let of = |condition: &str| selected(&[&network[..], &[condition]].concat()).1;
    let all = ok(&[&network[..], &["reason == reply_late"]].concat());
    // Three packets are absorbed by this reason at leaf0. They are shown at other switches, too.
    assert!(all.starts_with("3 of 552 packets match --where 'reason == reply_late'\n"), "{all}");
    assert_eq!(of("reason == reply_late"), [114, 115, 263].into());
    assert_eq!(of("switch == leaf0 && reason == reply_late"), [114, 115, 263].into());
    assert_eq!(of("switch == leaf1 && reason == reply_late"), BTreeSet::new());
    assert!(all.contains("\nleaf1: packet 114: ingress"), "{all}");
    // Threads and functional mode change nothing of which packets are selected.
    let threads = [&network[..], &["reason == reply_late", "--threads", "2"]].concat();
    assert_eq!(ok(&threads), all);
}

#[test]
fn the_file_has_the_selected_packets() {
    let dir = folder("where");
    let out = dir.path().join("out");
    ok(&["replay", "l3-ecmp", "--trace", "--where", "packet == 2", "-o", text(&out)]);
    let trace = std::fs::read_to_string(out.join("trace.txt")).unwrap();
    assert!(trace.starts_with("packet 2: ingress of pipe 0 entered"), "{trace}");
    assert!(
        trace.lines().filter(|line| line.starts_with("packet")).all(|line| line.starts_with("packet 2:"))
    );
}

#[test]
fn mistakes_have_a_column_and_the_nearest_name() {
    let rows = [
        (
            "ipv4.dts == 10.0.0.1",
            "error: --where `ipv4.dts == 10.0.0.1`, column 1: there is no name or field `ipv4.dts`\n  = help: did you mean `ipv4.dst`?\n",
        ),
        (
            "table == ipv4_alc",
            "error: --where `table == ipv4_alc`, column 10: there is no table `ipv4_alc`\n  = help: did you mean `ipv4_acl`?\n",
        ),
        (
            "packet == 1 && reason == tail_drop",
            "error: --where `packet == 1 && reason == tail_drop`, column 26: there is no reason `tail_drop`\n  = help: did you mean \
             `queue_tail_drop`?\n",
        ),
        (
            "fate == lost",
            "error: --where `fate == lost`, column 9: there is no fate `lost`\n  = help: there are sent, dropped, absorbed\n",
        ),
        (
            "ipv4.dst == 02:00:00:00:00:01",
            "error: --where `ipv4.dst == 02:00:00:00:00:01`, column 13: field ipv4.dst: `02:00:00:00:00:01` is a MAC address (48 bits), \
             but the field has 32 bits\n",
        ),
        (
            "table < ecmp",
            "error: --where `table < ecmp`, column 1: `table` has no order\n  = help: compare it by `==` or `!=`\n",
        ),
        (
            "table = ecmp",
            "error: --where `table = ecmp`, column 7: found `=`, expected a name, a comparison, `&&` or `||`\n  = help: a comparison is \
             written `==`\n",
        ),
        (
            "dst == 10.0.0.1",
            "error: --where `dst == 10.0.0.1`, column 1: `dst` is the end of several fields\n  = help: write one of ethernet.dst, ipv4.dst, \
             ipv4_options.dst, ipv6.dst\n",
        ),
    ];
    for (condition, expected) in rows {
        let (code, message) = refused(&["replay", "l3-ecmp", "--trace", "--where", condition]);
        assert_eq!((code, message.as_str()), (2, expected));
    }
}

#[test]
fn a_condition_needs_a_trace() {
    let (code, message) = refused(&["replay", "l3-ecmp", "--where", "packet == 1"]);
    assert!(code == 2 && message.contains("--trace"), "{message}");
}

#[test]
fn entries_of_all_tables_are_counted() {
    // The counts of the tables without a counter are those of the lines of `--trace`.
    let output = ok(&["replay", "l3-ecmp"]);
    let table: Vec<&str> = output
        .lines()
        .skip_while(|line| !line.contains("ENTRIES HIT"))
        .take_while(|l| !l.is_empty())
        .collect();
    let row = |name: &str| {
        let line = table.iter().find(|line| line.trim_start().starts_with(name));
        let words: Vec<String> = line
            .unwrap_or_else(|| panic!("{name}: {table:#?}"))
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        words[name.split_whitespace().count()..].join(" ")
    };
    assert_eq!(row("vlan  miss"), "779");
    assert_eq!(row("ipv4_acl  miss"), "724");
    assert_eq!(row("ipv4_acl  ipv4.protocol=6 m.dst_port=23"), "4 512");
    assert_eq!(row("ipv4_route  m.vrf=0 ipv4.dst=10.9.9.9/32"), "400 600000");
    // 380 lookups in all, of three groups.
    assert_eq!([1, 2, 3].map(|group| row(&format!("ecmp  m.group={group}"))), ["354", "12", "14"]);
    // The interpreter and the engine by steps count the same.
    for more in [
        &["--engine", "reference"][..],
        &["--engine", "steps"],
        &["--functional", "--trace", "--where", "packet == 900"],
    ] {
        let other = ok(&[&["replay", "l3-ecmp"][..], more].concat());
        let own: Vec<&str> =
            other.lines().skip_while(|l| !l.contains("ENTRIES HIT")).take_while(|l| !l.is_empty()).collect();
        if !more.contains(&"--functional") {
            assert_eq!(own, table, "{more:?}");
        }
        assert!(own.iter().any(|line| line.split_whitespace().eq(["vlan", "miss", "779"])), "{own:#?}");
    }
}
