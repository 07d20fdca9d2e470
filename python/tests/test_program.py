"""Programs, reports, replays and hunts."""

import json
import subprocess
import sys

import pytest

import sluice
from sluice import Error, Program


def test_a_report_has_the_numbers_of_the_command_line():
    report = Program("ecmp", {"routes": 2048}).report()
    shown = subprocess.run(
        [sys.executable, "-m", "sluice", "report", "ecmp", "--set", "routes=2048", "--json"],
        capture_output=True,
        check=True,
    )
    assert report.to_dict() == json.loads(shown.stdout)
    assert report.fits and report.stages == report.stages_used.total
    assert report.latency.total_ns > 100
    assert "fits" in report._repr_html_()
    assert report.html().startswith("<!DOCTYPE html>")
    tables = report.table("tables")
    assert "ipv4_route" in tables["name"]


def test_a_program_that_does_not_fit_has_a_report():
    report = Program("l3-ecmp", {"ipv4_routes": 2_000_000}, chip="tofino").report()
    assert not report.fits and report.stages is None
    assert "does not fit" in report._repr_html_()


def test_programs_are_names_and_files(sketch):
    assert "conweave" in sluice.programs()
    program = Program(sketch)
    assert program.text().startswith("sluice")
    assert program.report().fits
    assert "key" in program.params.column_names


def test_errors_have_the_text_of_the_command_line():
    with pytest.raises(Error, match="unknown parameter `nothing`") as found:
        Program("ecmp", {"nothing": 1}).report()
    assert "= help: `sluice programs ecmp` lists the parameters" in str(found.value)
    assert found.value.code == 2
    with pytest.raises(Error, match="there is no program `emcp`"):
        Program("emcp")
    with pytest.raises(Error, match="there is no option `speeed`\n  = help: did you mean `speed`?"):
        Program("ecmp").replay(speeed=1)


def test_a_replay_counts_and_keeps_packets():
    replay = Program("ecmp").replay(sent=True, check=True)
    packets = replay.packets
    assert packets["in"] == packets.out + packets.dropped + packets.absorbed
    assert len(replay.sent) == packets.out
    assert sum(replay.table("ports")["tx_packets"]) == packets.out
    assert all(isinstance(frame, bytes) for frame in replay.sent["bytes"][:3])


def test_a_network_replays(tmp_path):
    capture = tmp_path / "t.pcap"
    sluice.run("gen", "udp", "--packets", "50", "--dst", "10.0.1.1", "-o", capture)
    net = sluice.Network("leaf-spine:leaves=2,spines=2,hosts=2", "ecmp")
    replay = net.replay({"leaf0:0": capture})
    assert replay.packets["in"] == 50


def test_a_hunt_is_the_same_with_the_same_seed():
    one, two = (Program("ecmp").fuzz(inputs=20, seed=3, jobs=1) for _ in range(2))
    assert one.cases == 20 and one.failures == [] and one.coverage.to_dict() == two.coverage.to_dict()
    assert "coverage" in one._repr_html_()


def test_every_name_of_the_package_is_there():
    for name in sluice.__all__:
        assert getattr(sluice, name).__name__ == name and name in dir(sluice)
    with pytest.raises(AttributeError, match="module `sluice` has no `Programm`"):
        sluice.Programm  # noqa: B018


def test_the_command_line_imports_little():
    code = "import sys, sluice.__main__; print(*[name for name in sys.modules if name.startswith('sluice')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["sluice._native", "sluice", "sluice.__main__"]


def test_commands_return_their_output():
    called = sluice.run("doctor", "--json")
    assert called.json()["version"] == sluice.__version__ and called.code == 0


def test_ctrl_c_stops_a_hunt():
    code = "import sluice; sluice.Program('ecmp').fuzz(time='60s')"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    import signal
    import time

    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in err
