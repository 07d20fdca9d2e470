"""Measures the speed-up of a sweep of 64 runs: one process, two processes, and a Ray cluster of two nodes.

python tests/speed.py [--ray]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import sluice

CONTEST = {
    "name": "four leaves",
    "topology": "leaf-spine:leaves=4,spines=4,hosts=4,rate=100G,delay=500ns",
    "port_speed": "100G",
    "workload": {"sizes": "ali-storage", "load": 30, "time": "1ms"},
    "hosts": {"cable": "500ns", "recovery": "selective"},
    "program": [{"name": name} for name in ("ecmp", "letflow", "drill", "conga")],
}
GRID = {"workload.load": [20, 30, 40, 50]}


def seconds(folder: Path, **where: object) -> float:
    """Return the wall time of the sweep."""
    began = time.perf_counter()
    dataset = sluice.sweep(CONTEST, GRID, seeds=4, out=folder, progress=lambda *_: None, **where)
    assert dataset.is_complete and len(dataset.runs) == 64
    return time.perf_counter() - began


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ray", action="store_true", help="also on a local cluster of two nodes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one = seconds(Path(folder) / "1", workers=1)
        two = seconds(Path(folder) / "2", workers=2)
        print(f"one process {one:.1f} s, two processes {two:.1f} s: {one / two:.2f} times as fast")
        if options.ray:
            # Ray gives its workers a niceness of 15, so that other processes of a busy machine would be measured.
            os.environ["RAY_worker_niceness"] = "0"
            from ray.cluster_utils import Cluster

            cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
            cluster.add_node(num_cpus=1)
            # The first call starts the cluster's workers.
            sluice.sweep(CONTEST, seeds=1, out=Path(folder) / "warm", address=cluster.address, progress=lambda *_: None)
            ray = seconds(Path(folder) / "ray", address=cluster.address)
            print(f"Ray, two nodes {ray:.1f} s: {one / ray:.2f} times as fast as one process")
            import ray as engine

            engine.shutdown()
            cluster.shutdown()


if __name__ == "__main__":
    main()
