"""An experiment with all files that it names, by content, so that workers on other machines run the same."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from . import _native
from ._native import Error


@dataclass(frozen=True)
class Bundle:
    """Text of an experiment, or arguments of ``sluice reproduce``, with the files that they name."""

    version: str
    """Version of Sluice that made the bundle; no other version runs it."""
    origin: str
    """Name of the text in errors."""
    text: str
    """TOML text; empty for experiments of papers."""
    papers: tuple[str, ...] = ()
    """Arguments of ``sluice reproduce``."""
    folder: str = "."
    """Folder of the experiment below the root of the files."""
    files: dict[str, bytes] = field(default_factory=dict, hash=False)
    """Contents by path below the root."""

    @staticmethod
    def of_text(origin: str, text: str, folder: Path) -> tuple[Bundle, _native.Experiment]:
        """Return the bundle of a text whose files are in ``folder``, and the experiment.

        Raises:
            Error: if a file cannot travel, because the text names it by a path that is not relative to the experiment.
        """
        experiment = _native.Experiment.read(origin, text, folder)
        files = {os.path.relpath(path, folder or "."): content for path, content in experiment.files()}
        climbs = [_climb(path) for path in files]
        above = "/".join(f"d{n}" for n in range(max(climbs, default=0)))
        inside = {_below(above, path): content for path, content in files.items()}
        bundle = Bundle(_native.VERSION, os.path.basename(origin), text, (), above or ".", inside)
        return bundle, experiment

    @staticmethod
    def of_papers(arguments: list[str]) -> tuple[Bundle, _native.Experiment]:
        """Return the bundle of experiments of papers, which come with Sluice, and the experiments."""
        bundle = Bundle(_native.VERSION, "papers", "", tuple(arguments))
        return bundle, _native.Experiment.of_papers(arguments)

    @property
    def digest(self) -> str:
        """SHA-256 of everything in the bundle."""
        files = {path: hashlib.sha256(content).hexdigest() for path, content in self.files.items()}
        facts = [self.version, self.origin, self.text, self.papers, self.folder, files]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def unpack(self, root: Path) -> Path:
        """Write the files below ``root`` and return the path of the experiment's own file."""
        self.unpack_files(root)
        own = root / self.folder / self.origin
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(self.text)
        return own

    def unpack_files(self, root: Path) -> None:
        """Write the files below ``root``, without the experiment's own."""
        for path, content in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def open(self, root: Path) -> _native.Experiment:
        """Unpack the bundle and return the experiment.

        Raises:
            Error: if another version of Sluice made the bundle.
        """
        if self.version != _native.VERSION:
            text = f"this worker has Sluice {_native.VERSION}, and the work is for Sluice {self.version}"
            raise Error(f"{text}\n  = help: install the same wheel on all machines")
        if self.papers:
            return _native.Experiment.of_papers(list(self.papers))
        own = self.unpack(root)
        return _native.Experiment.read(self.origin, self.text, own.parent)


def _climb(path: str) -> int:
    """Return how many folders a relative path goes up before it goes down."""
    return sum(part == ".." for part in PurePosixPath(path).parts)


def _below(above: str, path: str) -> str:
    return os.path.normpath(os.path.join(above, path))
