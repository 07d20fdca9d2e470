"""Tables as texts, as HTML of notebooks, and as frames of other libraries."""

from __future__ import annotations

import html
from typing import Any

from ._native import Error, Table

ROWS = 10
"""Rows that a table shows."""
WIDTH = 120
"""Characters of a line; columns that do not fit are named below the table."""
LETTERS = 24
"""Characters of a cell."""


def cell(value: Any) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        text = value.hex()
    elif isinstance(value, float):
        # A time of nanoseconds with its picoseconds; a ratio with as many digits as differ.
        text = f"{value:,.3f}".rstrip("0").rstrip(".").replace(",", "") if abs(value) >= 1 else f"{value:.4g}"
    else:
        text = " ".join(str(value).split())
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"


def _shown(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and the cells of the first rows."""
    first = table.slice(0, ROWS)
    names = first.column_names
    columns = [[cell(value) for value in first[name]] for name in names]
    return names, [list(row) for row in zip(*columns)]


def _size(table: Table) -> str:
    rows, columns = len(table), len(table.column_names)
    return f"{rows} {'row' if rows == 1 else 'rows'}, {columns} {'column' if columns == 1 else 'columns'}"


def text(table: Table) -> str:
    """Return the first rows of a table as a text."""
    names, rows = _shown(table)
    widths = [max(len(line[at]) for line in [names, *rows]) for at in range(len(names))]
    fitting, used = 0, 0
    while fitting < len(names) and used + widths[fitting] <= WIDTH:
        used += widths[fitting] + 2
        fitting += 1
    lines = [f"Table of {_size(table)}"]
    for row in [names, *rows] if names else []:
        lines.append("  ".join(one.ljust(width) for one, width in zip(row[:fitting], widths)).rstrip())
    if len(table) > ROWS:
        lines.append(f"and {len(table) - ROWS} rows")
    if names[fitting:]:
        lines.append(f"and the columns {', '.join(names[fitting:])}")
    return "\n".join(lines)


def html_of(table: Table) -> str:
    """Return the first rows of a table as HTML."""
    names, rows = _shown(table)
    more = f", the first {ROWS}" if len(table) > ROWS else ""
    return f"<div style='overflow-x:auto'>{html_table(names, rows)}<small>{_size(table)}{more}</small></div>"


def html_table(head: list[str] | tuple[str, ...], rows: list[Any]) -> str:
    """Return a table of a notebook."""
    cells = "".join(f"<th>{html.escape(str(name))}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def missing(package: str, what: str) -> Error:
    """Return the error of a package that is not installed."""
    return Error(f"{what} needs the package {package}\n  = help: pip install {package}")


def to_rows(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table as dicts."""
    names = table.column_names
    return [dict(zip(names, row)) for row in zip(*(table[name] for name in names))]


def to_pandas(table: Table) -> Any:
    """Return a table as a frame of pandas."""
    try:
        import pandas
    except ImportError:
        raise missing("pandas", "to_pandas") from None
    return pandas.DataFrame(table.to_dict())


def to_polars(table: Table) -> Any:
    """Return a table as a frame of polars."""
    try:
        import polars
    except ImportError:
        raise missing("polars", "to_polars") from None
    return polars.DataFrame(table)
