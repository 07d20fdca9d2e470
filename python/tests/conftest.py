"""Options and files of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    import copy

    return copy.deepcopy(SMALL)


@pytest.fixture
def sketch() -> Path:
    """Return the path of a program in a file."""
    return REPOSITORY / "examples" / "sketch.sluice"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files of a folder by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
