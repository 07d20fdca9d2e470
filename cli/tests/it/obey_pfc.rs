//! `--obey-pfc`: captures of senders that obey pauses over a cable.

use crate::support::{json, ok, refused};
use serde_json::Value;

fn replay(more: &[&str]) -> Value {
    let args = [&["replay", "pfc", "--json"][..], more].concat();
    json(&args)
}

/// The sample's burst to the host at 25G pauses its sender; without obeying, all of it is in the queue at once.
#[test]
fn a_sender_that_obeys_holds_packets_back() {
    let free = replay(&[]);
    assert_eq!(free["obey_pfc"], Value::Null);
    let depth = |v: &Value| {
        let queues = v["queues"].as_array().unwrap();
        queues
            .iter()
            .filter(|q| q["dev_port"] == 296)
            .map(|q| q["max_cells"].as_u64().unwrap())
            .max()
            .unwrap()
    };
    let mut last = 0;
    for cable in ["1m", "40m"] {
        let obeyed = replay(&["--obey-pfc", "--cable", cable]);
        let port = &obeyed["obey_pfc"]["ports"][0];
        assert!(port["held_back"].as_u64().unwrap() > 10, "{port}");
        assert!(
            port["delay_ns"]["most"].as_f64().unwrap() > 1_000.0 && port["pauses"].as_u64() >= Some(1),
            "{port}"
        );
        assert_eq!(port["unsent"], 0);
        // A frame waits no longer than the pause lasts and the line needs for those before it.
        assert!(
            port["delay_ns"]["most"].as_f64() < port["paused_ns"].as_f64().map(|ns| ns + 5_000.0),
            "{port}"
        );
        assert_eq!(obeyed["packets"]["in"], free["packets"]["in"]);
        assert_eq!(obeyed["packets"]["dropped"], 0);
        // Bytes on the cable when the pause was requested grow with the length of the cable.
        assert!(depth(&obeyed) < depth(&free) && depth(&obeyed) > last, "{cable}: {}", depth(&obeyed));
        last = depth(&obeyed);
    }
}

/// The MACs' PFC under a shared buffer is obeyed as well, and batches and the text agree with the JSON.
#[test]
fn pauses_of_the_macs_are_obeyed() {
    let profile = "--buffer";
    let obeyed = replay(&[profile, "chip", "--obey-pfc", "--cable", "40m"]);
    assert_eq!(obeyed["packets"]["dropped"], 0);
    let text = ok(&["replay", "pfc", "--obey-pfc", "--cable", "40m"]);
    assert!(text.contains("senders obey PFC over 40 m:"), "{text}");
    let (code, said) = refused(&["replay", "pfc", "--cable", "40m"]);
    assert!(code == 2 && said.contains("--obey-pfc"), "{said}");
}
