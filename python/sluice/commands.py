"""Commands of the command line, called in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from ._native import Error


@dataclass(frozen=True)
class Called:
    """Result of a command."""

    code: int
    """Exit code: 0, or 1 if a program does not fit or a property or an expectation fails."""
    output: bytes
    """Bytes that the command printed on stdout."""
    notes: str
    """Text that the command printed on stderr."""

    @property
    def text(self) -> str:
        """The output as text."""
        return self.output.decode()

    def json(self) -> Any:
        """Return the output of a command with ``--json``."""
        return json.loads(self.output)


def run(*arguments: str | os.PathLike[str]) -> Called:
    """Run a command of the command line, such as ``run("gen", "udp", "--packets", "1k", "-o", "udp.pcap")``.

    The GIL is released while the command runs, and Ctrl-C stops it.

    Raises:
        Error: if the input is wrong, with the text that the command line prints.
    """
    return called(*_native.call([os.fspath(argument) for argument in arguments]))


def called(code: int, output: bytes, notes: str) -> Called:
    """Return the result of a command.

    Raises:
        Error: if the exit code is that of an error.
    """
    if code not in (0, 1) or (code == 1 and not output):
        start = notes.find("error: ")
        error = Error(notes[start + 7 :].rstrip() if start >= 0 else notes.strip() or f"exit code {code}")
        error.code = code
        raise error
    return Called(code, output, notes)


def programs() -> list[str]:
    """Return the names of the programs that come with Sluice."""
    return _native.programs()


def flags(options: Mapping[str, Any]) -> list[str]:
    """Return options as the command line takes them.

    A key is a long option with ``_`` for ``-``. ``True`` is an option without a value, ``None`` and ``False`` leave the option
    out, and each value of a list repeats it.
    """
    words: list[str] = []
    for key, value in options.items():
        name = "--" + key.strip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is None or one is False:
                continue
            words.append(name if one is True else f"{name}={_word(one)}")
    return words


def settings(params: Mapping[str, Any] | None) -> list[str]:
    """Return parameters of a program as the command line takes them."""
    return [f"--set={key}={_word(value)}" for key, value in (params or {}).items()]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return ",".join(_word(one) for one in value)
    return str(value)
