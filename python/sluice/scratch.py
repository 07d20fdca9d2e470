"""The temporary folder of a process that does tasks.

All workers of a call share a folder on their machine, and each has one of its own below it. A worker removes its own when it
ends, and the caller removes the whole folder, also after a worker was killed.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_own: Path | None = None


def shared_by(call: str) -> Path:
    """Return the folder on this machine of the workers of a call, by the call's name."""
    return Path(tempfile.gettempdir()) / f"sluice-workers-{call}"


def enter(call: str) -> bool:
    """Do tasks of a call from now on; return true if this process did tasks of another one before."""
    global _own
    folder = shared_by(call)
    if _own is not None and _own.parent == folder:
        return False
    had = _own is not None
    leave()
    folder.mkdir(exist_ok=True)
    _own = Path(tempfile.mkdtemp(dir=folder))
    return had


def own() -> Path:
    """Return the folder of this process, below which all its temporary files are."""
    if _own is None:
        enter(f"{os.getpid()}")
    assert _own is not None
    return _own


@atexit.register
def leave() -> None:
    """Remove the folder of this process, and that of the call if no other process has a folder there."""
    global _own
    if _own is None:
        return
    shutil.rmtree(_own, ignore_errors=True)
    try:
        _own.parent.rmdir()
    except OSError:
        pass  # Another worker has a folder there, or the caller has removed it.
    _own = None


def remove(call: str) -> None:
    """Remove the folders of all workers of a call on this machine."""
    shutil.rmtree(shared_by(call), ignore_errors=True)
