"""A worker process: reads calls from stdin, and writes their results to stdout, until stdin ends.

Each message is its length in 8 bytes, big-endian, and a pickle. The first message is a value that all calls share. A call is
the name of a function of :mod:`sluice.tasks` and its arguments.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO


def read(stream: BinaryIO) -> Any:
    """Return the next message.

    Raises:
        EOFError: if the stream ends.
    """
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError("the other process has ended")
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    if len(body) < size:
        raise EOFError("the other process has ended")
    return pickle.loads(body)


def write(stream: BinaryIO, message: Any) -> None:
    """Write a message."""
    body = pickle.dumps(message, protocol=5)
    stream.write(len(body).to_bytes(8, "big") + body)
    stream.flush()


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
