"""Progress of runs: a bar in a notebook, a line on a terminal, and nothing elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOOK = 0.2
"""Seconds between two looks at the finished runs."""


class Shown:
    """What one call shows of its runs."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._last: tuple[int, int | None, int] | None = None
        self._is_notebook = in_notebook()

    def __call__(self, done: int, total: int | None, failed: int = 0) -> None:
        """Show the number of finished runs, of all runs if it is known, and of failed runs."""
        if self._last == (done, total, failed):
            return
        self._last = done, total, failed
        text = f"{done} runs" if total is None else f"{done} of {total} runs"
        text += f", {failed} failed" if failed else ""
        if self._is_notebook:
            self._show(bar(text, done, total))
        elif sys.stderr is not None and sys.stderr.isatty():
            print(f"\r{text}", end="\n" if done == total else "", file=sys.stderr, flush=True)

    def _show(self, html: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(html), display_id=True)
        else:
            self._handle.update(HTML(html))


def in_notebook() -> bool:
    """Return true if this process is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


def bar(text: str, done: int, total: int | None) -> str:
    """Return a bar with a text as HTML."""
    most = "" if not total else f" value='{done}' max='{total}'"
    return f"<progress{most} style='width:20em'></progress> {text}"


@contextmanager
def watching(folder: Path, digests: set[str] | None, show: Callable[[int, int | None, int], None]) -> Iterator[None]:
    """Show how many runs a folder has while the body runs, by the files that complete them.

    Args:
        digests: of all runs; None if they are not known.
    """

    def count() -> int:
        runs = folder / "runs"
        if digests is None:
            return sum(1 for _ in runs.glob("*/run.json"))
        return sum((runs / digest / "run.json").is_file() for digest in digests)

    total = None if digests is None else len(digests)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(LOOK):
            show(count(), total, 0)

    thread = threading.Thread(target=watch, daemon=True)
    show(count(), total, 0)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        show(count(), total, 0)
