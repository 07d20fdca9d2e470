#!/usr/bin/env python3
"""Runs the commands of the README and of `docs`, and compares what they print with the pages.

    cargo build --release -p sluice
    checks/docs.py --binary target/release/sluice            quick blocks: exit code 1 if one prints something else
    checks/docs.py --binary target/release/sluice --slow     all blocks
    checks/docs.py --binary target/release/sluice --update   write what they print into the pages
    checks/docs.py --binary target/release/sluice --only int only pages whose path contains `int`

A block is fenced and has a line that begins with `$ `: a command. A command that ends with `\\` goes on in the next line,
and the lines after a command are what it prints. A line `...` stands for any lines, `...` in a line for anything. The blocks of a page run one after the
other in one empty folder, from which `pcaps`, `fabric`, `scenario` and `asic-model` of the repository can be read. Only commands
of `sluice`, and of the tools that its output goes through, are run.

A comment in the line before a fence says more about the block:

    <!-- file: NAME -->       the block is a file, which the page's commands find under this name
    <!-- first: COMMAND -->   run this in the page's folder before the block
    <!-- slow -->             takes more than 5 s: runs with --slow
    <!-- speed -->            prints figures of speed, which are not compared; the page says date and machine
    <!-- not run: WHY -->     is not run

Needs Python 3.8 or newer, and jq and tshark for the pages that use them: without these tools such blocks are left out, and
the tool says so.
"""

import argparse
import difflib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINKED = ["pcaps", "fabric", "scenario", "asic-model"]
TOOLS = ["sluice", "jq", "tshark", "head", "grep", "sed"]
SLOW_SECONDS = 5
TIMEOUT_SECONDS = 1200
ELIDED = "..."
# What tshark says on stderr if root runs it.
TSHARK_AS_ROOT = "Running as user"
MARK = re.compile(r"^<!-- (file|first|slow|speed|not run)(?:: (.*?))? -->$")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


class Block:
    """A fenced block of a page: its lines, and what the comments before it say."""

    def __init__(self, first, last, language, lines, marks):
        self.first, self.last, self.language, self.lines, self.marks = first, last, language, lines, marks

    def steps(self):
        """Commands with the lines that they print."""
        steps = []
        for line in self.lines:
            if line.startswith("$ ") and not (steps and steps[-1][0][-1].endswith("\\")):
                steps.append(([line], []))
            elif steps and steps[-1][0][-1].endswith("\\"):
                steps[-1][0].append(line)
            elif steps:
                steps[-1][1].append(line)
        return steps


def blocks_of(lines):
    blocks, at, marks = [], 0, {}
    while at < len(lines):
        mark = MARK.match(lines[at].strip())
        fence = re.match(r"^(`{3,})(\w*)", lines[at])
        if mark:
            marks[mark.group(1)] = mark.group(2) or ""
        elif fence:
            end = at + 1
            while end < len(lines) and not lines[end].startswith(fence.group(1)):
                end += 1
            blocks.append(Block(at + 1, end, fence.group(2), lines[at + 1:end], marks))
            marks, at = {}, end
        elif lines[at].strip():
            marks = {}
        at += 1
    return blocks


def shell_words(command):
    """The names of the programs that a command starts."""
    parts = re.split(r"\||&&|;", re.sub(r"'[^']*'|\"[^\"]*\"", "_", command))
    return [part.split()[0] for part in parts if part.split()]


def same(expected, found):
    """True if the line is as expected, where `...` stands for anything."""
    if expected == found:
        return True
    return ELIDED in expected and re.fullmatch(".*".join(map(re.escape, expected.split(ELIDED))), found) is not None


def matches(expected, found):
    """True if the lines are as expected, where `...` stands for any lines."""
    reachable = {0}
    for line in expected:
        if line == ELIDED:
            reachable = set(range(min(reachable), len(found) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if at < len(found) and same(line, found[at])}
    return len(found) in reachable


def rewritten(expected, found):
    """The found lines with the elisions of the expected ones, each kept segment where it fits best."""
    if ELIDED not in expected:
        return [a if same(a, b) else b for a, b in zip(expected, found)] + found[len(expected):]
    segments, out, at = [[]], [], 0
    for line in expected:
        if line == ELIDED:
            segments.append([])
        else:
            segments[-1].append(line)

    def alike(a, b):
        return 1.0 if same(a, b) else difflib.SequenceMatcher(None, a, b).ratio()

    for n, segment in enumerate(segments):
        left = sum(len(s) for s in segments[n + 1:])
        last = max(len(found) - left - len(segment), at)
        starts = [at] if n == 0 else [last] if n + 1 == len(segments) and segment else range(at, last + 1)
        if segment:
            best = max(starts, key=lambda s: sum(alike(a, b) for a, b in zip(segment, found[s:s + len(segment)])))
            out += [a if same(a, b) else b for a, b in zip(segment, found[best:best + len(segment)])]
            at = best + len(segment)
        if n + 1 < len(segments):
            out.append(ELIDED)
    return out


def run(command, folder, binary):
    """Runs a command; returns its lines, its exit code, and the seconds that it took."""
    env = dict(os.environ, PATH=os.path.dirname(binary) + os.pathsep + os.environ["PATH"], NO_COLOR="1", TERM="dumb", COLUMNS="120")
    began = time.time()
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS,
    )
    text = done.stdout.decode("utf-8", "replace")
    lines = [line.rstrip() for line in text.rstrip().lstrip("\n").splitlines() if not line.startswith(TSHARK_AS_ROOT)]
    return lines, done.returncode, time.time() - began


class Checker:
    def __init__(self, options):
        self.options = options
        self.compared = self.left_out = 0
        self.problems = []

    def problem(self, page, line, text):
        self.problems.append(f"{page}:{line}: {text}")
        print(self.problems[-1], flush=True)

    def reason_to_skip(self, block, words):
        if "not run" in block.marks:
            return block.marks["not run"] or "it is marked so"
        if "slow" in block.marks and not self.options.slow:
            return "slow"
        other = [word for word in words if word not in TOOLS]
        if other:
            return f"it starts {other[0]}"
        missing = [word for word in words if word != "sluice" and not shutil.which(word)]
        return f"{missing[0]} is not installed" if missing else None

    def block(self, page, block, folder, text):
        """Runs a block; returns its lines as they should be."""
        if "file" in block.marks:
            with open(os.path.join(folder, block.marks["file"]), "w") as file:
                file.write("\n".join(block.lines) + "\n")
            return block.lines
        if not block.steps():
            return block.lines
        if "first" in block.marks and "not run" not in block.marks and ("slow" not in block.marks or self.options.slow):
            found, code, _ = run(block.marks["first"], folder, self.options.binary)
            if code != 0:
                self.problem(page, block.first, f"`{block.marks['first']}` ends with code {code}: {' '.join(found[-3:])}")
        speed = "speed" in block.marks
        if speed and not DATE.search(text):
            self.problem(page, block.first, "figures of speed, and the page has no date (YYYY-MM-DD) and machine")
        lines, spent = [], 0.0
        for command, expected in block.steps():
            joined = "\n".join(command)[2:]
            reason = self.reason_to_skip(block, shell_words(re.sub(r"\s#\s.*", "", joined.replace("\\\n", " "))))
            if reason:
                self.left_out += 1
                if self.options.verbose or reason.endswith("installed"):
                    print(f"{page}:{block.first}: not run, because {reason}: {joined}", flush=True)
                lines += command + expected
                continue
            trailing = []
            while expected and not expected[-1].strip():
                trailing.append(expected.pop())
            found, code, seconds = run(joined, folder, self.options.binary)
            spent += seconds
            self.compared += 1
            plain = (lambda ls: [re.sub(r"[\d.,]+", "0", line) for line in ls]) if speed else (lambda ls: ls)
            if not expected:
                # A command whose output the page leaves out has only to succeed.
                if code != 0:
                    self.problem(page, block.first, f"`{joined}` ends with code {code}: {' '.join(found[-3:])}")
            elif not matches(plain(expected), plain(found)):
                wanted = rewritten(expected, found)
                if self.options.update:
                    expected = wanted
                else:
                    self.problem(page, block.first, f"`{joined}` prints something else")
                    for line in difflib.unified_diff(expected, wanted, "page", "printed", lineterm="", n=1):
                        print(f"    {line}")
            lines += command + expected + trailing
        if spent > SLOW_SECONDS and "slow" not in block.marks and self.options.release:
            self.problem(page, block.first, f"takes {spent:.0f} s: mark the block with `<!-- slow -->`")
        return lines

    def page(self, path):
        page = os.path.relpath(path, ROOT)
        with open(path) as file:
            text = file.read()
        lines = text.split("\n")
        with tempfile.TemporaryDirectory() as folder:
            for name in LINKED:
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
            blocks = blocks_of(lines)
            # Files are there before the first command, wherever the page shows them.
            blocks.sort(key=lambda block: ("file" not in block.marks, block.first))
            changed = [(block, self.block(page, block, folder, text)) for block in blocks]
        for block, new in sorted(changed, key=lambda pair: -pair[0].first):
            lines[block.first:block.last] = new
        if self.options.update and "\n".join(lines) != text:
            with open(path, "w") as file:
                file.write("\n".join(lines))
            print(f"{page}: written", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the sluice to run; a release build, as users have it")
    parser.add_argument("--slow", action="store_true", help="run blocks marked as slow, too")
    parser.add_argument("--update", action="store_true", help="write what commands print into the pages")
    parser.add_argument("--only", default="", help="only pages whose path contains this")
    parser.add_argument("--verbose", action="store_true", help="say which commands are not run")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    if not os.access(options.binary, os.X_OK) or os.path.basename(options.binary) != "sluice":
        sys.exit(f"--binary {options.binary}: no program named `sluice` there; build it with `cargo build --release -p sluice`")
    options.release = "debug" not in options.binary.split(os.sep)
    paths = [os.path.join(ROOT, "README.md")] + sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
    paths = [path for path in paths if options.only in os.path.relpath(path, ROOT)]
    if not paths:
        sys.exit(f"--only {options.only}: no page has this in its path")
    checker = Checker(options)
    for path in paths:
        checker.page(path)
    print(f"{checker.compared} commands on {len(paths)} pages, {checker.left_out} not run, {len(checker.problems)} problems")
    sys.exit(1 if checker.problems else 0)


if __name__ == "__main__":
    main()
