"""Sweeps and hunts on a Ray cluster of two nodes of this machine."""

import threading
import time

import pytest
from conftest import contents

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
