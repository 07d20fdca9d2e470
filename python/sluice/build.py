"""The build of Sluice that this process has."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from . import _native


@functools.cache
def build() -> str:
    """Return the SHA-256 of the package's files: the native module, and the modules in Python.

    Two installations of the same wheel have the same build. Builds of the same sources for two platforms differ.
    """
    digest = hashlib.sha256()
    modules = sorted(Path(__file__).parent.glob("*.py"))
    for path in [Path(_native.__file__), *modules]:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        # The native module's file has the name of the platform, which its content has, too.
        digest.update(f"{path.name.partition('.')[0]} {content}\n".encode())
    return digest.hexdigest()
