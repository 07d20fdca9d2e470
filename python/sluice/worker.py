"""A worker process: reads calls from stdin, and writes their results to stdout, until stdin ends.

The first message is a value that all calls share. A call is the name of a function of :mod:`sluice.tasks` and its arguments.
"""

from __future__ import annotations

import os
import sys

from .messages import read, write


def main() -> None:
    """Serve calls."""
    # What a library prints must not be taken for a message.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from . import tasks

    shared = read(sys.stdin.buffer)
    while True:
        try:
            name, arguments = read(sys.stdin.buffer)
        except EOFError:
            return
        write(out, tasks.outcome(name, shared, arguments))


if __name__ == "__main__":
    main()
