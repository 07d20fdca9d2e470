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

    def agent(switch, time_ps, data):
        heard.append((switch, data, time_ps))
        return [f"port_down dev_port:{out['leaf1']}"] if switch == "leaf1" else None

    replay = net.replay({"leaf0:0": traffic()}, properties={"watch": watch}, agent=agent, agent_latency="1us")
    # The sixth packet of the flow is the first above the threshold, at each switch on its way.
    assert [switch for switch, _, _ in heard][::2] == ["leaf0", "leaf1"]
    assert {data for _, data, _ in heard} == {bytes([10, 0, 0, 1, 10, 0, 1, 2])}
    times = [time for _, _, time in heard]
    assert times == sorted(times) and times[0] > 500_000
    # Packets come each 100 ns, and the port to the host is down from 1 us after the digest on: 10 of the 34 packets after the sixth
    # arrive before, of which those are lost that are still in the switch (424 ns, docs/p4-networks.md).
    assert set(lost) == {("leaf1", False)} and 24 <= lost["leaf1", False] <= 29
    assert replay.packets.out == 40 - lost["leaf1", False]


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
