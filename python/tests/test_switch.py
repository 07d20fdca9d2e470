"""Switches: packets, entries, callables, tables."""

import os

import pytest
from hypothesis import HealthCheck, given, settings

import sluice
from sluice import Error, Program
from sluice.strategies import entries, packets

PATCH = Program("ecn-mark")


def test_packets_are_sent_where_the_default_entries_say():
    switch = PATCH.switch()
    for n in range(3):
        switch.send(bytes([n]) * 60, port=0, time=f"{n}us")
    switch.drain()
    run = switch.take()
    # The default setup of `ecn-mark` sends frames that are not IPv4 to front-panel port 16.
    assert run.sent["port"] == [16, 16, 16]
    assert run.sent["bytes"] == [bytes([n]) * 60 for n in range(3)]
    assert run.violations == [] and len(run.lost) == 0
    assert switch.totals()["sent"] == 3 and len(switch.take().sent) == 0
    assert sum(switch.queues()["enqueued"]) == 3


def test_late_packets_and_wrong_ports_are_refused():
    switch = PATCH.switch()
    with pytest.raises(Error, match="the switch has no front-panel port 999"):
        switch.send(b"\0" * 60, port=999)
    switch.run_until("2us")
    assert switch.time_ns == 2000
    with pytest.raises(Error, match="comes too late"):
        switch.send(b"\0" * 60, time=1000)
    with pytest.raises(Error, match="expected nanoseconds"):
        switch.run_until(-1)


def test_entries_take_effect_at_their_time():
    from scapy.all import IP, UDP, Ether

    switch = Program("l3-ecmp").switch()
    assert "ipv4_route" in switch.tables and len(switch.tables["ipv4_route"]) > 0
    before = len(switch.tables["ipv4_route"])
    with pytest.raises(KeyError, match="there are"):
        switch.tables["nothing"]
    with pytest.raises(Error, match="there is no action `fly`"):
        switch.tables["ipv4_route"].add(1, "10.9.0.0/16", action="fly")
    frame = Ether() / IP(dst="10.0.1.1") / UDP()
    switch.send(frame)
    switch.drain()
    assert len(switch.take().sent) + switch.totals()["dropped"] + switch.totals()["absorbed"] > 0
    switch.commands("port_down dev_port:136", time="1ms")
    assert len(switch.tables["ipv4_route"]) == before


def test_properties_are_callables():
    seen = []

    def never_grows(packet):
        seen.append(packet.number)
        return None if packet.reason or len(packet.bytes) <= 60 else f"{len(packet.bytes)} bytes"

    switch = PATCH.switch(properties={"never_grows": never_grows})
    switch.send(b"\1" * 60)
    switch.send(b"\1" * 61, time="1us")
    switch.drain()
    assert switch.take().violations == ["never_grows: packet 1: 61 bytes"] and seen == [0, 1]


def test_an_exception_of_a_callable_is_raised():
    switch = PATCH.switch(properties={"fails": lambda packet: 1 / 0})
    switch.send(b"\1" * 60)
    with pytest.raises(ZeroDivisionError):
        switch.drain()


def test_a_source_feeds_a_switch():
    switch = PATCH.switch()
    switch.feed((n * 1000, 0, bytes(60)) for n in range(10))
    switch.drain()
    assert switch.take().sent["number"] == list(range(10))


def test_tables_open_in_other_libraries():
    import duckdb
    import pandas
    import polars
    import pyarrow

    switch = PATCH.switch()
    switch.send(b"\1" * 60)
    switch.drain()
    sent = switch.take().sent
    assert pyarrow.table(sent).num_rows == 1
    assert polars.DataFrame(sent)["port"].to_list() == [16]
    assert pandas.DataFrame.from_arrow(sent)["port"][0] == 16
    arrow = pyarrow.table(sent)
    assert duckdb.sql("select port from arrow").fetchall() == [(16,)]


def test_tables_hold_every_kind():
    table = sluice.Table(
        [("n", [1, None]), ("x", [0.5, None]), ("s", ["a", None]), ("b", [b"\1", None]), ("t", [True, None])]
    )
    assert [table[name] for name in table.column_names] == [
        [1, None],
        [0.5, None],
        ["a", None],
        [b"\1", None],
        [True, None],
    ]
    assert table.to_parquet() == table.to_parquet()


ROUTER = Program("l3-ecmp")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(packets(), entries(ROUTER))
def test_no_packet_is_lost_without_a_reason(packet, commands):
    switch = ROUTER.switch(entries=os.devnull)
    switch.commands(*commands)
    switch.send(packet)
    switch.drain()
    totals = switch.totals()
    assert totals["received"] + totals["created"] == totals["sent"] + totals["dropped"] + totals["absorbed"]


def test_an_agent_answers_digests_with_commands(sketch):
    from scapy.all import IP, UDP, Ether

    heard = []

    def agent(time_ns, data):
        heard.append((time_ns, data))
        # The program's digest is the header `heavy`: the two addresses.
        assert data.fields == {"heavy.src": 0x0A000001, "heavy.dst": 0x0A000101}
        return ["register_write sketch_0 5 77"]

    switch = Program(sketch, {"threshold": 3}).switch(agent=agent, agent_latency="10us")
    frame = Ether() / IP(src="10.0.0.1", dst="10.0.1.1") / UDP() / bytes(20)
    for n in range(6):
        switch.send(frame, time=f"{n}us")
    switch.run_until("8us")
    assert [data for _, data in heard] == [bytes([10, 0, 0, 1, 10, 0, 1, 1])]
    first = switch.registers["sketch_0"]
    # All packets are of one flow, which has one cell.
    assert first["value"] == [6] and 5 not in first["index"]
    switch.run_until("30us")
    assert dict(zip(switch.registers["sketch_0"]["index"], switch.registers["sketch_0"]["value"]))[5] == 77
    digests = switch.take().digests
    assert digests["data"] == [heard[0][1]] and digests["time_ns"] == [heard[0][0]]
    assert digests["heavy.src"] == [0x0A000001] and digests["heavy.dst"] == [0x0A000101]


def test_agents_that_take_picoseconds_are_refused():
    with pytest.raises(Error, match="agents get the time in nanoseconds\n  = help: name the argument `time_ns`"):
        PATCH.switch(agent=lambda time_ps, data: None)


def test_old_names_of_times_name_the_new_ones():
    switch = PATCH.switch()
    with pytest.raises(AttributeError, match="a switch has no `time`; `time_ns` is its time in nanoseconds"):
        switch.time
    with pytest.raises(AttributeError, match="`time_ns` is its time in nanoseconds"):
        failing = PATCH.switch(properties={"p": lambda packet: packet.time_ps})
        failing.send(bytes(60))
        failing.drain()
    with pytest.raises(Error, match="the table has no column `time_ps`; .*\n  = help: its name is `time_ns`"):
        switch.take().sent["time_ps"]


def test_times_are_nanoseconds():
    seen = []
    switch = PATCH.switch(properties={"watch": lambda packet: seen.append((packet.time_ns, packet.port))})
    switch.send(bytes(60), time=1000)
    switch.run_until(5000.5)
    # The packet is sent once, after its arrival, and the switch has run to the time that was asked for.
    assert switch.time_ns == 5000.5
    ((time_ns, port),) = seen
    sent = switch.take().sent
    assert sent["time_ns"] == [time_ns] and 1000 < time_ns < 5000 and port == 16
    # Numbers of nanoseconds are times of options, too: one packet a microsecond, and 1.5 us of them.
    replay = PATCH.replay(speed="1Mpps", duration=1500)
    assert replay.packets["in"] == 2


def test_ports_have_names(tmp_path):
    (tmp_path / "ports.csv").write_text("".join(f"swp{n + 1},{n}\n" for n in range(32)))
    switch = PATCH.switch(port_map=tmp_path / "ports.csv", port_speed="400G")
    switch.send(bytes(60), port="swp2")
    switch.send(bytes(60), port="3/0", time=1000)
    switch.drain()
    sent = switch.take().sent
    # The default entries send frames that are not IPv4 to front-panel port 16, which is the 17th.
    assert sent["port"] == [16, 16] and sent["port_name"] == ["swp17", "swp17"]
    assert switch.queues()["port_name"] == ["swp17"]
    with pytest.raises(Error, match="swp99"):
        switch.send(bytes(60), port="swp99")


def test_a_run_shows_what_happened():
    switch = PATCH.switch(properties={"p": lambda packet: "<wrong>"})
    switch.send(bytes(60))
    switch.drain()
    run = switch.take()
    assert repr(run) == "Run(sent 1, digests 0, violations 1)"
    assert "<td>sent</td><td>1</td>" in run._repr_html_() and "&lt;wrong&gt;" in run._repr_html_()
    assert repr(switch).endswith("received 1, created 0, sent 1, dropped 0, absorbed 0, held 0)")


def test_an_answer_that_is_no_command_is_an_error(sketch):
    from scapy.all import IP, UDP, Ether

    switch = Program(sketch, {"threshold": 1}).switch(agent=lambda *_: ["fly away"])
    switch.send(Ether() / IP(dst="10.0.1.1") / UDP() / bytes(20))
    with pytest.raises(Error, match="fly"):
        switch.drain()


def test_a_callable_cannot_use_its_switch():
    switch = PATCH.switch(properties={"p": lambda packet: str(switch.time_ns)})
    switch.send(b"\1" * 60)
    with pytest.raises(Error, match="the switch runs"):
        switch.drain()


def test_a_program_that_does_not_fit_has_no_switch():
    with pytest.raises(Error, match="has no place in 12 stages") as found:
        Program("l3-ecmp", {"ipv4_routes": 2_000_000}, chip="tofino").switch()
    assert found.value.code == 1
