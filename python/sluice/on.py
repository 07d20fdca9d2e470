"""``sluice run FILE --on ADDRESS`` and ``sluice reproduce ID --on ADDRESS``: the runs are done by a Ray cluster.

The runs are put into the output folder, where the command then finds all of them and reports as without ``--on``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence

from . import _native
from ._native import Error
from .bundle import Bundle
from .experiment import Experiment
from .sweeping import do_runs

_VALUED = {"--on", "--workers", "-o", "--output", "--seeds", "--scale", "--with", "--papers"}
_OURS = {"--on", "--workers"}


def main(words: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    try:
        return _main(words)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return getattr(error, "code", 2)


def _main(words: Sequence[str]) -> int:
    options, names, rest = _parsed(words)
    command = names.pop(0) if names else ""
    if command not in ("run", "reproduce") or len(names) != 1:
        raise Error("--on takes one file of `sluice run`, or one experiment of `sluice reproduce`")
    if "--on" not in options:
        raise Error(
            "--on has no address\n  = help: for example --on ray://host:10001, or --on auto on a node of the cluster"
        )
    workers = options.get("--workers")
    if workers is not None and not workers.isdigit():
        raise Error(f"--workers {workers} is not a number of runs")
    bundle, opened = _work(command, names[0], options)
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        out = options.get("--output") or options.get("-o")
        dataset = do_runs(bundle, opened, out or folder, options["--on"], int(workers) if workers else None, None)
        if not dataset.is_complete:
            failures = dataset.failures
            for program, seed, text in zip(failures["program"], failures["seed"], failures["error"]):
                print(f"error: {program}, seed {seed}: {text}", file=sys.stderr)
            return 2
        return _native.main([*rest, *([] if out else ["-o", os.path.join(folder)])])


def _work(command: str, name: str, options: dict[str, str]) -> tuple[Bundle, _native.Experiment]:
    if command == "run":
        seeds = options.get("--seeds")
        return Experiment(name).over(seeds=int(seeds) if seeds and seeds.isdigit() else None).bundle()
    words = [name, *(f"{key}={value}" for key, value in options.items() if key in ("--scale", "--with", "--papers"))]
    return Bundle.of_papers(words)


def _parsed(words: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Return options with values, other arguments, and all words that the command line itself takes."""
    options: dict[str, str] = {}
    names: list[str] = []
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, _, value = word.partition("=")
        taken = [word]
        if name in _VALUED and "=" not in word and queue:
            value = queue.pop(0)
            taken.append(value)
        if name in _VALUED:
            options[name] = value
        elif not word.startswith("-"):
            names.append(word)
        if name not in _OURS:
            rest += taken
    return {key: value for key, value in options.items() if value}, names, rest
