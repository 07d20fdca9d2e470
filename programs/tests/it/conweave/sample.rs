//! The committed traces equal those of the generators.

use sluice_programs::catalogue;
use sluice_programs::conweave::sample::{CONWEAVE, CONWEAVE_HOSTS, conweave, conweave_hosts};

/// `UPDATE_EXPECT=1` rewrites the files.
#[test]
fn the_samples_are_what_their_generators_make() {
    let [host0, host1, host2] = conweave_hosts().unwrap().try_into().unwrap();
    let all = [
        ("conweave.pcap", conweave().unwrap(), CONWEAVE),
        ("conweave-host0.pcap", host0, CONWEAVE_HOSTS[0]),
        ("conweave-host1.pcap", host1, CONWEAVE_HOSTS[1]),
        ("conweave-host2.pcap", host2, CONWEAVE_HOSTS[2]),
    ];
    for (name, made, committed) in all {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(format!("{}/samples/{name}", env!("CARGO_MANIFEST_DIR")), &made).unwrap();
            continue;
        }
        assert!(made == committed, "programs/samples/{name} is stale; write it with UPDATE_EXPECT=1");
    }
}

#[test]
fn both_programs_offer_them() {
    let catalogue = catalogue();
    for program in ["conweave", "conweave-spine"] {
        assert_eq!(catalogue.get(program).unwrap().sample(), Some(("conweave.pcap", CONWEAVE)));
    }
    let files: Vec<&str> = catalogue.get("conweave").unwrap().network_samples().iter().map(|s| s.1).collect();
    assert_eq!(files, ["conweave-host0.pcap", "conweave-host1.pcap", "conweave-host2.pcap"]);
}
