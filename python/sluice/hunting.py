"""Hunts on many workers, which share the inputs that reached new coverage."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .bundle import Bundle
from .commands import settings, takes, words_of
from .frames import html_table
from .options import HuntOptions
from .p4 import P4
from .record import Record
from .tasks import fuzz
from .workers import Task, execute

if TYPE_CHECKING:
    from typing_extensions import Unpack

SECONDS = 30
"""Seconds of a task of a hunt that ends by time; after each task a worker gets the inputs that others found."""


_NAMED = ("chip", "entries", "buffer")
"""Options whose values may be files."""


class Corpus:
    """Inputs that reached new coverage, by the digests of their contents."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def exchange(self, found: Mapping[str, bytes], known: set[str]) -> dict[str, bytes]:
        """Add inputs, and return those that the caller does not know."""
        self.files.update(found)
        return {name: content for name, content in self.files.items() if name not in known}


@dataclass(repr=False)
class Hunted:
    """Result of a hunt on many workers."""

    findings: list[Record] = field(default_factory=list)
    """Findings, each shrunk and once: keys of ``failures`` of ``sluice fuzz --json``, and ``seed`` of the task."""
    inputs: int = 0
    """Number of inputs that were sent."""
    packets: int = 0
    """Number of packets that were executed."""
    corpus: dict[str, bytes] = field(default_factory=dict, repr=False)
    """The fewest inputs that reach all that any worker reached, by name; :meth:`save` writes them as a folder for
    ``sluice fuzz --corpus``."""
    coverage: Record = field(default_factory=lambda: Record({}))
    """Points that the workers reached together, and all points: ``hit`` and ``total`` by kind. While the hunt runs, those of
    the worker that reached most of a kind."""
    errors: list[str] = field(default_factory=list)
    """Errors of tasks that failed three times."""

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the corpus into a folder."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.corpus.items():
            (Path(folder) / name).write_bytes(content)

    def _add(self, seed: int, value: Mapping[str, Any], seen: set[tuple[str, str]]) -> None:
        self.inputs += value["cases"]
        self.packets += value["executions"]
        kinds = self.coverage.to_dict()
        for kind, of in value["coverage"].items():
            if of["hit"] >= kinds.get(kind, {"hit": 0})["hit"]:
                kinds[kind] = of
        self.coverage = Record(kinds)
        for failure in value["failures"]:
            # Packets of the same fault differ in their numbers, and in the fields that follow what does not hold.
            what = failure["text"].partition(";")[0]
            key = (failure["property"], re.sub(r"0x[0-9a-f]+|\d+", "#", what))
            if key not in seen:
                seen.add(key)
                self.findings.append(Record({**failure, "seed": seed}))

    def __repr__(self) -> str:
        return f"Hunted({self.inputs} inputs, {len(self.findings)} findings, {len(self.corpus)} inputs in the corpus)"

    def _repr_html_(self) -> str:
        rows = [(one["property"], one["text"], len(one["packets"])) for one in self.findings]
        head = f"{self.inputs} inputs, {len(self.corpus)} in the corpus"
        return head + html_table(("property", "finding", "packets"), rows)


@takes(HuntOptions)
def hunt(
    program: str | os.PathLike[str],
    *,
    hours: float | None = None,
    inputs: int | None = None,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    corpus: str | os.PathLike[str] | None = None,
    address: str | None = None,
    workers: int | None = None,
    progress: Callable[[Hunted], None] | None = None,
    **options: Unpack[HuntOptions],
) -> Hunted:
    """Hunt for packets that break a property of a program, on local processes or on a Ray cluster.

    Each task is a hunt with a seed of its own, which begins with the inputs that all tasks so far found. On a cluster an actor
    of Ray keeps these inputs. Two hunts with the same seed need not find the same.

    Args:
        program: name of a program, or path of a ``.p4`` or ``.sluice`` file, which travels to the workers by content.
        hours: wall time of the hunt, to which the start of the workers and the shrinking of a last finding may add seconds; or
        inputs: number of inputs, each of about 200 packets.
        seed: seed of the first task; the next ones follow.
        corpus: folder of inputs to begin with, to which the new ones are added.
        progress: is called after each task.
        address: of a Ray cluster (``"auto"``, ``"ray://host:10001"``); without it, processes of this machine do the tasks.
        workers: number of tasks at a time; by default one for each processor.
        options: options of ``sluice fuzz``, such as ``chip``, ``buffer``, ``entries``, whose files travel, too, and of P4
            programs, as :class:`sluice.Program` takes them.

    Raises:
        Error: if all tasks fail, with the error of the first.
    """
    if (hours is None) == (inputs is None):
        raise _native.Error("a hunt takes either hours or inputs")
    lanes = workers or _processors(address)
    rest: dict[str, Any] = dict(options)
    p4 = P4.taken(rest)
    named = {key: os.fspath(rest.pop(key)) for key in _NAMED if _is_file(rest.get(key))}
    bundle = Bundle.of_program(os.fspath(program), p4, named)
    words = [*settings(params), *words_of(rest, HuntOptions)]
    shared, result = Corpus(), Hunted()
    seen: set[tuple[str, str]] = set()
    if corpus is not None and Path(corpus).is_dir():
        shared.files = {path.name: path.read_bytes() for path in sorted(Path(corpus).iterdir()) if path.is_file()}
    actor = _actor(address, shared) if address else None
    end = None if hours is None else time.monotonic() + hours * 3600
    each = 0 if inputs is None else max(-(-inputs // (lanes * 4)), 1)
    state = {"seed": seed, "left": inputs or 0}

    def task() -> list[Task]:
        if end is None:
            count = min(each, state["left"])
            state["left"] -= count
            amount = None if count == 0 else f"--cases={count}"
        else:
            left = min(SECONDS, end - time.monotonic())
            amount = None if left < 1 else f"--time={int(left)}s"
        if amount is None:
            return []
        own, state["seed"] = state["seed"], state["seed"] + 1
        given = actor if actor is not None else dict(shared.files)
        return [Task(own, "hunt", ([f"--seed={own}", amount], given))]

    def done(key: Any, good: bool, answer: Any) -> list[Task]:
        if good:
            value, found = answer
            shared.exchange(found, set(found))
            result._add(key, value, seen)
        else:
            result.errors.append(answer)
        if progress is not None:
            progress(result)
        # What failed three times would fail again: the other workers go on.
        return task() if good else []

    first = [one for _ in range(lanes) for one in task()]
    execute(first, (bundle, words), done, address, lanes)
    if result.errors and not result.inputs:
        raise _native.Error(result.errors[0])
    if shared.files:
        value, result.corpus = fuzz(bundle, [*words, "--minimise"], shared.files)
        result.coverage = Record(value["coverage"])
    result.findings.sort(key=lambda one: (one["property"], one["text"]))
    if corpus is not None:
        result.save(corpus)
    return result


def _is_file(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and os.path.isfile(value)


def _processors(address: str | None) -> int:
    if address is None:
        return os.cpu_count() or 1
    from .cluster import processors

    return processors(address)


def _actor(address: str, corpus: Corpus) -> Any:
    """Return an actor on the cluster that keeps the corpus."""
    from .cluster import connect

    ray = connect(address)
    actor = ray.remote(Corpus).options(max_restarts=0).remote()
    ray.get(actor.exchange.remote(corpus.files, set(corpus.files)))
    return actor
