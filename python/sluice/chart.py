"""Charts of results, drawn by the code that draws those of the command line."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import _native

Series = tuple[str, Sequence[tuple[float, float]], str]
"""Name, points, and style: ``line``, ``dashed``, ``marked``, ``points`` or ``steps``."""


@dataclass(frozen=True)
class Chart:
    """A drawing as SVG, which notebooks show."""

    svg: str
    """Text of the SVG file."""

    @staticmethod
    def of_lines(title: str, x: str, y: str, series: Iterable[Series], log_x: bool = False) -> Chart:
        """Draw lines over an axis; the vertical axis starts at 0."""
        return Chart(_native.line_chart(title, x, y, [(n, list(p), style) for n, p, style in series], log_x))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing as an SVG file."""
        Path(path).write_text(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Chart of {len(self.svg)} bytes of SVG; `save` writes it"


def inline(svg: str) -> str:
    """Return a drawing as a part of a page of a notebook, at most as wide as the page."""
    start = svg.find("<svg")
    return f"<div style='max-width:900px;overflow-x:auto'>{svg[max(start, 0) :]}</div>"


def heat_table(corner: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[float | None]]]) -> str:
    """Return a table whose cells are shaded by their share, from 0 to 1, and have it in percent."""
    head = "".join(f"<th style='padding:1px 4px'>{html.escape(name)}</th>" for name in [corner, *columns])
    lines = []
    for name, shares in rows:
        cells = "".join(_shaded(share) for share in shares)
        lines.append(f"<tr><th style='padding:1px 4px;text-align:left'>{html.escape(name)}</th>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _shaded(share: float | None) -> str:
    if not share:
        return "<td></td>"
    style = f"background:rgba(43,108,176,{min(share, 1) * 0.75:.2f});padding:1px 4px;text-align:right"
    return f"<td style='{style}'>{share * 100:.0f}</td>"
