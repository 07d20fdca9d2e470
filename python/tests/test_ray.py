"""Sweeps and hunts on a Ray cluster of two nodes of this machine."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import check_hunt, contents

import sluice

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_a_cluster_makes_the_same_dataset(cluster, small, tmp_path):
    grid = {"workload.load": [20, 40]}
    sluice.sweep(small, grid, out=tmp_path / "ray", address=cluster.address)
    sluice.sweep(small, grid, out=tmp_path / "here", workers=1)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")


def test_a_killed_node_loses_nothing(cluster, small, tmp_path):
    small["workload"]["time"] = "4ms"
    doomed = cluster.add_node(num_cpus=1)
    ended = []

    def kill() -> None:
        while not list((tmp_path / "ray").glob("runs/*/run.json")):
            time.sleep(0.05)
        cluster.remove_node(doomed, allow_graceful=False)
        ended.append(True)

    killer = threading.Thread(target=kill)
    killer.start()
    dataset = sluice.sweep(
        small, {"workload.load": [20, 30, 40]}, seeds=3, out=tmp_path / "ray", address=cluster.address
    )
    killer.join()
    assert ended and dataset.is_complete and len(dataset.runs) == 18
    sluice.sweep(small, {"workload.load": [20, 30, 40]}, seeds=3, out=tmp_path / "here", workers=1)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")


def test_a_hunt_shares_its_corpus_by_an_actor(cluster):
    hunted = sluice.hunt("ecmp", inputs=40, address=cluster.address, workers=2)
    assert hunted.inputs >= 40 and hunted.errors == [] and hunted.corpus


def test_the_command_line_starts_a_cluster_run(cluster, small, tmp_path, capfd):
    from sluice.__main__ import main

    (tmp_path / "e.toml").write_text(sluice.Experiment(small).text)
    assert main(["run", str(tmp_path / "e.toml"), "--on", cluster.address, "-o", str(tmp_path / "out")]) == 0
    assert "SLOWDOWN" in capfd.readouterr().out


def test_the_command_line_takes_options_of_p4_programs(cluster, routers, tmp_path, capfd):
    from sluice.__main__ import main

    path, options = routers
    words = [f"-I{options['I'][0]}", "-D", options["D"], "-include", options["include"], "-o"]
    assert main(["run", str(path), "--on", cluster.address, *words, str(tmp_path / "ray")]) == 0
    on_cluster = capfd.readouterr().out
    assert main(["run", str(path), *words, str(tmp_path / "here")]) == 0
    assert on_cluster == capfd.readouterr().out and "split" in on_cluster
    assert contents(tmp_path / "ray" / "runs") == contents(tmp_path / "here" / "runs")


def test_the_command_line_reproduces_on_a_cluster(cluster, tmp_path, capfd):
    words = ["reproduce", "hpcc/incast", "--json", "-o"]
    command = [sys.executable, "-m", "sluice", *words, tmp_path / "ray", "--on", cluster.address]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    called = sluice.run(*words, tmp_path / "here")
    assert shown.stdout == called.text
    assert contents(tmp_path / "ray" / "runs") == contents(tmp_path / "here" / "runs") != {}


def test_a_hunt_by_time_ends_and_reports_findings_once(cluster, unguarded):
    sluice.hunt("ecmp", inputs=2, address=cluster.address)  # Starts the cluster's workers.
    began = time.monotonic()
    hunted = sluice.hunt(unguarded, hours=0.002, address=cluster.address)
    check_hunt(hunted, unguarded, time.monotonic() - began)


@pytest.fixture
def apart(tmp_path):
    """Return the address of a cluster whose only node with processors shares no file with the caller, and the node's folder.

    An empty file system hides the test's folder from the node, which has a working directory and a temporary folder of its own.
    """
    from ray.cluster_utils import Cluster

    mount = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    hide = f'mount -t tmpfs none "{tmp_path}"'
    if not shutil.which("unshare") or subprocess.run([*mount, hide]).returncode:
        pytest.skip("this machine allows no name spaces of mounts")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    node = Path(f"{tmp_path}-node")
    (node / "tmp").mkdir(parents=True)
    start = f"{sys.executable} -m ray.scripts.scripts start --address={cluster.address} --num-cpus=2 --block"
    environment = {**os.environ, "TMPDIR": str(node / "tmp"), "HOME": str(node)}
    process = subprocess.Popen(
        [*mount, f"{hide} && exec {start}"], cwd=node, env=environment, stdout=subprocess.DEVNULL
    )
    yield cluster.address, node
    ray.shutdown()
    process.terminate()
    process.wait()
    cluster.shutdown()


def test_nodes_that_share_nothing_send_files_back(apart, routers, tmp_path):
    (address, node), (path, options) = apart, routers
    grid = {"workload.load": [20, 30]}
    dataset = sluice.sweep(path, grid, out=tmp_path / "ray", address=address, **options)
    assert dataset.is_complete and len(dataset.runs) == 4
    sluice.sweep(path, grid, out=tmp_path / "here", workers=1, **options)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    assert not list((node / "tmp").glob("sluice*"))


def test_scenarios_run_on_nodes_that_share_nothing(apart, hold, tmp_path):
    address, _ = apart
    grid = {"scenario.hold_1.let.n": ["2", "3"]}
    dataset = sluice.sweep(hold, grid, seeds=2, out=tmp_path / "ray", address=address)
    assert dataset.runs["held"] == [2] * 4 + [3] * 4
    sluice.sweep(hold, grid, seeds=2, out=tmp_path / "here", workers=1)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
