"""Experiments and sweeps on local processes."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import contents

import sluice
from sluice import Dataset, Error, Experiment, sweep

GRID = {"workload.load": [20, 40]}


def test_an_experiment_runs_like_the_command_line(small, tmp_path):
    experiment = Experiment(small)
    results = experiment.run(out=tmp_path / "a")
    assert results.passed and len(results.runs) == 4 and len(results.messages) > 10
    (tmp_path / "e.toml").write_text(experiment.text)
    sluice.run("run", tmp_path / "e.toml", "-o", tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert "ecmp" in results._repr_html_()


def test_mistakes_have_their_place(small):
    small["workload"]["laod"] = 3
    with pytest.raises(Error, match="experiment.toml:.*did you mean `load`"):
        Experiment(small).runs()


def test_a_sweep_is_the_same_on_any_number_of_workers(small, tmp_path):
    for workers in (1, 2):
        dataset = sweep(small, GRID, seeds=[1, 2], out=tmp_path / str(workers), workers=workers)
        assert dataset.is_complete and len(dataset.runs) == 8
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    loads = set(zip(dataset.runs["workload.load"], dataset.runs["program"]))
    assert len(loads) == 4
    digest = dataset.plan[0]["digest"]
    assert len(dataset.messages(digest)) == dataset.runs["messages"][0]


def test_a_sweep_goes_on(small, tmp_path):
    counts = []
    sweep(small, seeds=1, out=tmp_path, workers=1)
    times = {path: os.stat(path).st_mtime_ns for path in tmp_path.glob("runs/*/run.json")}
    sweep(small, seeds=2, out=tmp_path, workers=1, progress=lambda *numbers: counts.append(numbers))
    assert counts == [(3, 4, 0), (4, 4, 0)]
    assert all(os.stat(path).st_mtime_ns == at for path, at in times.items())


def test_failures_are_kept_with_their_error(small, tmp_path):
    small["program"].append({"name": "letflow", "label": "bad", "params": {"timeout": "0us"}})
    dataset = sweep(small, seeds=1, out=tmp_path, workers=1)
    assert not dataset.is_complete and len(dataset.runs) == 2
    assert dataset.failures["program"] == ["bad"] and "timeout" in dataset.failures["error"][0]
    small["program"].pop()
    assert sweep(small, seeds=1, out=tmp_path, workers=1).is_complete


def test_files_travel_by_content(small, tmp_path):
    home = tmp_path / "home" / "deep"
    home.mkdir(parents=True)
    (home.parent / "p.sluice").write_text(sluice.Program("ecmp").text())
    small["program"] = [{"name": "../p.sluice", "label": "own"}]
    bundle, opened = Experiment(small, folder=home).bundle()
    assert list(bundle.files) == ["p.sluice"]
    again = bundle.open(tmp_path / "worker")
    assert again.runs() == opened.runs()


def test_another_version_is_refused(small, tmp_path):
    from dataclasses import replace

    bundle, _ = Experiment(small).bundle()
    with pytest.raises(Error, match="the work is for Sluice 9.9.9"):
        replace(bundle, version="9.9.9").open(tmp_path)


def test_a_killed_worker_loses_nothing(small, tmp_path):
    small["workload"]["time"] = "2ms"
    killed = []

    def kill() -> None:
        while not killed:
            found = subprocess.run(
                ["pgrep", "-f", "-P", str(os.getpid()), "from sluice.worker import main"],
                capture_output=True,
                text=True,
            )
            for pid in found.stdout.split()[:1]:
                time.sleep(0.4)
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)

    threading.Thread(target=kill, daemon=True).start()
    dataset = sweep(small, GRID, seeds=2, out=tmp_path / "a", workers=2)
    assert killed and dataset.is_complete and len(dataset.failures) == 0
    sweep(small, GRID, seeds=2, out=tmp_path / "b", workers=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_url_is_a_dataset(small, tmp_path):
    dataset = sweep(small, seeds=1, out=f"file://{tmp_path}/url", workers=1)
    sweep(small, seeds=1, out=tmp_path / "local", workers=1)
    assert dataset.is_complete and contents(tmp_path / "url") == contents(tmp_path / "local")


def test_a_hunt_shares_its_corpus(tmp_path):
    hunted = sluice.hunt("ecmp", inputs=40, workers=2, corpus=tmp_path)
    assert hunted.inputs >= 40 and hunted.findings == [] and hunted.errors == []
    assert sorted(os.listdir(tmp_path)) == list(hunted.corpus)


def test_on_needs_an_address():
    words = [sys.executable, "-m", "sluice", "run", "a.toml", "--on"]
    shown = subprocess.run(words, capture_output=True, text=True)
    assert shown.returncode == 2 and "--on has no address" in shown.stderr


def test_a_dataset_is_a_folder_of_a_sweep(tmp_path):
    with pytest.raises(Error, match="is not the dataset of a sweep"):
        Dataset(tmp_path).missing


@pytest.mark.slow
def test_a_paper_is_reproduced_run_by_run(tmp_path):
    record = sluice.reproduce("hpcc/mice", out=tmp_path, workers=2)
    at_once = sluice.run("reproduce", "hpcc/mice", "--json").json()
    assert record.to_dict() == at_once
