"""Work of one task, in a worker process or on a node of a cluster."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _native, commands, scratch, storage
from ._native import Error
from .bundle import Bundle

_opened: dict[str, _native.Experiment] = {}
"""Experiments that this process has opened, by the digests of their bundles."""


def outcome(call: str, name: str, shared: Any, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Do a task of a call; return true and its result, or false and the text of its error."""
    try:
        if scratch.enter(call):
            _opened.clear()  # Their files are gone.
        return True, FUNCTIONS[name](shared, *arguments)
    except Error as error:
        return False, str(error)
    except Exception as error:  # noqa: BLE001 - a task's error must reach the caller, whatever it is.
        return False, f"{type(error).__name__}: {error}"


def experiment(bundle: Bundle) -> _native.Experiment:
    """Return the experiment of a bundle; a process opens it once."""
    digest = bundle.digest
    if digest not in _opened:
        _opened[digest] = bundle.open(Path(tempfile.mkdtemp(dir=scratch.own())))
    return _opened[digest]


def run(shared: tuple[Bundle, storage.Target], index: int, digest: str) -> dict[str, bytes] | None:
    """Do one run of an experiment, and write its files where the dataset is.

    Returns the files if this machine cannot write there, else None.
    """
    bundle, target = shared
    opened = experiment(bundle)
    found = opened.digest(index)
    if found != digest:
        raise Error(
            f"run {digest} is {found} on this worker: a file that the experiment names did not travel\n"
            "  = help: name files by paths that are relative to the experiment's folder"
        )
    if target.is_here():
        opened.run(index, Path(target.url))
        return None
    with tempfile.TemporaryDirectory(dir=scratch.own()) as folder:
        opened.run(index, Path(folder))
        files = storage.files_of(Path(folder) / "runs" / digest)
    if target.is_local():
        return files
    target.put_run(digest, files)
    return None


def hunt(shared: tuple[Bundle, list[str]], amount: list[str], corpus: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Hunt once; return the result of ``sluice fuzz --json``, and the inputs that the hunt found.

    Args:
        amount: seed and size of the hunt.
        corpus: inputs to begin with by name, or the actor that keeps them.
    """
    bundle, words = shared
    bundle.check()
    actor = None if isinstance(corpus, dict) else corpus
    known = _exchange(actor, {}, set()) if actor is not None else corpus
    value, kept = fuzz(bundle, [*words, *amount, "--jobs=1"], known, scratch.own())
    found = {file: content for file, content in kept.items() if file not in known}
    if actor is not None:
        _exchange(actor, found, set(known) | set(found))
    return value, found


def fuzz(
    bundle: Bundle, words: list[str], corpus: dict[str, bytes], temporary: Path | None = None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Run ``sluice fuzz`` on the program of a bundle; return its result and its corpus.

    Args:
        corpus: inputs to begin with, by name.
        temporary: folder for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-", dir=temporary) as folder:
        inputs = Path(folder) / "corpus"
        own = bundle.unpack(Path(folder) / "program")
        inputs.mkdir()
        for file, content in corpus.items():
            (inputs / file).write_bytes(content)
        name = str(own) if own.is_file() else bundle.origin
        options = [*bundle.own_words(own), f"--corpus={inputs}", "--json"]
        # Texts name files as the caller does, not by the temporary folder.
        here = f"{own.parent}{os.sep}"
        try:
            text = commands.run("fuzz", name, *words, *options).text
        except Error as error:
            raise Error(str(error).replace(here, "")) from None
        value: dict[str, Any] = json.loads(text.replace(json.dumps(here)[1:-1], ""))
        return value, storage.files_of(inputs)


def _exchange(actor: Any, found: dict[str, bytes], known: set[str]) -> dict[str, bytes]:
    import ray

    missing: dict[str, bytes] = ray.get(actor.exchange.remote(found, known))
    return missing


FUNCTIONS: dict[str, Callable[..., Any]] = {"run": run, "hunt": hunt}
