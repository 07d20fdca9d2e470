"""Scenarios as experiments: one by one, over grids and seeds, and their files."""

import pytest
from conftest import HOLD, REPOSITORY, contents

import sluice
from sluice import Dataset, Error, Experiment, Outcomes, sweep

MARK = """
[[scenario]]
id = "mark"
source = "test"
title = "half of the packets between the thresholds are marked"
device = { profiles = ["a"], ports = 4, override = { ecn = [{ name = "azure", without = ["curve"], curve = [
  { kmin = "0B", kmax = "200000B", pmax = 100 }] }] } }
steps = [
  { block = 1 },
  { send = { from = 0, to = 1, size = 1000, ecn = 2, count = 200 } },
  { unblock = 1 },
  { drain = "1ms" },
  { save = { name = "marked", value = "queue.marked(1)" } },
  { expect = { what = "queue.marked(1)", at_least = 1 } },
]
"""

HOST = """
[[scenario]]
id = "cut"
source = "test"
title = "a notification halves the rate of a sender whose alpha is 1"
host = { reaction-point = { form = "published", line = "100Gbps" } }
steps = [{ notify = 1 }, { expect = { what = "rp.rate", is = 50000000 } }]
"""


def test_scenarios_run_like_the_command_line(tmp_path):
    for name in ("lossy", "hosts"):
        path = REPOSITORY / "scenario" / "buffer" / f"{name}.toml"
        found = Experiment(path).run()
        assert isinstance(found, Outcomes) and found.passed
        shown = sluice.run("run", path, "--json").json()
        own = [
            {k: v for k, v in one.items() if k not in ("sweep", "seed", "saved")}
            for one in found.to_dict()["scenarios"]
        ]
        assert [{**one, "file": None} for one in own] == [
            {**one, "file": None} for one in shown["scenarios"] if one["not_applicable"] is None
        ]
        assert len(found.checks) == sum(len(one["checks"]) for one in own)


def test_a_grid_changes_scenarios(hold, tmp_path):
    grid = {"scenario.hold_1.let.n": ["2", "3"], "device.speed": ["25G", "100G"]}
    for workers in (1, 2):
        dataset = sweep(hold, grid, seeds=[4, 5], out=tmp_path / str(workers), workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    runs = dataset.runs.to_dict()
    # Two values of each key, two seeds, two profiles.
    assert runs["held"] == [2] * 8 + [3] * 8 and runs["passed"] == [False] * 8 + [True] * 8
    assert runs["device.speed"] == (["25G"] * 4 + ["100G"] * 4) * 2
    assert runs["seed"] == [4, 4, 5, 5] * 4 and runs["profile"] == ["a", "own.toml"] * 8
    checks = Dataset(tmp_path / "1").checks.to_dict()
    assert checks["actual"] == ["2"] * 8 + ["3"] * 8 and checks["expected"] == ["3"] * 16
    with pytest.raises(Error, match="is of a scenario, which has no messages"):
        dataset.messages(dataset.plan[0]["digest"])


def test_a_sweep_of_scenarios_goes_on(hold, tmp_path):
    counts = []
    sweep(hold, seeds=1, out=tmp_path / "out", workers=1)
    sweep(hold, seeds=2, out=tmp_path / "out", workers=1, progress=lambda *numbers: counts.append(numbers))
    assert counts == [(3, 4, 0), (4, 4, 0)]


def test_seeds_are_those_of_the_devices():
    marked = Experiment(MARK).over(seeds=[1, 2, 1000]).run().runs["marked"]
    # Packet i leaves 200 - i KB behind and is marked with the probability of (200 - i)/200: 99.5 of 200 packets on average, with
    # a standard deviation of 5.8.
    assert len(set(marked)) > 1 and all(70 < count < 130 for count in marked)
    assert Experiment(MARK).run().runs["marked"] == marked[:1]
    assert Experiment(MARK.replace("ports = 4", "ports = 4, seed = 2")).run().runs["marked"] == marked[1:2]


def test_scenarios_about_hosts_have_no_seeds(tmp_path):
    assert Experiment(HOST).run().runs["seed"] == [None]
    with pytest.raises(Error, match="scenario `cut` is about a host, which has no random numbers; leave out the seeds"):
        sweep(HOST, seeds=2, out=tmp_path)


def test_files_of_scenarios_travel_by_content(hold, tmp_path):
    bundle, opened = Experiment(hold).bundle()
    assert list(bundle.files) == ["own.toml"]
    assert bundle.open(tmp_path / "worker").runs() == opened.runs()
    # A changed profile makes other runs.
    (hold.parent / "own.toml").open("a").write("\n# changed\n")
    before, after = (one.runs() for one in (opened, Experiment(hold).bundle()[1]))
    assert [a == b for a, b in zip(before, after)] == [True, False]


def test_mistakes_of_scenarios_have_their_place(hold, tmp_path):
    with pytest.raises(Error, match="hold.toml:.*known keys: .*title"):
        hold.write_text(HOLD.replace("title", "titel"))
        Experiment(hold).runs()
    with pytest.raises(Error, match="with scenario.hold_1.lte.n = 2: .*lte"):
        Experiment(HOLD, hold.parent).over({"scenario.hold_1.lte.n": ["2"]}).runs()
    with pytest.raises(Error, match="there is no `hold_2` in the list; .*hold.1"):
        Experiment(HOLD, hold.parent).over({"scenario.hold_2.let.n": ["2"]}).runs()
    with pytest.raises(Error, match="-DX: scenarios have no P4 program"):
        Experiment(hold, D="X").runs()
    (hold.parent / "own.toml").unlink()
    with pytest.warns(UserWarning, match="1 runs failed"):
        dataset = sweep(Experiment(HOLD, hold.parent), out=tmp_path / "out", workers=1)
    assert dataset.failures["program"] == ["hold.1 on own.toml"]
    assert "cannot read" in dataset.failures["error"][0]
