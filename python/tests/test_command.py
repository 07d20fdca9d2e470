"""The command `sluice` of the package: exit codes, signals, pipes, a terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import sluice

COMMAND = [str(Path(sysconfig.get_path("scripts")) / "sluice")]


def ran(*words, **how):
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, **how)


def test_exit_codes_are_those_of_the_binary():
    assert ran("programs").returncode == 0
    assert "Usage: sluice" in ran("--help").stdout
    found = ran("report", "nothing")
    assert found.returncode == 2 and found.stderr.startswith("error: ") and found.stdout == ""
    assert ran("report", "l3-ecmp", "--chip", "tofino", "--set", "ipv4_routes=2000000").returncode == 1
    assert ran("doctor", "--json").stdout.count(sluice.__version__) >= 1


def test_output_is_the_same_as_that_of_the_function():
    assert ran("report", "ecmp", "--json").stdout == sluice.run("report", "ecmp", "--json").text


def is_at_work(pid, has_action):
    """Whether Python has left SIGINT to a command, and the command has set its action, which has a thread of its own."""
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    is_caught = int(status["SigCgt"], 16) >> (signal.SIGINT - 1) & 1 == 1
    if has_action:
        return is_caught and int(status["Threads"]) > 1
    return not is_caught and "_native" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        # A hunt ends with complete files.
        (["fuzz", "conweave", "--time", "60s"], 130),
        # This command has no files, so the system ends it.
        (["polarization", "--topology", "fat-tree:k=16", "--flows", "30M"], -signal.SIGINT),
    ],
)
def test_ctrl_c_ends_a_command(words, code):
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not is_at_work(process.pid, has_action=code > 0):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == code


def test_a_closed_pipe_ends_a_command_quietly():
    line = f"'{COMMAND[0]}' replay l3-ecmp --trace | head -n 1; echo ${{PIPESTATUS[0]}}"
    shown = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    first, code = shown.stdout.splitlines()
    assert first and code == "0" and "Traceback" not in shown.stderr and "panicked" not in shown.stderr


def test_a_terminal_gets_colours_and_progress():
    head, tail = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([*COMMAND, "fuzz", "ecmp", "--time", "2s"], stdout=tail, stderr=tail, env=environment)
    os.close(tail)
    text = b""
    while select.select([head], [], [], 30)[0]:
        try:
            chunk = os.read(head, 4096)
        except OSError:
            break  # The other end is closed.
        if not chunk:
            break
        text += chunk
    assert process.wait() == 0
    # A line is written over while the hunt runs.
    assert text.count(b"\r") > 3
    colours = subprocess.run(
        [sys.executable, "-c", f"import pty; pty.spawn([{COMMAND[0]!r}, 'report', '--nothing'])"],
        capture_output=True,
        env=environment,
    )
    assert b"\x1b[" in colours.stdout


def test_the_module_is_the_same_command():
    shown = subprocess.run([sys.executable, "-m", "sluice", "doctor", "--json"], capture_output=True, text=True)
    assert shown.stdout == ran("doctor", "--json").stdout
