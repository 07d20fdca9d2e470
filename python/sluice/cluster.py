"""Tasks on a Ray cluster."""

from __future__ import annotations

import collections
import logging
from collections.abc import Hashable, Iterable
from typing import Any

from ._native import Error
from .workers import ATTEMPTS, Done, Task


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


def _outcome(name: str, shared: Any, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Do a task in a worker of Ray."""
    from sluice import tasks

    return tasks.outcome(name, shared, arguments)


def execute_on(address: str, tasks: Iterable[Task], shared: Any, done: Done, workers: int | None) -> None:
    """Do tasks on a cluster; see :func:`sluice.workers.execute`."""
    ray = connect(address)
    # Ray repeats a task whose worker or node ends. The spread puts a repeated task elsewhere if it can.
    remote = ray.remote(_outcome).options(max_retries=ATTEMPTS, scheduling_strategy="SPREAD")
    reference = ray.put(shared)
    waiting = collections.deque(tasks)
    # Twice as many tasks as processors, so that a worker has its next task when one ends.
    limit = workers or 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    attempts: collections.Counter[Hashable] = collections.Counter()
    running: dict[Any, Task] = {}
    try:
        while waiting or running:
            while waiting and len(running) < limit:
                task = waiting.popleft()
                running[remote.remote(task.name, reference, task.arguments)] = task
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


def _result(ray: Any, reference: Any) -> tuple[bool, Any]:
    try:
        good, result = ray.get(reference)
        return good, result
    except ray.exceptions.RayError as error:
        return False, f"the worker ended: {type(error).__name__}"
