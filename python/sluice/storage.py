"""The folder of a dataset: a local folder, or a URL that fsspec opens."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .frames import missing

LAST = "run.json"
"""The file of a run that is written last: a run without it is not complete."""


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder's files by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@dataclass(frozen=True)
class Target:
    """Where a dataset is."""

    url: str
    """Path of a local folder, or URL."""
    marker: str | None = None
    """Name of a file in a local folder, by which workers see whether they share the folder with the caller."""

    def is_local(self) -> bool:
        """Return true for a local folder of the caller."""
        return "://" not in self.url

    def is_here(self) -> bool:
        """Return true if this process can write into the folder of the caller."""
        return self.is_local() and (self.marker is None or (Path(self.url) / self.marker).exists())

    def filesystem(self) -> tuple[Any, str]:
        """Return the file system of the URL, and the path there."""
        try:
            import fsspec
        except ImportError:
            raise missing("fsspec", f"{self.url}: a URL") from None
        system, path = fsspec.core.url_to_fs(self.url)
        return system, path

    def has(self, digest: str) -> bool:
        """Return true if a run is complete."""
        if self.is_local():
            return (Path(self.url) / "runs" / digest / LAST).is_file()
        system, path = self.filesystem()
        return bool(system.exists(f"{path}/runs/{digest}/{LAST}"))

    def put_run(self, digest: str, files: dict[str, bytes]) -> None:
        """Write the files of a run, that which makes it complete last."""
        for name in sorted(files, key=lambda name: (name == LAST, name)):
            self.put(f"runs/{digest}/{name}", files[name])

    def put(self, name: str, content: bytes) -> None:
        """Write a file under another name, then give it its name."""
        if self.is_local():
            path = Path(self.url) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            waiting = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
            waiting.write_bytes(content)
            os.replace(waiting, path)
            return
        system, root = self.filesystem()
        final = f"{root}/{name}"
        system.makedirs(final.rsplit("/", 1)[0], exist_ok=True)
        unfinished = f"{final}.{uuid.uuid4().hex}"
        system.pipe_file(unfinished, content)
        system.mv(unfinished, final)

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        if self.is_local():
            (Path(self.url) / name).unlink(missing_ok=True)
            return
        system, path = self.filesystem()
        if system.exists(f"{path}/{name}"):
            system.rm(f"{path}/{name}")

    def fetch_runs(self, folder: Path) -> None:
        """Copy all runs into a local folder."""
        system, path = self.filesystem()
        for remote in system.find(f"{path}/runs"):
            local = folder / "runs" / remote.split("/runs/", 1)[1]
            local.parent.mkdir(parents=True, exist_ok=True)
            local.write_bytes(system.cat_file(remote))

    def put_folder(self, folder: Path) -> None:
        """Write all files of a local folder other than runs."""
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not name.startswith("runs/"):
                self.put(name, path.read_bytes())
