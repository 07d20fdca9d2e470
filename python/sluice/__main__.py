"""The command `sluice`, and `python -m sluice`: the command line, and `sluice run --on ADDRESS`."""

from __future__ import annotations

import signal
import sys

from . import _native


def main(arguments: list[str] | None = None) -> int:
    """Run the command line with these arguments, by default those of the process, and return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if any(word == "--on" or word.startswith("--on=") for word in words):
        from .on import main as on_cluster

        return on_cluster(words)
    return _native.main(words)


def script() -> int:
    """Run the command line as the only work of the process."""
    # Python notes Ctrl-C and acts when its own code runs again, which is after the command. With the system's action Ctrl-C
    # ends the process at once, as it ends the binary; commands that end with complete files set an action of their own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return main()


if __name__ == "__main__":
    sys.exit(script())
