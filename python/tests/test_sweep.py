"""Experiments and sweeps on local processes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import REPOSITORY, check_hunt, contents

import sluice
from sluice import Dataset, Error, Experiment, sweep
from sluice.build import build
from sluice.bundle import Bundle
from sluice.p4 import P4

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


BAD = {"name": "conweave", "label": "bad", "params": {"flows": "1"}}
"""A program that has no room for the flows of the network's hosts, which its run finds out."""


def test_failures_are_kept_with_their_error(small, tmp_path):
    small["program"].append(BAD)
    dataset = sweep(small, seeds=1, out=tmp_path, workers=1)
    assert not dataset.is_complete and len(dataset.runs) == 2
    assert dataset.failures["program"] == ["bad"] and "raise `flows`" in dataset.failures["error"][0]
    small["program"].pop()
    assert sweep(small, seeds=1, out=tmp_path, workers=1).is_complete


def test_files_travel_by_content(small, tmp_path):
    home = tmp_path / "home" / "deep"
    home.mkdir(parents=True)
    (home.parent / "p.sluice").write_text(sluice.Program("ecmp").text())
    small["program"] = [{"file": "../p.sluice", "label": "own"}]
    bundle, opened = Experiment(small, folder=home).bundle()
    assert list(bundle.files) == ["p.sluice"]
    again = bundle.open(tmp_path / "worker")
    assert again.runs() == opened.runs()


def test_options_of_p4_programs_and_their_files_travel(routers, tmp_path):
    path, options = routers
    bundle, opened = Experiment(path, **options).bundle()
    assert sorted(bundle.files) == sorted(
        [f"d0/{name}.p4{more}" for name in ("plain", "split") for more in ("", ".sluice")]
        + ["shared/include/first.p4", "shared/include/headers.p4"]
    )
    again = bundle.open(tmp_path / "worker")
    assert again.runs() == opened.runs()
    dataset = sweep(path, {"workload.load": [20, 30]}, out=tmp_path / "a", workers=2, **options)
    # The preprocessor makes the same router of both, so their runs have the same numbers.
    runs = dataset.runs.to_dict()
    assert runs["program"] == ["plain", "split"] * 2 and len(set(runs["digest"])) == 4
    same = [name for name in runs if name not in ("run", "digest", "program")]
    assert all(runs[name][::2] == runs[name][1::2] for name in same) and runs["messages"][0] > 5
    words = ["-I", tmp_path / "shared" / "include", "-DROUTES=1024", "-include", "first.p4"]
    assert sluice.run("run", path, *words, "--json").json() == Experiment(path, **options).run().to_dict()


def test_an_option_of_p4_programs_changes_a_run(routers):
    path, options = routers
    few, many = (Experiment(path, **{**options, "D": [f"ROUTES={count}"]}).runs()["digest"] for count in (512, 1024))
    # The first program does not use the macro.
    assert few[0] == many[0] and few[1] != many[1]
    with pytest.raises(Error, match="headers.p4"):
        Experiment(path, D="ROUTES=1024", include=options["I"][0] / "first.p4").runs()
    with pytest.raises(Error, match="there is no option `define`"):
        Experiment(path, define="ROUTES=1024")


def test_another_version_is_refused(small, tmp_path):
    bundle, _ = Experiment(small).bundle()
    with pytest.raises(Error, match="the work is for Sluice 9.9.9"):
        replace(bundle, version="9.9.9").open(tmp_path)


def test_another_build_is_refused(small, tmp_path):
    bundle, _ = Experiment(small).bundle()
    with pytest.raises(Error, match="the work is for build 0123456789ab"):
        replace(bundle, build="0123456789abcdef").open(tmp_path)


def test_a_build_is_the_content_of_the_package(tmp_path):
    def copy(source, target):
        # The native module is large and stays as it is.
        (os.symlink if Path(source).suffix == ".so" else shutil.copy2)(source, target)

    package, code = Path(sluice.__file__).parent, "from sluice.build import build; print(build())"
    builds = []
    for name, change in (("same", ""), ("other", "\n")):
        copied = shutil.copytree(
            package, tmp_path / name / "sluice", ignore=shutil.ignore_patterns("__pycache__"), copy_function=copy
        )
        with (copied / "tasks.py").open("a") as file:
            file.write(change)
        # `-S` keeps the installed package out of the way.
        words = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(copied.parent)!r}); {code}"]
        builds.append(subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip())
    assert builds[0] == build() != builds[1] and len(build()) == 64


def test_a_killed_worker_loses_nothing(small, left_behind, tmp_path):
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
    assert not left_behind()
    sweep(small, GRID, seeds=2, out=tmp_path / "b", workers=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.fixture
def left_behind(tmp_path, monkeypatch):
    """Return a function that lists what is left in the temporary folder, which the test has for itself."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return lambda: sorted(folder.iterdir())


def test_nothing_is_left_in_the_temporary_folder(small, left_behind, tmp_path):
    small["program"].append(BAD)
    with pytest.warns(UserWarning, match="1 runs failed"):
        sweep(small, seeds=1, out=tmp_path / "a", workers=2)
    sluice.hunt("ecmp", inputs=4, workers=2)
    assert left_behind() == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_ended_caller_leaves_nothing(how, small, left_behind, tmp_path):
    small["workload"]["time"] = "2ms"
    code = "import json, sys, sluice; sluice.sweep(json.loads(sys.argv[1]), seeds=20, out=sys.argv[2], workers=2)"
    words = [sys.executable, "-c", code, json.dumps(small), str(tmp_path / "a")]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    while not list((tmp_path / "a").glob("runs/*/run.json")):
        assert process.poll() is None
        time.sleep(0.05)
    assert left_behind()
    process.send_signal(how)
    assert process.wait(timeout=20) != 0
    # The workers of a killed caller see its end after their present runs.
    end = time.monotonic() + 20
    while left_behind() and time.monotonic() < end:
        time.sleep(0.05)
    assert left_behind() == []


def test_a_url_is_a_dataset(small, tmp_path):
    dataset = sweep(small, seeds=1, out=f"file://{tmp_path}/url", workers=1)
    sweep(small, seeds=1, out=tmp_path / "local", workers=1)
    assert dataset.is_complete and contents(tmp_path / "url") == contents(tmp_path / "local")


def test_a_hunt_shares_its_corpus(tmp_path):
    hunted = sluice.hunt("ecmp", inputs=40, workers=2, corpus=tmp_path)
    assert hunted.inputs >= 40 and hunted.findings == [] and hunted.errors == []
    assert sorted(os.listdir(tmp_path)) == list(hunted.corpus)


def test_a_hunt_by_time_ends_and_reports_findings_once(unguarded):
    began = time.monotonic()
    hunted = sluice.hunt(unguarded, hours=0.002, workers=2)
    check_hunt(hunted, unguarded, time.monotonic() - began)


def test_files_of_a_hunt_travel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "entries").mkdir()
    Path("entries/wrong.txt").write_text("table_add no_table no_action => \n")
    Path("entries/none.toml").write_text("")
    with pytest.raises(Error, match="nothing.toml"):
        sluice.hunt("ecmp", inputs=1, workers=1, buffer="nothing.toml")
    with pytest.raises(Error, match="no_table`; expected .*\n  --> entries/wrong.txt:1"):
        sluice.hunt("ecmp", inputs=1, workers=1, entries=Path("entries/wrong.txt"))
    assert sluice.hunt("ecmp", inputs=1, workers=1, entries="entries/none.toml").inputs == 1


def test_on_needs_an_address():
    words = [sys.executable, "-m", "sluice", "run", "a.toml", "--on"]
    shown = subprocess.run(words, capture_output=True, text=True)
    assert shown.returncode == 2 and "--on has no address" in shown.stderr


def test_a_dataset_is_a_folder_of_a_sweep(tmp_path):
    with pytest.raises(Error, match="is not the dataset of a sweep"):
        Dataset(tmp_path).missing


def test_a_paper_is_reproduced_run_by_run(tmp_path):
    record = sluice.reproduce("hpcc/incast", out=tmp_path, workers=2)
    at_once = sluice.run("reproduce", "hpcc/incast", "--json").json()
    assert record.to_dict() == at_once


def test_programs_and_papers_of_ones_own_travel(routers, tmp_path, monkeypatch):
    path, options = routers
    monkeypatch.chdir(path.parent)
    library = shutil.copytree(REPOSITORY / "papers", tmp_path / "mine", ignore=shutil.ignore_patterns("src"))
    options["I"] = [os.path.relpath(options["I"][0])]
    words = ["conweave/lossless", "--with=split.p4"]
    bundle, opened = Bundle.of_papers(words, P4.taken(options), os.path.relpath(library))
    assert [run for run in opened.runs() if run[2] == "split"]
    monkeypatch.chdir(tmp_path / "shared")
    shutil.rmtree(library)
    assert bundle.open(tmp_path / "worker").runs() == opened.runs()
