"""Values of JSON documents with attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._native import Table
from .frames import cell, html_table

NAMES = ("name", "id", "table", "counter", "port")
"""Keys whose columns are first."""
KEYS = 12
"""Keys that a record shows as a text."""


class Record(Mapping[str, Any]):
    """A JSON object whose keys are also attributes: ``report.latency.total_ns`` is ``report["latency"]["total_ns"]``.

    Objects within are records too, and lists are lists.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_value", dict(value))

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        try:
            return _wrapped(self._value[key])
        except KeyError:
            keys = ", ".join(self._value)
            raise AttributeError(f"there is no `{key}`; there are {keys}") from None

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._value[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self._value])

    def __repr__(self) -> str:
        shown = [f"{key}={_brief(self._value[key])}" for key in list(self._value)[:KEYS]]
        more = [f"and {len(self._value) - KEYS} keys"] if len(self._value) > KEYS else []
        return f"{type(self).__name__}({', '.join([*shown, *more])})"

    def _repr_html_(self) -> str:
        return html_table(("key", "value"), [(key, _brief(value)) for key, value in self._value.items()])

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return type(self), (self._value,)

    def to_dict(self) -> dict[str, Any]:
        """Return the plain JSON value."""
        value: dict[str, Any] = json.loads(json.dumps(self._value))
        return value

    def table(self, key: str) -> Table:
        """Return a list of objects, such as ``"tables"`` of a report, as an Arrow table.

        Columns are the keys of the objects, names first; a value that is an object or a list is its JSON text.
        """
        rows = self._value.get(key)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            lists = [name for name, value in self._value.items() if value and _is_rows(value)]
            raise KeyError(f"`{key}` is not a list of objects; lists are {', '.join(lists)}")
        # The keys of JSON are sorted; a table begins with what its rows are called.
        return table_of([{**{name: row[name] for name in NAMES if name in row}, **row} for row in rows])


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and isinstance(value[0], dict)


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    return value


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return rows with the same keys as an Arrow table; keys that a row lacks are null."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        nested = any(isinstance(value, (dict, list)) for value in values)
        kinds = {type(value) for value in values if value is not None}
        if nested or len(kinds - {int, float}) > 1 or (kinds & {int, float} and kinds - {int, float}):
            values = [None if value is None else _text(value) for value in values]
        columns.append((name, values))
    return Table(columns)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _brief(value: Any) -> str:
    """Return a value as a record shows it: a list or an object by its size."""
    if isinstance(value, list):
        return f"[{len(value)} elements]" if value else "[]"
    if isinstance(value, dict):
        return f"{{{len(value)} keys}}" if value else "{}"
    return repr(value) if isinstance(value, str) and len(value) <= 40 else cell(value)
