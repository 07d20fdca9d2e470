//! The tables of keys in the handbook follow from the declarations: `UPDATE_EXPECT=1 cargo test -p sluice-scenario handbook`
//! writes the parts between `<!-- made: NAME -->` and `<!-- end -->` anew; without it, the tests compare them.

use crate::contest::workload::handbook as workloads;
use crate::contest::{
    BusSetting, HostsSetting, HpccSetting, LoopbackSetting, PacingSetting, RateDctcpSetting, TRANSPORT_KEYS,
    TcpSetting, TelemetrySetting, TimelySetting, TransportSetting, UdpSetting, WindowSetting,
};
use crate::language::keys::table;
use crate::nic_settings::{NotificationSetting, ReactionSetting};

/// Compares the made parts of a page, each with its name.
fn compare(page: &str, parts: &[(&str, String)]) {
    let path = format!("{}/../docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut made = text.clone();
    for (name, part) in parts {
        let begin = format!("<!-- made: {name} -->\n");
        let at = made.find(&begin).unwrap_or_else(|| panic!("{page} has no part `{name}`")) + begin.len();
        let len = made[at..].find("<!-- end -->").unwrap();
        made.replace_range(at..at + len, part);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, made).unwrap();
    } else {
        assert!(
            text == made,
            "docs/{page}: a table of keys is not that of the declarations; run with UPDATE_EXPECT=1"
        );
    }
}

#[test]
fn contests_have_the_keys_that_are_declared() {
    compare(
        "contest-hosts.md",
        &[
            ("keys of hosts", table("key of `[hosts]`", HostsSetting::OWN)),
            (
                "keys of transports",
                table("key of `[hosts]` and of a transport", TRANSPORT_KEYS)
                    + "\n"
                    + &table("key of `[[hosts.transport]]` alone", TransportSetting::OWN)
                    + "\n"
                    + &table("key of `notification`", NotificationSetting::KEYS)
                    + "\n"
                    + &table("key of `window`", WindowSetting::KEYS),
            ),
            (
                "keys of senders",
                table("key of `reaction`", ReactionSetting::KEYS)
                    + "\n"
                    + &table("key of `hpcc`", HpccSetting::KEYS)
                    + "\n"
                    + &table("key of `timely`", TimelySetting::KEYS)
                    + "\n"
                    + &table("key of `dctcp`", RateDctcpSetting::KEYS),
            ),
            ("keys of telemetry", table("key of `telemetry`", TelemetrySetting::KEYS)),
            (
                "keys of buses",
                table("key of `bus`", BusSetting::KEYS)
                    + "\n"
                    + &table("key of `loopback`", LoopbackSetting::KEYS),
            ),
            (
                "keys of tcp and udp",
                table("key of `tcp`", TcpSetting::KEYS)
                    + "\n"
                    + &table("key of `pacing`", PacingSetting::KEYS)
                    + "\n"
                    + &table("key of `udp`", UdpSetting::KEYS),
            ),
        ],
    );
}

#[test]
fn workloads_have_the_keys_that_are_declared() {
    compare(
        "workloads.md",
        &[
            ("keys of every workload", workloads::of_every_workload()),
            ("kinds", workloads::kinds()),
            ("keys of kinds", workloads::of_kinds()),
        ],
    );
}
