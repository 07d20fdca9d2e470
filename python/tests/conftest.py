"""Options and files of the tests."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path

import pytest

import sluice
from sluice import _native

REPOSITORY = Path(__file__).resolve().parents[2]

SMALL = {
    "name": "two leaves",
    "topology": "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns",
    "port_speed": "100G",
    "seeds": 2,
    "workload": {"sizes": "solar", "load": 30, "time": "100us"},
    "hosts": {"cable": "500ns", "recovery": "selective"},
    "program": [{"name": "ecmp"}, {"name": "letflow", "params": {"timeout": "10us"}}],
}
"""An experiment of four short runs."""

HOLD = """
[[scenario]]
id = "hold.1"
source = "test"
title = "a blocked port holds what was sent to it, a cell for each frame of 60 bytes"
device = { profiles = ["a", "own.toml"], ports = 4 }
let = { n = "1" }
steps = [
  { block = 1 },
  { send = { from = 0, to = 1, size = 60, count = "n" } },
  { save = { name = "held", value = "total" } },
  { expect = { what = "total", is = 3 } },
]
"""
"""A file of one scenario on two profiles."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also tests that need a Ray cluster, a kernel or minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="needs --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def small() -> dict:
    """Return an experiment of four short runs, as a dict."""
    return copy.deepcopy(SMALL)


@pytest.fixture
def sketch() -> Path:
    """Return the path of a program in a file."""
    return REPOSITORY / "examples" / "sketch.sluice"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files of a folder by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def routers(tmp_path: Path) -> tuple[Path, dict]:
    """Return a file of an experiment, and options of its P4 program.

    The experiment compares the router of docs/p4-networks.md, as it is, with one that needs a macro, a file that is read first,
    and an included file from a folder beside the experiment's.
    """
    page = (REPOSITORY / "docs" / "p4-networks.md").read_text()
    blocks = {name: text for name, text in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", page, re.S)}
    plain = blocks["l3.p4"]
    start, end = plain.index("header ethernet_h"), plain.index("parser IngressParser")
    rest = plain[end:].replace("size = 1024", "size = ROUTES")
    split = f"{plain[:start]}#ifdef ROUTES\n#include <headers.p4>\n#endif\n{rest}"
    home, include = tmp_path / "home", tmp_path / "shared" / "include"
    home.mkdir()
    include.mkdir(parents=True)
    (include / "headers.p4").write_text(plain[start:end].replace("bit<32> ports;", "bit<PORTS> ports;"))
    (include / "first.p4").write_text("#define PORTS 32\n")
    for name, text in (("plain", plain), ("split", split)):
        (home / f"{name}.p4").write_text(text)
        (home / f"{name}.p4.sluice").write_text(blocks["l3.p4.sluice"])
    programs = [{"file": "plain.p4"}, {"file": "split.p4"}]
    (home / "e.toml").write_text(_native.to_toml(json.dumps({**SMALL, "seeds": 1, "program": programs})))
    return home / "e.toml", {"I": [include], "D": "ROUTES=1024", "include": "first.p4"}


@pytest.fixture
def unguarded(tmp_path, sketch):
    """Return the path of a program whose TTL wraps around, which its own property forbids."""
    guard = "if (ipv4.ttl <= 8w1) { call expired; } else { apply route; }"
    text = sketch.read_text()
    assert guard in text
    (tmp_path / "unguarded.sluice").write_text(text.replace(guard, "apply route;"))
    return tmp_path / "unguarded.sluice"


def check_hunt(hunted, program, seconds):
    """Check a hunt of 0.002 hours for the TTL that wraps around."""
    assert 5 < seconds < 25 and hunted.errors == [] and hunted.inputs >= 128
    # Each task finds the fault again, with other packets.
    (finding,) = hunted.findings
    assert finding.property == "keeps_the_rest" and finding.text.startswith("unguarded.sluice:")
    # Shrunk to one packet of a header of 14 bytes and one of 20, whose TTL is 0.
    assert len(finding.packets) == 1 and bytes.fromhex(finding.packets[0].bytes)[22] == 0
    # The coverage is that of the corpus by itself: the inputs of all workers reach it together.
    hunted.save(program.parent / "kept")
    words = ["fuzz", program, "--corpus", program.parent / "kept", "--minimise", "--json"]
    assert sluice.run(*words).json()["coverage"] == hunted.coverage.to_dict()
    assert hunted.coverage.parser_states.hit == hunted.coverage.parser_states.total == 2


@pytest.fixture
def hold(tmp_path):
    """Return the path of a file of scenarios, beside which is a profile."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(REPOSITORY / "scenario" / "profiles" / "a.toml", home / "own.toml")
    (home / "hold.toml").write_text(HOLD)
    return home / "hold.toml"
