"""Networks with properties, agents and traffic sources in Python."""

import collections

import pytest

import sluice
from sluice import Error, Network, Program, _native

TOPOLOGY = "leaf-spine:leaves=2,spines=2,hosts=2"


def frame(number: int) -> bytes:
    """Return a UDP packet of one flow, from the first host of leaf0 to the second of leaf1, with a number at its end."""
    from scapy.all import IP, UDP, Ether

    return bytes(Ether() / IP(src="10.0.0.1", dst="10.0.1.2") / UDP(sport=1, dport=2) / bytes([number] * 20))


def traffic():
    """Yield 40 packets, one in each 100 ns."""
    for number in range(40):
        yield number * 100, frame(number)


@pytest.fixture
def net(sketch):
    return Network(TOPOLOGY, Program(sketch, {"threshold": 5}))


def test_properties_get_the_packets_of_all_switches(net):
    seen = collections.defaultdict(list)

    def comes_to_leaf1(packet):
        seen[packet.switch].append(packet.number)
        assert packet.reason is None and packet.received[-20:] == packet.bytes[-20:]
        return f"packet {packet.bytes[-1]}" if packet.switch == "leaf1" else None

    for threads in (1, 2):
        seen.clear()
        replay = net.replay({"leaf0:0": traffic()}, properties={"comes_to_leaf1": comes_to_leaf1}, threads=threads)
        # All packets are of one flow, which goes over one spine.
        (spine,) = set(seen) - {"leaf0", "leaf1"}
        assert sorted(seen["leaf0"]) == sorted(seen["leaf1"]) == sorted(seen[spine]) == list(range(40))
        found = [(one.switch, one.property, one.text) for one in replay.violations]
        assert found == [("leaf1", "comes_to_leaf1", f"packet {number}") for number in range(40)]


def test_a_traffic_source_is_a_capture(net, tmp_path):
    sluice.run("gen", "udp", "--packets", "50", "--dst", "10.0.1.1", "-o", tmp_path / "t.pcap")
    table = _native.read_capture(tmp_path / "t.pcap")
    first = table["time_ns"][0]
    source = [(time - first, content) for time, content in zip(table["time_ns"], table["bytes"])]
    of_capture, of_source = (net.replay({"leaf0:0": one}).to_dict() for one in (tmp_path / "t.pcap", source))
    for one in (of_capture, of_source):
        # Names of files, and wall times.
        del one["inputs"], one["wall"], one["switches"][0]["inputs"]
    assert of_capture == of_source and of_source["packets"]["out"] == 50
    assert net.replay({"hosts": traffic()}).packets.out == 40
    with pytest.raises(Error, match="packet 1 of a traffic source is at 0 ns, after one at 5 ns"):
        net.replay({"leaf0:0": [(5, frame(0)), (0, frame(1))]})


def test_an_agent_hears_all_switches(net):
    heard, lost = [], collections.Counter()
    out = {}

    def watch(packet):
        if packet.dev_port is not None:
            out.setdefault(packet.switch, packet.dev_port)
        else:
            lost[packet.switch, packet.absorbed] += 1

    def agent(switch, time_ns, data):
        heard.append((switch, data, time_ns))
        return [f"port_down dev_port:{out['leaf1']}"] if switch == "leaf1" else None

    replay = net.replay({"leaf0:0": traffic()}, properties={"watch": watch}, agent=agent, agent_latency="1us")
    # The sixth packet of the flow is the first above the threshold, at each switch on its way.
    assert [switch for switch, _, _ in heard][::2] == ["leaf0", "leaf1"]
    assert {data for _, data, _ in heard} == {bytes([10, 0, 0, 1, 10, 0, 1, 2])}
    times = [time for _, _, time in heard]
    assert times == sorted(times) and times[0] > 500
    # Packets come each 100 ns, and the port to the host is down from 1 us after the digest on: 10 of the 34 packets after the sixth
    # arrive before, of which those are lost that are still in the switch (424 ns, docs/p4-networks.md).
    assert set(lost) == {("leaf1", False)} and 24 <= lost["leaf1", False] <= 29
    assert replay.packets.out == 40 - lost["leaf1", False]


def test_a_graph_has_places():
    import networkx

    graph = Network("leaf-spine:leaves=2,spines=3,hosts=4,rate=100G,delay=500ns", "ecmp").graph()
    kinds = collections.Counter(kind for _, kind in graph.nodes(data="kind"))
    assert kinds == {"switch": 5, "host": 8}
    # Each leaf has a cable to each spine, and each host one to its leaf.
    assert collections.Counter(kind for *_, kind in graph.edges(data="kind")) == {"cable": 6, "host": 8}
    cable = graph.edges["leaf0", "spine2", 0]
    assert cable["rate_bps"] == 100e9 and cable["delay_ns"] == 500
    assert graph.nodes["leaf1-h0"]["address"] == "10.0.1.1" and graph.nodes["leaf1"]["subnet"] == "10.0.1.0/24"
    places = networkx.get_node_attributes(graph, "pos")
    assert len(set(places.values())) == 13
    # Hosts are at the bottom; four of eight are left of the middle, with their leaf above them.
    assert {places[name][1] for name in places if "-h" in name} == {0}
    assert places["leaf0"] == (2, 1) and places["leaf1"] == (6, 1) and places["spine1"] == (4, 2)
    assert networkx.shortest_path_length(graph, "leaf0-h0", "leaf1-h0") == 4


FILE = """name = "pair"

[[switch]]
name = "a"
hosts = 1

[[switch]]
name = "b"
stage = 2

[[cable]]
between = ["a", "b"]
rate = "25G"
delay = "1us"
"""


def test_graphs_of_files(tmp_path):
    path = tmp_path / "net.toml"
    path.write_text(FILE)
    graph = Network(path, "ecmp").graph()
    assert dict(graph.nodes(data="kind")) == {"a": "switch", "b": "switch", "a-h0": "host"}
    assert graph.edges["a", "b", 0]["delay_ns"] == 1000 and graph.edges["a", "b", 0]["rate_bps"] == 25e9
    path.write_text(FILE.replace("between", "betwene"))
    with pytest.raises(Error, match=r"net.toml:\d+: .*betwene"):
        Network(path, "ecmp").graph()
    with pytest.raises(Error, match="nothing.toml: there is no such file of a topology"):
        Network("nothing.toml", "ecmp").describe()
    with pytest.raises(Error, match="leafs"):
        Network("leaf-spine:leafs=2", "ecmp").graph()


def test_a_network_is_drawn():
    drawn = Network(TOPOLOGY, "ecmp")._repr_html_()
    assert "4 switches, 4 hosts, 4 cables" in drawn and drawn.count("<rect") >= 8 and "leaf1-h1" in drawn


def test_exceptions_of_callables_end_a_replay(net):
    calls = []

    def fails(packet):
        calls.append(packet)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        net.replay({"leaf0:0": traffic()}, properties={"fails": fails})
    assert len(calls) == 1
    with pytest.raises(Error, match="fly"):
        net.replay({"leaf0:0": traffic()}, agent=lambda *_: ["fly away"])
    with pytest.raises(Error, match="the latency of the agent is 0; it must be above 0"):
        net.replay({"leaf0:0": traffic()}, agent=lambda *_: None, agent_latency=0)
    with pytest.raises(Error, match="there is no switch `leaf9`|leaf9"):
        net.replay({"leaf9:0": traffic()})
