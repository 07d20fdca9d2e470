"""``sluice run FILE --on ADDRESS`` and ``sluice reproduce ID --on ADDRESS``: the runs are done by a Ray cluster.

The runs are put into the output folder, where the command then finds all of them and reports as without ``--on``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from . import _native
from ._native import Error
from .bundle import Bundle
from .experiment import Experiment
from .p4 import P4
from .sweeping import do_runs

_NAMES = {"-o": "--output", "-I": "I", "-D": "D", "-U": "U", "-include": "include", "--include": "include"}
"""Options with other names here."""
_VALUED = {"--on", "--workers", "--output", "--seeds", "--scale", "--with", "--papers", "--arch", *_NAMES}
_SHORT = ("o", "I", "D", "U")
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
    on, workers, out = (options.get(key, [None])[-1] for key in ("--on", "--workers", "--output"))
    command = names.pop(0) if names else ""
    if command not in ("run", "reproduce") or len(names) != 1:
        raise Error("--on takes one file of `sluice run`, or one experiment of `sluice reproduce`")
    if not on:
        raise Error(
            "--on has no address\n  = help: for example --on ray://host:10001, or --on auto on a node of the cluster"
        )
    if workers is not None and not workers.isdigit():
        raise Error(f"--workers {workers} is not a number of runs")
    bundle, opened = _work(command, names[0], options)
    if opened.is_of_scenarios:
        raise Error("--on is for contests\n  = help: in Python `sluice.sweep` runs scenarios on a cluster")
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        dataset = do_runs(bundle, opened, out or folder, on, int(workers) if workers else None, None)
        if not dataset.is_complete:
            failures = dataset.failures
            for program, seed, text in zip(failures["program"], failures["seed"], failures["error"]):
                print(f"error: {program}, seed {seed}: {text}", file=sys.stderr)
            return 2
        return _native.main([*rest, *([] if out else ["-o", os.path.join(folder)])])


def _work(command: str, name: str, options: dict[str, list[str]]) -> tuple[Bundle, _native.Experiment]:
    p4: dict[str, Any] = {key: options.get(key) for key in ("D", "U", "I", "include")}
    p4["arch"] = options.get("--arch", [None])[-1]
    if command == "run":
        seeds = options.get("--seeds", [""])[-1]
        experiment = Experiment(name, **p4)
        return experiment.over(seeds=int(seeds) if seeds.isdigit() else None).bundle()
    words = [f"{key}={value}" for key in ("--scale", "--with") for value in options.get(key, [])]
    library = options.get("--papers", [None])[-1]
    return Bundle.of_papers([name, *words], P4.taken(p4), library)


def _parsed(words: Sequence[str]) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Return values of options by name, other arguments, and all words that the command line itself takes."""
    options: dict[str, list[str]] = {}
    names: list[str] = []
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        # The value of an option with one letter may follow without a space, as in `-DPATHS=4`.
        is_short = word[:1] == "-" and word[1:2] in _SHORT and word != "-include"
        name, value = (word[:2], word[2:]) if is_short else word.partition("=")[::2]
        taken = [word]
        if name in _VALUED and not value and "=" not in word and queue:
            value = queue.pop(0)
            taken.append(value)
        if name in _VALUED:
            options.setdefault(_NAMES.get(name, name), []).append(value)
        elif not word.startswith("-"):
            names.append(word)
        if name not in _OURS:
            rest += taken
    return options, names, rest
