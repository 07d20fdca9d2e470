"""Options with which P4 programs are read."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class P4:
    """Options of the P4 preprocessor, as p4c spells them."""

    defines: tuple[str, ...] = ()
    """Macros as ``NAME`` or ``NAME=VALUE``."""
    undefines: tuple[str, ...] = ()
    """Macros that are undefined after all definitions."""
    folders: tuple[str, ...] = ()
    """Folders in which included files are searched."""
    first: tuple[str, ...] = ()
    """Files that are read before the program."""
    architecture: str | None = None
    """``tna`` or ``t2na``."""

    @staticmethod
    def taken(options: MutableMapping[str, Any]) -> P4:
        """Return the options ``D``, ``U``, ``I``, ``include`` and ``arch``, and remove them from the others."""
        defines, undefines, folders, first = (_texts(options.pop(key, None)) for key in ("D", "U", "I", "include"))
        return P4(defines, undefines, folders, first, options.pop("arch", None))

    def words(self, base: str | os.PathLike[str] = "") -> list[str]:
        """Return the options as the command line takes them; paths are relative to ``base``."""
        words = [f"-D{macro}" for macro in self.defines] + [f"-U{macro}" for macro in self.undefines]
        words += [f"-I{Path(base, folder)}" for folder in self.folders]
        words += [f"--include={Path(base, file)}" for file in self.first]
        return words + ([f"--arch={self.architecture}"] if self.architecture else [])

    def within(self, base: str | os.PathLike[str]) -> P4:
        """Return the same options with paths relative to ``base`` in place of the present folder."""
        folders = tuple(os.path.relpath(folder, base) for folder in self.folders)
        first = tuple(os.path.relpath(self._found(file), base) for file in self.first)
        return P4(self.defines, self.undefines, folders, first, self.architecture)

    def _found(self, file: str) -> str:
        """Return where a file is that is read first: in the present folder, or in one of the others."""
        places = [os.path.join(folder, file) for folder in ("", *self.folders)]
        return next((place for place in places if os.path.isfile(place)), file)


def _texts(value: Any) -> tuple[str, ...]:
    """Return an option's values: a list, or a single one."""
    if value is None:
        return ()
    values = value if isinstance(value, (list, tuple)) else [value]
    return tuple(os.fspath(one) for one in values)
