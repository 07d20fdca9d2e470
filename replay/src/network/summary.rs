//! Summaries of networks: the keys of a single switch's summary, summed over the network, then `switches` and `links`.

use super::{NetworkOutcome, name_of};
use serde_json::{Map, Value, json};
use sluice_fabric::network::{End, LinkDrop, LinkId, Network, SwitchSetup, Waiting, Way, WayTotals};

impl NetworkOutcome<'_> {
    /// Returns the summary as a document of schema `sluice.summary/1`. Every key is always there.
    #[must_use]
    pub fn summary(&self) -> Value {
        let network = &self.network;
        let mut switches: Vec<Value> = self.switches.iter().map(|s| s.summary()).collect();
        for (id, switch) in network.ids().zip(&mut switches) {
            switch["name"] = name_of(network, id).into();
        }
        let t = network.totals();
        let mut drops = maps(&switches, "drops");
        for (drop, name, ..) in LinkDrop::TABLE {
            add(&mut drops, name, t.link_drops[drop as usize]);
        }
        let mut held = maps(&switches, "held");
        add(&mut held, "links", t.on_links);
        let one = |key: &str| {
            let first = switches.first().map_or(Value::Null, |s| s[key].clone());
            switches.iter().all(|s| s[key] == first).then_some(first)
        };
        let programs = || {
            let mut names: Vec<&str> = switches.iter().filter_map(|s| s["program"].as_str()).collect();
            names.sort_unstable();
            names.dedup();
            Value::String(names.join("+"))
        };
        let timed = self.switches.first().is_none_or(|s| s.view.is_timed());
        json!({
            "schema": "sluice.summary/1",
            "program": one("program").unwrap_or_else(programs),
            "chip": one("chip"),
            "params": one("params").unwrap_or_else(|| json!({})),
            "seed": self.switches.first().map_or(0, |s| s.view.config().seed),
            "inputs": lists(&switches, "inputs", false),
            "packets": {
                "in": t.entered, "created": t.created, "out": t.delivered,
                "dropped": t.dropped + t.lost_on_links(), "absorbed": t.absorbed, "held": t.held + t.on_links,
            },
            "created": created(&switches),
            "drops": drops,
            "absorbed": maps(&switches, "absorbed"),
            "held": held,
            "recirculated": sum(&switches, "recirculated"),
            "resubmitted": sum(&switches, "resubmitted"),
            "latency_ns": if timed { self.latency.json() } else { Value::Null },
            "ports": edge_ports(network, &switches),
            "queues": queues(&switches),
            "pools": lists(&switches, "pools", true),
            "buffer": Value::Null,
            "counters": [],
            "registers": [],
            "readings": [],
            "warnings": warnings(&switches).into_iter().chain(deadlocks(network)).collect::<Vec<_>>(),
            "violations": lists(&switches, "violations", true),
            "obey_pfc": obeyed(&switches),
            "control_plane": self.control_plane.as_ref().unwrap_or(&Value::Null),
            "flow_control_words": lists(&switches, "flow_control_words", true),
            "hops": t.hops,
            "links": network.links().filter_map(|id| link(network, id)).collect::<Vec<_>>(),
            "switches": switches,
        })
    }
}

fn add(map: &mut Map<String, Value>, key: &str, count: u64) {
    if count > 0 {
        let before = map.get(key).and_then(Value::as_u64).unwrap_or(0);
        map.insert(key.to_owned(), (before + count).into());
    }
}

/// Returns the sum of objects of counts.
fn maps(switches: &[Value], key: &str) -> Map<String, Value> {
    let mut all = Map::new();
    for (name, count) in switches.iter().filter_map(|s| s[key].as_object()).flatten() {
        add(&mut all, name, count.as_u64().unwrap_or(0));
    }
    all
}

/// Returns the sum of `created`, including keys with count 0.
fn created(switches: &[Value]) -> Map<String, Value> {
    let mut all = maps(switches, "created");
    for name in switches.iter().filter_map(|s| s["created"].as_object()).flat_map(Map::keys) {
        all.entry(name.clone()).or_insert_with(|| 0.into());
    }
    all
}

fn sum(switches: &[Value], key: &str) -> u64 {
    switches.iter().filter_map(|s| s[key].as_u64()).sum()
}

/// Returns the elements of all switches' lists, each with the name of its switch if they are `named`.
fn lists(switches: &[Value], key: &str, named: bool) -> Vec<Value> {
    let mut all = Vec::new();
    for switch in switches {
        for element in switch[key].as_array().into_iter().flatten() {
            let mut element = element.clone();
            if named {
                element["switch"] = switch["name"].clone();
            }
            all.push(element);
        }
    }
    all
}

/// Returns all queues, with the names of their ports.
fn queues(switches: &[Value]) -> Vec<Value> {
    let mut all = lists(switches, "queues", true);
    for queue in &mut all {
        let here = switches.iter().filter(|s| s["name"] == queue["switch"]);
        let mut ports = here.flat_map(|s| s["ports"].as_array().into_iter().flatten());
        let port = ports.find(|p| p["dev_port"] == queue["dev_port"]).map(|p| p["port"].clone());
        // The list has only ports that received or sent a packet.
        queue["port"] = port.unwrap_or_else(|| format!("dev:{}", queue["dev_port"]).into());
    }
    all
}

/// Returns ports without a link that sent or received something.
fn edge_ports(network: &Network, switches: &[Value]) -> Vec<Value> {
    let ends: Vec<(&str, u16)> = network
        .links()
        .filter_map(|id| network.link(id))
        .flat_map(|link| link.ends)
        .filter_map(|end| port(network, end))
        .collect();
    let mut ports = lists(switches, "ports", true);
    ports.retain(|p| {
        let (switch, port) = (p["switch"].as_str().unwrap_or(""), p["dev_port"].as_u64().unwrap_or(0));
        !ends.iter().any(|(s, dev)| *s == switch && u64::from(*dev) == port)
    });
    ports
}

/// Returns the switch and the dev_port of a link's end.
fn port(network: &Network, end: End) -> Option<(&str, u16)> {
    let setup = network.setup(end.switch)?;
    Some((setup.name.as_str(), setup.ports.front(end.port)?.dev_port.number()))
}

/// Returns the packets that senders of all switches held back.
fn obeyed(switches: &[Value]) -> Value {
    let Some(cable) = switches.iter().find_map(|s| s["obey_pfc"]["cable_m"].as_f64()) else {
        return Value::Null;
    };
    let mut all = Vec::new();
    for switch in switches {
        for sender in switch["obey_pfc"]["ports"].as_array().into_iter().flatten() {
            let mut sender = sender.clone();
            sender["switch"] = switch["name"].clone();
            all.push(sender);
        }
    }
    json!({ "cable_m": cable, "ports": all })
}

fn warnings(switches: &[Value]) -> Vec<String> {
    let mut all = Vec::new();
    for switch in switches {
        let name = switch["name"].as_str().unwrap_or("");
        let own = switch["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        all.extend(own.map(|text| format!("{name}: {text}")));
    }
    all
}

/// Returns a warning for each cycle of queues that wait for each other at the end of the run.
fn deadlocks(network: &Network) -> Vec<String> {
    let queue = |w: &Waiting| {
        let setup = network.setup(w.switch);
        let shown = |s: &SwitchSetup| {
            let front = s.ports.iter().find(|p| p.dev_port.number() == w.dev_port)?.front()?;
            Some(s.ports.shown(front))
        };
        let port = setup.and_then(shown).unwrap_or_else(|| format!("dev:{}", w.dev_port));
        format!("{} port {port} queue {}", name_of(network, w.switch), w.queue)
    };
    let circle = |circle: &Vec<Waiting>| {
        let queues: Vec<String> = circle.iter().map(queue).collect();
        format!("deadlock: queues wait for each other's pauses to end: {}", queues.join(", then "))
    };
    network.deadlocks().iter().map(circle).collect()
}

fn link(network: &Network, id: LinkId) -> Option<Value> {
    let setup = network.link(id)?;
    let [a, b] = setup.ends;
    let end = |end: End| {
        let (name, dev_port) = port(network, end)?;
        Some(json!({ "switch": name, "port": end.port.to_string(), "dev_port": dev_port }))
    };
    let (_, dev_port) = port(network, a)?;
    let speeds = &network.setup(a.switch)?.config.port_speeds;
    let slower = speeds.iter().rev().find(|(dev, _)| *dev == dev_port).map(|(_, speed)| *speed);
    let rate = slower.or_else(|| Some(network.setup(a.switch)?.ports.front(a.port)?.speed))?;
    Some(json!({
        "link": network.link_name(id),
        "a": end(a)?, "b": end(b)?,
        "rate_bps": rate.as_bps(),
        "delay_ns": setup.delay.as_ps() as f64 / 1000.0,
        "events": setup.script.len(),
        "forth": way(network.way(id, Way::Forth)?),
        "back": way(network.way(id, Way::Back)?),
    }))
}

fn way(t: WayTotals) -> Value {
    let mut drops = Map::new();
    for (drop, name, ..) in LinkDrop::TABLE {
        add(&mut drops, name, t.dropped[drop as usize]);
    }
    json!({
        "packets": t.frames, "bytes": t.bytes, "wire_bytes": t.wire_bytes, "carried": t.carried, "drops": drops,
    })
}
