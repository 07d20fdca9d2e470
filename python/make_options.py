#!/usr/bin/env python3
"""Writes sluice/options.py: the options of commands as types, from what the commands say of themselves.

    python make_options.py                  writes the module, from the installed package
    python make_options.py --binary FILE    writes the module, from a binary, for which no wheel is needed

The declarations are those of the command line: `sluice COMMAND --help` lists them.
"""

from __future__ import annotations

import argparse
import json
import keyword
import re
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MODULE = Path(__file__).resolve().parent / "sluice" / "options.py"

P4 = {"I", "D", "U", "include", "arch"}
NEVER = {"help", "json", "quiet", "set"}
"""Options that Python gives itself, or has in another form."""
ALONE = {"time", "jobs", "output", "html", "merge", "minimise", "mutants", "corpus", "junit", "sarif"}
"""Options of hunts by one process."""
COMMANDS = [
    ("report", "ReportOptions", "TypedDict", {"chip", "watch"}),
    ("replay", "ReplayOptions", "TypedDict", {"chip", "input", "topology"}),
    ("fuzz", "FuzzOptions", "TypedDict", {"chip", "cases", "seed"}),
    ("fuzz", "HuntOptions", "P4Options", {"cases", "seed", *ALONE}),
    ("run", "RunOptions", "TypedDict", {"list", "markdown", "output", "threads", "dry_run", "write_flows", "on"}),
    ("reproduce", "ReproduceOptions", "P4Options", {"markdown", "output", "on", "papers", "threads"}),
]
"""Commands, types with their bases, and the options that the methods in Python have as arguments or do not take."""

NUMBERS = {"N", "SEED", "BYTES", "CELLS", "PERCENT"}
"""Names of values that are numbers, which a text may write as ``"10k"``."""

_ENTRY = re.compile(r"^ {2,6}(?:-(?P<short>\w)(?:, )?)?(?P<long>--[\w-]+)?(?P<value> ?\[?=?<[^>]+>\]?)?$")


@dataclass
class Option:
    """An option of a command."""

    name: str
    value: str
    doc: str
    choices: list[str]

    @property
    def key(self) -> str:
        """Name in Python."""
        key = self.name.replace("-", "_")
        return f"{key}_" if keyword.iskeyword(key) else key

    @property
    def is_time(self) -> bool:
        """True if the value is a time."""
        return "<TIME>" in self.value

    @property
    def type(self) -> str:
        """Type of the value, as Python text."""
        kind = self._one()
        if not self.value:
            return "bool"
        if self.value.strip().startswith("["):
            kind = f"bool | {kind}"
        return f"{kind} | Sequence[{kind}]" if "repeatable" in self.doc else kind

    def _one(self) -> str:
        name = self.value.strip(" []=<>")
        if self.choices:
            return f"Literal[{', '.join(map(json.dumps, self.choices))}]"
        if re.fullmatch(r"[a-z0-9|-]+", name) and "|" in name:
            return f"Literal[{', '.join(map(json.dumps, name.split('|')))}]"
        known = {"TIME": "Time", "FILE": "Path", "DIR": "Path"}
        return known.get(name, "Number" if name in NUMBERS else "Text")


def options(text: str) -> list[Option]:
    """Return the options of a command's help."""
    lines = text.split("Options:\n", 1)[1].split("\nExample:")[0].splitlines()
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        entry = _ENTRY.match(line)
        if entry and (entry["long"] or entry["short"]):
            found.append((entry, []))
        elif found and (line.startswith(" " * 10) or not line.strip()):
            found[-1][1].append(line.strip())
    return [_option(entry, doc) for entry, doc in found]


def _option(entry: re.Match[str], lines: list[str]) -> Option:
    name = entry["long"][2:] if entry["long"] else entry["short"]
    text = "\n".join(lines).strip()
    doc, _, rest = text.partition("\nPossible values:\n")
    choices = re.findall(r"^- ([\w-]+)(?::|$)", rest, re.MULTILINE)
    in_line = re.search(r"\[possible values: ([^\]]+)\]", " ".join(text.split()))
    if in_line:
        choices = in_line[1].split(", ")
    doc = re.sub(r"\[(possible values|alias|aliases|short alias): [^\]]*\]", "", doc)
    doc = " ".join(doc.split()).removeprefix("P4: ")
    return Option(name, entry["value"] or "", doc[:1].upper() + doc[1:], choices)


def _class(name: str, base: str, doc: str, members: list[Option]) -> str:
    lines = [f"class {name}({base}, total=False):", f'    """{doc}"""', ""]
    for option in members:
        line = f"    {option.key}: {option.type}"
        if len(line) > 120:  # As formatters of Python break it.
            line = line.replace("Literal[", "Literal[\n        ")[:-1] + "\n    ]"
        lines.append(line)
        said = textwrap.wrap(option.doc.replace("\\", "\\\\"), 110)
        said[0] = f'"""{said[0]}'
        said[-1] += '"""'
        lines += [f"    {line}" for line in said]
    return "\n".join(lines) + "\n"


HEAD = '''"""Options of commands, by which editors and notebooks complete the arguments of methods.

This file is made by `python/make_options.py` from the declarations of the command line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, TypedDict

Time = int | float | str
"""Nanoseconds, or a text with a unit such as ``"1.5us"``."""
Path = str | os.PathLike[str]
"""Path of a file or a folder."""
Number = int | float | str
"""A number, or a text such as ``"10k"``."""
Text = str | os.PathLike[str]
"""A text, or the path of a file where the option takes one."""
'''


def help_of_package(command: str) -> str:
    """Return the help of a command of the installed package."""
    import sluice

    return sluice.run(command, "--help").text


def module(help_of: Callable[[str], str] = help_of_package) -> str:
    """Return the text of the module, from the help of each command."""
    every = {command: options(help_of(command)) for command, *_ in COMMANDS}
    own = [option for option in every["report"] if option.key in P4]
    parts, times = [HEAD, _class("P4Options", "TypedDict", "Options with which a P4 program is read.", own)], set()
    for command, name, base, left_out in COMMANDS:
        own = [option for option in every[command] if option.key not in {*NEVER, *P4, *left_out}]
        times |= {option.key for option in own if option.is_time}
        parts.append(_class(name, base, f"Options of ``sluice {command}``.", own))
    listed = "".join(f'        "{key}",\n' for key in sorted(times))
    parts.append(f"TIMES = frozenset(\n    {{\n{listed}    }}\n)\n" + '"""Options whose values are times."""\n')
    return "\n\n".join(parts)


def main() -> None:
    """Write the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", metavar="FILE", help="a binary whose commands are asked")
    binary = parser.parse_args().binary
    if binary is None:
        MODULE.write_text(module())
        return
    MODULE.write_text(module(lambda command: subprocess.check_output([binary, command, "--help"], text=True)))


if __name__ == "__main__":
    main()
