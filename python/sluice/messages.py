"""Messages between a caller and its worker processes: the length in 8 bytes, big-endian, and a pickle."""

from __future__ import annotations

import pickle
from typing import IO, Any


def read(stream: IO[bytes] | None) -> Any:
    """Return the next message.

    Raises:
        EOFError: if the stream ends.
    """
    if stream is None:
        raise EOFError("there is no other process")
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError("the other process has ended")
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    if len(body) < size:
        raise EOFError("the other process has ended")
    return pickle.loads(body)


def write(stream: IO[bytes] | None, message: Any) -> None:
    """Write a message."""
    if stream is None:
        raise EOFError("there is no other process")
    body = pickle.dumps(message, protocol=5)
    stream.write(len(body).to_bytes(8, "big") + body)
    stream.flush()
