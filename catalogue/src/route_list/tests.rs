use super::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::FrontPort;

/// Returns each route as text: prefix, ports with weights. Ports are `EthernetN` for front-panel port N.
fn routes(text: &str) -> (Vec<String>, Vec<String>) {
    let (position, notes) = place(text).unwrap();
    let route = |route: &Route| {
        let ports = route.ports.iter().map(|(port, weight)| format!("{port}x{weight}"));
        format!("{}/{} {}", route.to.address, route.to.len, ports.collect::<Vec<_>>().join(" "))
    };
    (position.routes.iter().map(route).collect(), notes)
}

fn place(text: &str) -> Result<(Position, Vec<String>), Vec<String>> {
    let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
    let texts = |errors: Vec<RouteListError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    let list = RouteList::parse("r", text).map_err(texts)?;
    let port = |name: &str| {
        let front = name.strip_prefix("Ethernet").and_then(|n| n.parse().ok()).map(FrontPort);
        front.and_then(|front| ports.front(front)).ok_or(format!("there is no port `{name}`"))
    };
    list.position(&ports, port).map_err(texts)
}

const FRR: &str = "\
Codes: K - kernel route, C - connected, S - static, B - BGP,
       > - selected route, * - FIB route, q - queued, r - rejected

VRF default:
K>* 0.0.0.0/0 [0/0] via 192.168.0.1, eth0, 01:02:03
B>* 10.1.0.0/16 [20/0] via 10.0.0.1, Ethernet8, weight 1, 01:00:00
  *                    via 10.0.0.3, Ethernet9, weight 3, 01:00:00
                       via 10.0.0.5, Ethernet10, weight 1, 01:00:00
B   10.1.0.0/16 [200/0] via 10.0.0.7, Ethernet11, weight 1, 01:00:00
B>  10.2.0.0/16 [200/0] via 10.9.9.9 (recursive), weight 1, 01:00:00
  *                       via 10.0.0.1, Ethernet8, weight 1, 01:00:00
S>* 10.3.0.0/16 [1/0] unreachable (blackhole), weight 1, 01:00:00
C>* 10.0.0.0/31 is directly connected, Ethernet8, 01:00:00
O>* 10.4.0.0/24 [110/20] via 10.0.0.3, Ethernet9, weight 1, 01:00:00

VRF mgmt:
S>* 0.0.0.0/0 [1/0] via 192.168.0.1, Ethernet1, weight 1, 01:00:00
  *                 via 192.168.0.2, Ethernet2, weight 1, 01:00:00
";

#[test]
fn frr_text() {
    let (routes, notes) = routes(FRR);
    assert_eq!(routes, ["10.1.0.0/16 8x1 9x3", "10.2.0.0/16 8x1", "10.0.0.0/31 8x1", "10.4.0.0/24 9x1"]);
    let words = ["1 routes that discard", "2 routes that are not in use", "routes over eth0 are left out"];
    assert!(words.iter().all(|word| notes.iter().any(|note| note.contains(word))), "{notes:?}");
}

#[test]
fn frr_json() {
    let text = r#"{"default": {
        "10.1.0.0/16": [
          {"protocol": "bgp", "nexthops": [{"ip": "10.0.0.9", "interfaceName": "Ethernet1", "active": true}]},
          {"protocol": "bgp", "selected": true, "nexthops": [
            {"ip": "10.0.0.1", "interfaceName": "Ethernet8", "active": true, "weight": 2},
            {"ip": "10.0.0.2", "recursive": true, "active": true},
            {"ip": "10.0.0.3", "interfaceName": "Ethernet9", "active": true}]}],
        "10.0.0.0/31": [{"selected": true, "nexthops": [{"directlyConnected": true, "interfaceName": "Ethernet8"}]}],
        "2001:db8::/32": [{"selected": true, "nexthops": [{"interfaceName": "Ethernet8"}]}]},
      "mgmt": {"0.0.0.0/0": [{"selected": true, "nexthops": [{"interfaceName": "Ethernet1"}]}]}}"#;
    let (routes, notes) = routes(text);
    assert_eq!(routes, ["10.0.0.0/31 8x1", "10.1.0.0/16 8x2 9x1"]);
    assert!(notes[0].starts_with("r: 1 routes of IPv6 are left out"), "{notes:?}");
    let bad = "{\n \"10.1.0.0/16\": [{\"selected\": true, \"nexthops\": [{\"ip\": \"x\"}]}]\n}";
    assert_eq!(
        place(bad).unwrap_err(),
        ["r:2: `10.1.0.0/16` has the next hop `x`; expected an address such as 10.0.0.1"]
    );
    assert!(place("{\n[").unwrap_err()[0].starts_with("r:2: "));
}

#[test]
fn linux_text() {
    let text = "\
default via 10.0.0.1 dev Ethernet8 proto static metric 20
10.1.0.0/16 proto bgp metric 20
\tnexthop via 10.0.0.1 dev Ethernet8 weight 1
\tnexthop via 10.0.0.3 dev Ethernet9 weight 2
10.0.0.0/31 dev Ethernet8 proto kernel scope link src 10.0.0.0
10.7.7.7 nhid 12 via 10.0.0.3 dev Ethernet9 metric 20
10.1.0.0/16 via 10.0.0.9 dev Ethernet1 metric 30
blackhole 10.5.0.0/16
local 10.0.0.0 dev lo table local
172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1 linkdown
";
    let (routes, notes) = routes(text);
    assert_eq!(routes, ["0.0.0.0/0 8x1", "10.1.0.0/16 8x1 9x2", "10.0.0.0/31 8x1", "10.7.7.7/32 9x1"]);
    assert!(
        notes.iter().any(|note| note == "r: 1 routes to a prefix that an earlier line has are left out"),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.contains("docker0")), "{notes:?}");
}

#[test]
fn csv() {
    let text = "prefix,next_hop,port,weight\n10.0.0.0/31,,Ethernet8,\n10.1.0.0/16,10.0.0.1,,2\n10.1.0.0/16,,Ethernet3,\n";
    assert_eq!(routes(text).0, ["10.0.0.0/31 8x1", "10.1.0.0/16 3x1 8x2"]);
    assert_eq!(
        routes("10.1.0.0/16,Ethernet8\ndefault,Ethernet9,4\n").0,
        ["10.1.0.0/16 8x1", "0.0.0.0/0 9x4"]
    );
}

#[test]
fn mistakes_have_their_lines() {
    for (text, expected) in [
        ("", "r:1: the file has no route; expected"),
        ("10.1.0.0/16,Ethernet8\n10.2.0.0/33,Ethernet8\n", "r:2: found `10.2.0.0/33`; expected a prefix"),
        ("10.1.0.0/8,Ethernet8\n", "r:1: `10.1.0.0/8` has bits beyond its length; the prefix is 10.0.0.0/8"),
        ("10.1.0.0/16,Ethernet99\n", "r:1: there is no port `Ethernet99`"),
        ("prefix,gateway\n", "r:1: column `gateway`; expected prefix, port, next_hop, weight"),
        ("10.1.0.0/16,\n", "r:1: the line has no next hop"),
        (
            "prefix,next_hop\n10.1.0.0/16,10.0.0.1\n",
            "r:2: next hop 10.0.0.1 has no port, and no attached route",
        ),
        ("10.1.0.0/16 via here dev Ethernet8\n", "r:1: found `via here`; expected an address"),
        ("10.1.0.0/16 proto bgp\n", "r:1: the route has no next hop"),
        ("B>* 10.1.0.0/16 [20/0] via 10.0.0.1, Ethernet8\nhello\n", "r:2: found `hello`; expected a route"),
        ("B>* 10.1.0.0/16 [20/0] over there\n", "r:1: found `[20/0] over there`"),
    ] {
        let errors = place(text).unwrap_err();
        assert!(errors[0].starts_with(expected), "{errors:?}");
    }
}
