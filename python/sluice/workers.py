"""Spreads tasks over local processes, or over the nodes of a Ray cluster."""

from __future__ import annotations

import collections
import os
import queue
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from . import messages, scratch

ATTEMPTS = 3
"""Times that a task is tried before it counts as failed: after an error, and after the end of its worker."""


@dataclass(frozen=True)
class Task:
    """A call of a function of :mod:`sluice.tasks`."""

    key: Hashable
    name: str
    arguments: tuple[Any, ...]


Done = Callable[[Hashable, bool, Any], Iterable[Task] | None]
"""Is called with a task's key, and true and its result, or false and the text of its error. It may return further tasks."""


def execute(tasks: Iterable[Task], shared: Any, done: Done, address: str | None, workers: int | None) -> None:
    """Do tasks in any order; ``done`` is called on this thread, once for each task.

    Args:
        shared: first argument of each task, which a worker gets once.
        address: of a Ray cluster (``"auto"``, ``"ray://host:10001"``); None for processes of this machine.
        workers: number of processes, or of tasks that the cluster does at once; by default one for each processor.
    """
    if address is None:
        _execute_here(tasks, shared, done, workers or os.cpu_count() or 1)
    else:
        from .cluster import execute_on

        execute_on(address, tasks, shared, done, workers)


class _Process:
    """A worker process, which is started for its first task and again after its end."""

    def __init__(self, call: str, shared: Any) -> None:
        self._call, self._shared = call, shared
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._is_killed = threading.Lock(), False

    def do(self, task: Task) -> tuple[bool, Any]:
        """Do a task.

        Raises:
            EOFError: if the process ends before the task does.
        """
        with self._lock:
            if self._is_killed:
                raise EOFError("the work was stopped")
            process = self._process or self._start()
        try:
            messages.write(process.stdin, (task.name, task.arguments))
            good, result = messages.read(process.stdout)
            return good, result
        except (EOFError, OSError):
            self.close()
            raise EOFError(f"the worker process ended with {process.returncode}") from None

    def _start(self) -> subprocess.Popen[bytes]:
        # The path of this process, so that the worker imports the same package, whatever the present folder has.
        code = f"import sys; sys.path[:] = {sys.path!r}; from sluice.worker import main; main()"
        words = [sys.executable, "-c", code]
        process = subprocess.Popen(
            # Ctrl-C of a terminal reaches the caller alone, which ends its workers.
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            messages.write(process.stdin, (self._call, self._shared))
        except OSError:
            pass  # The process has ended; the next read says so.
        self._process = process
        return process

    def kill(self) -> None:
        """End the process at once, and start no other."""
        with self._lock:
            self._is_killed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process after its present task."""
        process, self._process = self._process, None
        if process is not None:
            for stream in filter(None, (process.stdin, process.stdout)):
                try:
                    stream.close()
                except OSError:
                    pass  # The process has ended.
            process.wait()


def _execute_here(tasks: Iterable[Task], shared: Any, done: Done, workers: int) -> None:
    waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
    ended: queue.SimpleQueue[tuple[Task, bool, Any]] = queue.SimpleQueue()
    tasks = list(tasks)
    call, stopped = uuid.uuid4().hex, threading.Event()
    processes = [_Process(call, shared) for _ in range(min(workers, max(len(tasks), 1)))]

    def serve(process: _Process) -> None:
        while (task := waiting.get()) is not None and not stopped.is_set():
            try:
                ended.put((task, *process.do(task)))
            except EOFError as error:
                ended.put((task, False, str(error)))
        process.close()

    threads = [threading.Thread(target=serve, args=(process,), daemon=True) for process in processes]
    for thread in threads:
        thread.start()
    attempts: collections.Counter[Hashable] = collections.Counter()
    open_tasks = len(tasks)
    for task in tasks:
        waiting.put(task)
    try:
        while open_tasks:
            task, good, result = _next(ended)
            attempts[task.key] += 1
            if not good and attempts[task.key] < ATTEMPTS:
                waiting.put(task)
                continue
            open_tasks -= 1
            for more in done(task.key, good, result) or ():
                open_tasks += 1
                waiting.put(more)
    except BaseException:
        # Ctrl-C or an error of the caller: runs that are under way are lost, complete ones are kept.
        stopped.set()
        for process in processes:
            process.kill()
        raise
    finally:
        for _ in threads:
            waiting.put(None)
        for thread in threads:
            thread.join()
        scratch.remove(call)


def _next(ended: queue.SimpleQueue[Any]) -> Any:
    """Return the next result; waits in steps, so that Ctrl-C is noticed on every platform."""
    while True:
        try:
            return ended.get(timeout=0.2)
        except queue.Empty:
            continue
