"""Typed options of methods."""

import importlib.util
import inspect
import os
import sys

import pytest
from conftest import REPOSITORY

import sluice
from sluice import Error, Program, options

# Its folder has the sources of the package, which no process may import in place of the wheel.
_SPEC = importlib.util.spec_from_file_location("make_options", REPOSITORY / "python" / "make_options.py")
make_options = importlib.util.module_from_spec(_SPEC)
sys.modules["make_options"] = make_options
_SPEC.loader.exec_module(make_options)


def test_the_types_are_those_of_the_command_line():
    path = REPOSITORY / "python" / "sluice" / "options.py"
    if "UPDATE_EXPECT" in os.environ:
        path.write_text(make_options.module())
    assert path.read_text() == make_options.module(), "run python/make_options.py"


def test_every_kind_of_option_is_read():
    text = """Usage: sluice sample [OPTIONS]

Options:
      --cable <METRES>
          Length [default: 5m]

  -o, --output <DIR>
          Folder; repeatable

      --mutants [<N>]
          Run mutants

      --engine <ENGINE>
          Executor

          Possible values:
          - fast:  Quick
          - steps: Slow

      --why-not
          Say why

P4:
  -D <NAME[=VALUE]>
          P4: define a macro, repeatable

      --every <TIME>
          Sample

Example:
  sluice sample
"""
    found = {option.key: option.type for option in make_options.options(text)}
    assert found == {
        "cable": "Text",
        "output": "Path | Sequence[Path]",
        "mutants": "bool | Number",
        "engine": 'Literal["fast", "steps"]',
        "why_not": "bool",
        "D": "Text | Sequence[Text]",
        "every": "Time",
    }


def test_notebooks_complete_options():
    names = inspect.signature(Program("ecmp").report).parameters
    assert list(names)[-2:] == ["objective", "without"] and "options" not in names
    for function, known in (
        (Program.replay, {"captures", "sent", "queue_limit", "drain"}),
        (sluice.Switch, {"properties", "agent", "buffer", "port_map"}),
        (sluice.Network.replay, {"captures", "threads", "story"}),
        (sluice.hunt, {"hours", "buffer", "chip", "I"}),
        (sluice.reproduce, {"scale", "with_", "papers", "D"}),
        (sluice.Experiment, {"folder", "arch"}),
        (sluice.Experiment.run, {"threads", "seeds", "html"}),
        (sluice.sweep, {"grid", "out", "include"}),
    ):
        assert known <= set(inspect.signature(function).parameters), function
    assert options.ReportOptions.__annotations__["why_not"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: Program("ecmp").report(objectiv="latency"),
        lambda: Program("ecmp").replay(objectiv="latency"),
        lambda: Program("ecmp").switch(objectiv="latency"),
    ],
)
def test_an_unknown_option_names_the_nearest(call):
    with pytest.raises(Error, match="there is no option `objectiv`\n  = help: did you mean `objective`?"):
        call()
    with pytest.raises(Error, match="there is no option `x`\n  = help: options are D, I, U, arch, include"):
        Program("ecmp", x=1)


SNIPPET = """
import sluice

program = sluice.Program("ecmp", {"routes": 8}, D=["X=1"])
program.report(objective="latency", why_not=True)
ports = {0: "a.pcap"}
program.replay(ports, queue_limit=100, drain=1500, engine="fast")
sluice.hunt("ecmp", inputs=4, chip="tofino", I="include")
program.report(objectiv="latency")
program.report(objective="speed")
"""


def test_type_checkers_know_options(tmp_path):
    api = pytest.importorskip("mypy.api")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    output, _, _ = api.run([str(tmp_path / "snippet.py"), "--cache-dir", str(tmp_path / "cache"), "--no-error-summary"])
    wrong = [line.split(":", 1)[1].split(" error: ") for line in output.splitlines() if " error: " in line]
    # Lines 9 and 10 of the text are wrong.
    assert [int(line.rstrip(":")) for line, _ in wrong] == [9, 10], output
    assert 'Unexpected keyword argument "objectiv"' in wrong[0][1] and '"objective"' in wrong[1][1]
