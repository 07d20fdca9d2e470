"""Native part of the package: what the Rust crates do, as Python values."""

import builtins
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

from .digest import Digest

VERSION: str
"""Version of Sluice."""

class Error(Exception):
    """Error of a file, an option or a value, with the text that the command line prints.

    ``code`` is the exit code of the command line: 1 if a program does not fit, 2 if the input is wrong, 3 for a defect of
    Sluice, 130 if a run was stopped.
    """

    code: int

class Table:
    """A table with named columns, in the memory layout of Arrow; other libraries open it without a copy."""

    def __init__(self, columns: Sequence[tuple[str, list[Any]]]) -> None:
        """Make a table from names and lists of equal length: numbers, texts, bytes, truth values, or None."""

    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int:
        """Return the number of rows."""

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column as a list."""

    def to_dict(self) -> dict[str, list[Any]]:
        """Return all columns as lists by name, from which pandas makes a frame without pyarrow."""

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the rows as dicts."""

    def to_pandas(self) -> Any:
        """Return the table as a ``pandas.DataFrame``."""

    def to_polars(self) -> Any:
        """Return the table as a ``polars.DataFrame``, without a copy."""

    def slice(self, start: int, count: int) -> Table:
        """Return the rows from ``start`` on, ``count`` of them or as many as there are."""

    def divided(self, columns: Sequence[tuple[str, str, float]]) -> Table:
        """Return the table with columns of numbers divided and renamed: name, new name, divisor."""

    def _repr_html_(self) -> str: ...
    def to_parquet(self) -> bytes:
        """Return the table as bytes of a Parquet file; equal tables give equal bytes."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Packet:
    """A packet that a switch sent or lost, as a property gets it."""

    number: int
    time_ns: float
    port: int | None
    port_name: str | None
    dev_port: int | None
    queue: int | None
    bytes: builtins.bytes
    received: builtins.bytes | None
    reason: str | None
    absorbed: bool
    switch: str | None

class Switch:
    """One switch with a program; :class:`sluice.Switch` has the documentation."""

    def __init__(
        self,
        arguments: Sequence[str],
        properties: Sequence[tuple[str, Callable[[Packet], str | None]]],
        agent: tuple[Callable[[float, Digest], list[str] | None], int | float | str] | None,
    ) -> None: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def time_ns(self) -> float: ...
    def send(self, frame: bytes, port: int | str, time: int | float | str) -> None: ...
    def run_until(self, time: int | float | str) -> None: ...
    def drain(self) -> None: ...
    def commands(self, commands: Sequence[str], time: int | float | str | None = None) -> None: ...
    def entries(self) -> str: ...
    def take(self) -> tuple[Table, Table, Table, list[str]]: ...
    def names(self) -> dict[str, list[str]]: ...
    def register(self, name: str) -> Table: ...
    def counter(self, name: str) -> Table: ...
    def queues(self) -> Table: ...
    def totals(self) -> dict[str, int]: ...

class Experiment:
    """The runs of a contest file, of a scenario file, or of a paper's experiments."""

    @staticmethod
    def read(origin: str, text: str, folder: str | PathLike[str], p4: Sequence[str]) -> Experiment: ...
    @staticmethod
    def of_papers(arguments: Sequence[str], folder: str | PathLike[str]) -> Experiment: ...
    @property
    def is_of_scenarios(self) -> bool: ...
    def runs(self) -> list[tuple[str, list[tuple[str, str]], str, int | None]]:
        """Return digest, swept keys with their values, label of the program or ``ID on PROFILE``, and seed of each run."""

    def digest(self, index: int) -> str: ...
    def files(self) -> list[tuple[str, bytes]]: ...
    def run(self, index: int, out: str | PathLike[str]) -> None: ...
    @property
    def progress(self) -> float:
        """Share of the present run that is done, from 0 to 1."""

def call(arguments: Sequence[str]) -> tuple[int, bytes, str]:
    """Run a command and return its exit code, the bytes of stdout and the text of stderr."""

def replay_network(
    arguments: Sequence[str],
    properties: Sequence[tuple[str, Callable[[Packet], str | None]]],
    agent: tuple[Callable[[str, float, Digest], list[str] | None], int | float | str] | None,
) -> tuple[int, bytes, str]:
    """Run ``sluice replay --topology`` with callables; return what ``call`` returns."""

def main(arguments: Sequence[str]) -> int:
    """Run a command on the terminal of the process and return its exit code."""

def programs() -> list[str]: ...
def files_of(name: str, folder: str | PathLike[str], p4: Sequence[str]) -> list[tuple[str, bytes]]: ...
def read_capture(path: str | PathLike[str]) -> Table:
    """Read a capture: ``time_ns``, ``interface``, ``length``, ``bytes``."""

def read_parquet(path: str | PathLike[str]) -> Table:
    """Read a Parquet file."""

def parquet_table(content: bytes) -> Table: ...
def from_toml(text: str, origin: str) -> str: ...
def to_toml(json: str) -> str: ...
def picoseconds(time: int | float | str) -> int: ...
def topology(text: str, file: str | None = None) -> str:
    """Return a topology as JSON: of a builder's text, or of a file's text with the file's name."""

def line_chart(
    title: str,
    x: str,
    y: str,
    series: Sequence[tuple[str, Sequence[tuple[float, float]], str]],
    log_x: bool = False,
    top: float | None = None,
) -> str:
    """Return a chart as SVG."""

def graph_chart(heading: str, nodes: Sequence[tuple[int, str, str]], edges: Sequence[tuple[int, int, str]]) -> str:
    """Return a graph in columns as SVG."""
