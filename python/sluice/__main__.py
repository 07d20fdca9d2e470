"""The command `sluice`, and `python -m sluice`: the command line, and `sluice run --on ADDRESS`."""

from __future__ import annotations

import sys

from . import _native


def main(arguments: list[str] | None = None) -> int:
    """Run the command line with these arguments, by default those of the process, and return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if any(word == "--on" or word.startswith("--on=") for word in words):
        from .on import main as on_cluster

        return on_cluster(words)
    return _native.main(words)


if __name__ == "__main__":
    sys.exit(main())
