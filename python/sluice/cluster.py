"""Tasks on a Ray cluster."""

from __future__ import annotations

import collections
import logging
import uuid
from collections.abc import Hashable, Iterable
from typing import Any

from ._native import Error
from .workers import ATTEMPTS, Done, Task

CLEANING = 20
"""Longest time in seconds for which the end of a call waits until the nodes have removed temporary files."""


def connect(address: str) -> Any:
    """Return the module ray, connected to a cluster.

    Raises:
        Error: if Ray is not installed, or there is no cluster.
    """
    try:
        import ray
    except ImportError:
        raise Error("a cluster needs the package ray\n  = help: pip install ray") from None
    if not ray.is_initialized():
        try:
            ray.init(address=address, logging_level=logging.WARNING, log_to_driver=False)
        except Exception as error:  # noqa: BLE001 - Ray raises exceptions of many kinds.
            help_text = "start one with `ray start --head`, or leave the address out"
            raise Error(f"no Ray cluster at {address}: {error}\n  = help: {help_text}") from None
    return ray


def processors(address: str) -> int:
    """Return the number of processors of a cluster."""
    return max(int(connect(address).cluster_resources().get("CPU", 1)), 1)


def _outcome(call: str, name: str, shared: Any, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Do a task in a worker of Ray."""
    from sluice import tasks

    return tasks.outcome(call, name, shared, arguments)


def _remove(call: str) -> None:
    """Remove the temporary files of a call from a node."""
    from sluice import scratch

    scratch.remove(call)


def execute_on(address: str, tasks: Iterable[Task], shared: Any, done: Done, workers: int | None) -> None:
    """Do tasks on a cluster; see :func:`sluice.workers.execute`."""
    ray = connect(address)
    # Ray repeats a task whose worker or node ends. The spread puts a repeated task elsewhere if it can.
    remote = ray.remote(_outcome).options(max_retries=ATTEMPTS, scheduling_strategy="SPREAD")
    reference, call = ray.put(shared), uuid.uuid4().hex
    waiting = collections.deque(tasks)
    # Twice as many tasks as processors, so that a worker has its next task when one ends.
    limit = workers or 2 * processors(address)
    attempts: collections.Counter[Hashable] = collections.Counter()
    running: dict[Any, Task] = {}
    try:
        while waiting or running:
            while waiting and len(running) < limit:
                task = waiting.popleft()
                running[remote.remote(call, task.name, reference, task.arguments)] = task
            ready, _ = ray.wait(list(running), num_returns=1)
            for one in ready:
                task = running.pop(one)
                good, result = _result(ray, one)
                attempts[task.key] += 1
                if not good and attempts[task.key] < ATTEMPTS:
                    waiting.append(task)
                else:
                    waiting.extend(done(task.key, good, result) or ())
    finally:
        for one in running:
            ray.cancel(one, force=True)
        _clean(ray, call)


def _clean(ray: Any, call: str) -> None:
    """Remove the temporary files of a call from all nodes, of workers that were killed, too."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

    remove = ray.remote(_remove)
    try:
        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
        ends = [remove.options(num_cpus=0, scheduling_strategy=On(node, soft=False)).remote(call) for node in nodes]
        # A node that ends just now does not answer.
        ray.wait(ends, num_returns=len(ends), timeout=CLEANING)
    except Exception:  # noqa: BLE001 - A cluster that is gone raises exceptions of many kinds.
        logging.getLogger(__name__).warning("temporary files of workers may be left on the nodes of the cluster")


def _result(ray: Any, reference: Any) -> tuple[bool, Any]:
    try:
        good, result = ray.get(reference)
        return good, result
    except ray.exceptions.RayError as error:
        return False, f"the worker ended: {type(error).__name__}"
