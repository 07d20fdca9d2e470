"""An experiment or a program with all files that it names, by content, so that workers on other machines run the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from . import _native
from ._native import Error
from .build import build
from .p4 import P4


@dataclass(frozen=True)
class Bundle:
    """An experiment, a program, or arguments of ``sluice reproduce``, with the files that they name."""

    origin: str
    """Name of the text in errors, or of the program."""
    text: str = ""
    """TOML text; empty for experiments of papers and for programs."""
    papers: tuple[str, ...] = ()
    """Arguments of ``sluice reproduce`` without those of ``p4`` and ``library``."""
    library: str | None = None
    """Folder of experiments of papers, relative to ``folder``; None for those that come with Sluice."""
    p4: P4 = P4()
    """Options of P4 programs, whose paths are relative to ``folder``."""
    options: tuple[tuple[str, str], ...] = ()
    """Options of a program's command whose values are files, with paths relative to ``folder``."""
    folder: str = "."
    """Folder of the experiment below the root of the files."""
    files: dict[str, bytes] = field(default_factory=dict, hash=False)
    """Contents by path below the root."""
    version: str = _native.VERSION
    """Version of Sluice that made the bundle; no other version runs it."""
    build: str = field(default_factory=build)
    """Build of Sluice that made the bundle; no other build runs it."""

    @staticmethod
    def of_text(origin: str, text: str, folder: Path, p4: P4 = P4()) -> tuple[Bundle, _native.Experiment]:
        """Return the bundle of a text whose files are in ``folder``, and the experiment.

        Args:
            p4: options of P4 programs, whose paths are relative to the present folder.
        """
        experiment = _native.Experiment.read(origin, text, folder, p4.words())
        bundle = Bundle(os.path.basename(origin), text, p4=p4.within(folder or "."))
        return bundle._with(experiment.files(), folder), experiment

    @staticmethod
    def of_papers(
        arguments: Iterable[str], p4: P4 = P4(), library: str | None = None
    ) -> tuple[Bundle, _native.Experiment]:
        """Return the bundle of experiments of papers, and the experiments.

        Args:
            arguments: those of ``sluice reproduce``, without the options of P4 programs and without ``--papers``.
            library: folder of experiments in place of those that come with Sluice.
        """
        bundle = Bundle("papers", papers=tuple(arguments), p4=p4, library=library)
        experiment = bundle._of_papers("")
        files = experiment.files()
        if library is not None:
            files += [(str(path), path.read_bytes()) for path in sorted(Path(library).rglob("*")) if path.is_file()]
            bundle = replace(bundle, library=os.path.relpath(library))
        return replace(bundle, p4=p4.within("."))._with(files, Path()), experiment

    @staticmethod
    def of_program(name: str, p4: P4 = P4(), options: Mapping[str, Any] | None = None) -> Bundle:
        """Return the bundle of a program, and of options whose values are names of files; a shipped program has no files."""
        folder = Path(os.path.dirname(name) or ".")
        files = _native.files_of(os.path.basename(name), folder, p4.words())
        origin = os.path.basename(name) if files else name
        named = []
        for key, value in (options or {}).items():
            found = _native.files_of(os.path.basename(value), Path(os.path.dirname(value)), [])
            files += found
            named += [(key, os.path.relpath(value, folder))] if found else []
        return Bundle(origin, p4=p4.within(folder), options=tuple(named))._with(files, folder)

    def own_words(self, own: Path) -> list[str]:
        """Return the options of a command on the unpacked program ``own``: those of P4 and those whose values are files."""
        named = [f"--{key.replace('_', '-')}={own.parent / path}" for key, path in self.options]
        return [*self.p4.words(own.parent), *named]

    def _with(self, files: Iterable[tuple[str, bytes]], folder: Path) -> Bundle:
        """Return the bundle with files; the paths that begin with ``..`` get folders above the experiment's."""
        inside = {os.path.relpath(path, folder or "."): content for path, content in files}
        named = [*inside, *self.p4.folders, *self.p4.first, self.library or "."]
        above = "/".join(f"d{n}" for n in range(max(map(_climb, named), default=0)))
        below = {_below(above, path): content for path, content in inside.items()}
        return replace(self, folder=above or ".", files=below)

    @property
    def digest(self) -> str:
        """SHA-256 of everything in the bundle."""
        facts = {**asdict(replace(self, files={})), "files": {}}
        facts["files"] = {path: hashlib.sha256(content).hexdigest() for path, content in self.files.items()}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def check(self) -> None:
        """Check that this process may do the work.

        Raises:
            Error: if another version or another build of Sluice made the bundle.
        """
        if self.version != _native.VERSION:
            text = f"this worker has Sluice {_native.VERSION}, and the work is for Sluice {self.version}"
        elif self.build != build():
            text = (
                f"this worker has build {build()[:12]} of Sluice {self.version}, and the work is for build "
                f"{self.build[:12]}"
            )
        else:
            return
        raise Error(f"{text}\n  = help: install the same wheel on all machines")

    def unpack(self, root: Path) -> Path:
        """Write the files below ``root`` and return the path of the experiment's own file, or of the program."""
        own = root / self.folder / self.origin
        own.parent.mkdir(parents=True, exist_ok=True)
        for path, content in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        if self.text:
            own.write_text(self.text)
        return own

    def open(self, root: Path) -> _native.Experiment:
        """Unpack the bundle and return the experiment.

        Raises:
            Error: if another version or another build of Sluice made the bundle.
        """
        self.check()
        own = self.unpack(root)
        if self.papers:
            return self._of_papers(own.parent)
        return _native.Experiment.read(self.origin, self.text, own.parent, self.p4.words(own.parent))

    def _of_papers(self, folder: str | Path) -> _native.Experiment:
        library = [] if self.library is None else [f"--papers={Path(folder, self.library)}"]
        return _native.Experiment.of_papers([*self.papers, *library, *self.p4.words(folder)], folder)


def _climb(path: str) -> int:
    """Return how many folders a relative path goes up before it goes down."""
    return sum(part == ".." for part in PurePosixPath(path).parts)


def _below(above: str, path: str) -> str:
    return os.path.normpath(os.path.join(above, path))
