"""A worker process: reads tasks from stdin, and writes their results to stdout, until stdin ends.

The first message is the name of the caller's call, and a value that all tasks share. A task is the name of a function of
:mod:`sluice.tasks` and its arguments.
"""

from __future__ import annotations

import os
import signal
import sys

from .messages import read, write


def main() -> None:
    """Do tasks."""
    # What a library prints must not be taken for a message.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from . import tasks

    # An orderly end, which removes temporary files.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    call, shared = read(sys.stdin.buffer)
    while True:
        try:
            name, arguments = read(sys.stdin.buffer)
            write(out, tasks.outcome(call, name, shared, arguments))
        except (EOFError, BrokenPipeError):
            return  # The caller has ended.


if __name__ == "__main__":
    main()
