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
    assert switch.time == 2000
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

    def agent(time_ps, data):
        heard.append((time_ps, data))
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
    assert digests["data"] == [heard[0][1]] and digests["time_ps"] == [heard[0][0]]


def test_an_answer_that_is_no_command_is_an_error(sketch):
    from scapy.all import IP, UDP, Ether

    switch = Program(sketch, {"threshold": 1}).switch(agent=lambda *_: ["fly away"])
    switch.send(Ether() / IP(dst="10.0.1.1") / UDP() / bytes(20))
    with pytest.raises(Error, match="fly"):
        switch.drain()


def test_a_callable_cannot_use_its_switch():
    switch = PATCH.switch(properties={"p": lambda packet: str(switch.time)})
    switch.send(b"\1" * 60)
    with pytest.raises(Error, match="the switch runs"):
        switch.drain()


def test_a_program_that_does_not_fit_has_no_switch():
    with pytest.raises(Error, match="has no place in 12 stages") as found:
        Program("l3-ecmp", {"ipv4_routes": 2_000_000}, chip="tofino").switch()
    assert found.value.code == 1
