"""Commands of the command line, called in this process."""

from __future__ import annotations

import difflib
import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from . import _native
from ._native import Error
from .options import TIMES

F = TypeVar("F", bound=Callable[..., Any])


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

    def __repr__(self) -> str:
        return f"Called(code={self.code}, {len(self.output)} bytes of output)"


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


def takes(*kinds: Any) -> Callable[[F], F]:
    """Give a function that takes ``**options`` the signature with these options, which notebooks show and complete."""

    def with_signature(function: F) -> F:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        named = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for options in kinds
            for key, kind in options.__annotations__.items()
            if key not in signature.parameters
        ]
        function.__signature__ = signature.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
        return function

    return with_signature


def words_of(options: Mapping[str, Any], *kinds: Any) -> list[str]:
    """Return the options of a method as the command line takes them; a number for a time is of nanoseconds.

    Args:
        kinds: the types of :mod:`sluice.options` whose keys are allowed.

    Raises:
        Error: if there is no such option, with the nearest one.
    """
    known = {key for kind in kinds for key in kind.__annotations__}
    for key in options:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            listed = f"did you mean `{near[0]}`?" if near else f"options are {', '.join(sorted(known))}"
            raise Error(f"there is no option `{key}`\n  = help: {listed}")
    return flags({key: _time(value) if key in TIMES else value for key, value in options.items()})


def _time(value: Any) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{_native.picoseconds(value)}ps" if is_number else value


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
