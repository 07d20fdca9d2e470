#!/usr/bin/env python3
"""Checks that a refactoring leaves the data of some hundred commands as it was.

    checks/release.py --profile release  a binary that writes Parquet files, as the digests are of one
    checks/digests.py                    compare with checks/digests.txt; exit code 1 if a digest differs
    checks/digests.py --against BINARY   compare with what another binary writes; exit code 1 if a field differs
    checks/digests.py --update           write checks/digests.txt again, after a change that was meant
    checks/digests.py --only conweave    only commands whose name contains `conweave`

Every command runs in a folder of its own. What it writes is taken apart into fields: a value of a JSON document by its
path (`.ports[].rx_bytes`), a column of a CSV file, the interfaces and the packets of a capture, the bytes of any other
file. Prose is left out: help, hints, explanations, comments on packets, and what depends on the machine (`wall`).
`checks/digests.txt` holds one digest of all fields per program and chip, and one per command that is about no program.
It tells that something changed; `--against` with a binary of the code before tells which field of which command did.

Needs Python 3.8 or newer and nothing else. Commands run on all processors; the whole takes about two minutes of processor
time, and twice that with `--against`.
"""

import argparse
import concurrent.futures
import csv
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD = os.path.join(ROOT, "checks", "digests.txt")

# Keys of JSON documents whose values are written for a reader, or differ from run to run.
PROSE = {
    "wall", "per_second", "line", "doc", "summary", "reason", "help", "hint", "note", "why", "text", "title", "description", "meaning",
    "method", "expects", "statement", "explanation", "p4", "advice", "origin", "version", "remedy", "remedies", "message",
    "try", "sentence", "says", "command", "assumptions", "doubts", "limits", "notes", "draw_rule", "not_applicable",
}
# Files that repeat what another command or the standard output has.
REPEATED = re.compile(r"^(.*\.)?(report|summary|fuzz|run|flowlets|polarization|manifest)\.json$")
# Digests of runs and files, which depend on the sources; what they stand for is compared itself.
RUN = re.compile(rb"\b[0-9a-f]{64}\b")
# Columns of CSV files that are written for a reader.
PROSE_COLUMNS = {"title", "reason", "why", "note"}


PROGRAMS = [
    "l3-ecmp", "ecmp", "wcmp", "spray", "drb", "presto", "flare", "letflow", "int", "hpcc-int", "pfc", "ecn-mark", "conweave",
    "conweave-spine", "drill", "conga", "hula",
]
CHIPS = ["tofino", "tofino2"]


def commands():
    """Pairs of a name and a list of command lines, run one after the other in one folder; `{root}` is the repository."""
    for name in PROGRAMS:
        for chip in CHIPS:
            yield f"report {name} {chip}", [["report", name, "--chip", chip, "--json"]]
    for name in PROGRAMS:
        yield f"replay {name}", [["replay", name, "-o", "out", "--json", "--drops", "drops.pcapng"]]
        yield f"ir {name}", [["programs", name, "--ir"], ["programs", name, "--p4"]]
        yield f"fuzz {name}", [["fuzz", name, "--cases", "24", "--seed", "7", "--json", "--jobs", "1"]]
    for name in ["l3-ecmp", "int", "letflow"]:
        yield f"replay {name} functional", [["replay", name, "--functional", "-o", "out", "--json"]]
    for name in ["l3-ecmp", "conweave", "pfc"]:
        yield f"replay {name} reference", [["replay", name, "--engine", "reference", "-o", "out", "--json"]]
    for name in ["l3-ecmp", "int"]:
        yield f"replay {name} steps", [["replay", name, "--engine", "steps", "-o", "out", "--json"]]
    for objective in ["stages", "latency"]:
        yield f"report conweave {objective} without", [[
            "report", "conweave", "--objective", objective, "--without", "split-tables,turns,late-gateways", "--json"]]
    yield "report sweep", [["report", "l3-ecmp", "--sweep", "ipv4_routes=1k..400k", "--json"]]
    yield "report compare", [["report", "ecmp", "--compare", "wcmp chip=tofino", "--json"]]
    yield "report files", [["report", "int", "-o", "out", "--json"]]
    for name in ["l3-ecmp", "conweave", "hula"]:
        yield f"entries {name}", [["entries", name]]
    yield "programs", [["programs", "--json"]]

    yield "replay trace", [["replay", "l3-ecmp", "--trace", "--limit", "5", "--json"]]
    yield "replay check coverage", [["replay", "ecmp", "--check", "--coverage", "-o", "out", "--json"]]
    yield "replay ndr", [["replay", "l3-ecmp", "--find-ndr", "--json", "--limit", "400"]]
    yield "replay paced", [[
        "replay", "ecmp", "--speed", "40Gbps", "--loop", "3", "--unique-ip", "--scheduler", "dwrr", "-o", "out", "--json"]]
    yield "replay buffer", [
        ["gen", "roce", "--packets", "20k", "--flows", "50", "-o", "t.pcapng"],
        ["replay", "l3-ecmp", "-i", "0@t.pcapng", "-i", "1@t.pcapng", "--buffer", "th", "--port-speed", "100G",
         "--obey-pfc", "--timeline", "fill.csv", "-o", "out", "--json"]]
    yield "replay pfc obeyed", [["replay", "pfc", "--obey-pfc", "--cable", "40m", "-o", "out", "--json"]]
    yield "replay changes", [
        ["sh", "printf '@1us table_set_default ipv4_route ipv4_no_route\\n@2us port_down 144\\n' > changes.txt"],
        ["replay", "l3-ecmp", "--changes", "changes.txt", "-o", "out", "--json"]]

    yield "network two-tor", [[
        "replay", "conweave", "--topology", "two-tor", "--story", "10.0.0.1:49152-10.0.1.1", "-o", "out", "--json"]]
    for name, threads in [("l3-ecmp", "2"), ("letflow", "1"), ("conga", "2")]:
        yield f"network {name}", [
            ["gen", "udp", "--packets", "4k", "--flows", "200", "--dst", "10.0.0.0/16", "-o", "t.pcapng"],
            ["replay", name, "--topology", "leaf-spine:leaves=4,spines=4", "-i", "leaf0:0@t.pcapng", "--threads", threads,
             "-o", "out", "--json", "--drops", "drops.pcapng"]]
    yield "network functional", [
        ["gen", "udp", "--packets", "2k", "--flows", "100", "--dst", "10.0.0.0/16", "-o", "t.pcapng"],
        ["replay", "ecmp", "--topology", "fat-tree:k=4", "-i", "edge-0-0:0@t.pcapng", "--functional", "-o", "out", "--json"]]
    yield "network telemetry", [
        ["gen", "udp", "--packets", "1k", "--flows", "20", "--dst", "10.0.2.0/24", "-o", "t.pcapng"],
        ["replay", "int", "--topology", "chain:switches=3", "-i", "s0:0@t.pcapng", "-o", "out", "--json"]]

    yield "scenarios", [["run", "-o", "out", "--json"]]
    yield "scenario timelines", [["run", "--filter", "8.1", "--timelines", "csv", "-o", "out", "--json"]]
    yield "contest leaf-spine-4", [[
        "run", "{root}/fabric/contests/leaf-spine-4.toml", "--seeds", "1", "--threads", "2", "-o", "out", "--json"]]

    yield "polarization clos", [["polarization", "-o", "out", "--flows", "100000", "--json", "--threads", "2"]]
    yield "polarization dring", [["polarization", "--topology", "dring", "--flows", "50000", "--json", "--threads", "2"]]
    yield "polarization network", [[
        "polarization", "--topology", "fat-tree:k=8", "--flows", "50000", "--workload", "zipf", "--json"]]
    yield "flowlets", [["flowlets", "-o", "out", "--json"]]
    yield "flowlets through", [["flowlets", "--through", "letflow,spray,presto", "--skew", "5us", "-o", "out", "--json"]]
    yield "flowlets elastic", [["flowlets", "--elastic", "40G,20G", "--packets", "100k", "-o", "out", "--json"]]
    yield "int decode", [
        ["replay", "int", "-o", "out", "--json"], ["int", "decode", "out/out.pcapng", "-o", "hops", "--json"]]
    yield "hpcc decode", [
        ["replay", "hpcc-int", "-o", "out", "--json"], ["int", "decode", "out/out.pcapng", "-o", "hops", "--json"]]
    for kind in ["udp", "tcp", "roce", "cnp", "vxlan", "arp", "pfc"]:
        yield f"gen {kind}", [["gen", kind, "--packets", "2000", "--seed", "3", "-o", "t.pcapng"]]
    yield "explain hashing", [["explain", "hashing", "--set", "ports=8", "--set", "upstream=8,57", "--json"]]
    yield "explain headroom", [["explain", "headroom", "--speed", "100G", "--cable", "300m", "--json"]]
    yield "fuzz mutants", [["fuzz", "ecmp", "--cases", "48", "--mutants", "12", "--jobs", "1", "--json"]]
    yield "fuzz buffer", [["fuzz", "ecn-mark", "--cases", "48", "--buffer", "random", "--jobs", "1", "--json", "-o", "out"]]


# Unnamed actions carry the line of their source in their name, so that moving a program's text changes them.
PLACE = re.compile(r"_l\d+(_\d+)?\b|\b[\w/.-]+\.rs:\d+(:\d+)?")


def without_places(text):
    return PLACE.sub("@", text)


def digest(data, length=8):
    return hashlib.sha256(data).hexdigest()[:length]


def json_fields(value):
    """Digests of a JSON document by path; all values at one path, in order, make one field."""
    found = {}

    def walk(path, value, key):
        if key in PROSE:
            found.setdefault(path, []).append("prose")
        elif isinstance(value, dict):
            for name in value:
                # Maps whose keys are data (counts by reason, by name) are told by their keys as well.
                walk(f"{path}.{without_places(name)}", value[name], name)
            if not value:
                found.setdefault(path, []).append("{}")
        elif isinstance(value, list):
            found.setdefault(path + "[]", []).append(f"#{len(value)}")
            for item in value:
                walk(path + "[]", item, None)
        else:
            found.setdefault(path, []).append(without_places(json.dumps(value)))

    walk("", value, None)
    return {path or ".": digest("\n".join(values).encode()) for path, values in found.items()}


def csv_fields(text):
    rows = list(csv.reader(text.splitlines()))
    head, rows = rows[0], rows[1:]
    fields = {"columns": digest(",".join(head).encode()), "rows": str(len(rows))}
    for at, name in enumerate(head):
        if name not in PROSE_COLUMNS:
            fields[name] = digest("\n".join(row[at] if at < len(row) else "" for row in rows).encode())
    return fields


def capture_fields(data):
    """Interfaces, times, lengths and bytes of a capture; comments are prose."""
    if data[:4] != b"\x0a\x0d\x0d\x0a":
        return {"bytes": digest(data)}
    times, lengths, frames = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    interfaces, count, at = [], 0, 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + length - 4]
        if kind == 1:
            link, _, snap = struct.unpack_from("<HHI", body)
            interfaces.append([link, snap] + interface_options(body[8:]))
        elif kind == 6:
            interface, high, low, captured, original = struct.unpack_from("<IIIII", body)
            count += 1
            times.update(struct.pack("<III", interface, high, low))
            lengths.update(struct.pack("<II", captured, original))
            frames.update(body[20:20 + captured])
        at += length
    return {
        "interfaces": digest(json.dumps(interfaces).encode()), "packets": str(count), "times": times.hexdigest()[:8],
        "lengths": lengths.hexdigest()[:8], "frames": frames.hexdigest()[:8],
    }


def interface_options(body):
    """The name (2) and the resolution of time stamps (9)."""
    found, at = [], 0
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            break
        if code in (2, 9):
            found.append(body[at + 4:at + 4 + length].hex())
        at += 4 + (length + 3) // 4 * 4
    return found


def text_fields(line, text):
    """A program's text without its comments; entries as they are."""
    if "--ir" in line:
        text = re.sub(r'"[^"\n]*"', '""', text)  # for readers
    if line[0] == "programs":
        text = without_places(re.sub(r"\s*//.*", "", text))
    return {"text": digest(text.encode())}


def file_fields(name, path):
    with open(path, "rb") as file:
        data = RUN.sub(b"DIGEST", file.read())
    if path.endswith(".json"):
        return json_fields(json.loads(data))
    if path.endswith(".csv"):
        return csv_fields(data.decode())
    if path.endswith((".pcapng", ".pcap")):
        return capture_fields(data)
    if path.endswith((".txt", ".html", ".svg", ".md", ".log")):
        return None  # for readers
    if os.path.basename(path) == "sweep.parquet":
        return None  # has digests of runs, packed; sweep.csv has the same columns
    if path.endswith(".toml"):
        data = b"\n".join(line.split(b"#")[0].rstrip() for line in data.splitlines())
    return {"bytes": digest(data)}


def run(binary, name, lines):
    """Fields of one command: pairs of a file and its fields. Files whose names differ in digests of runs alone are taken together."""
    found, alike = {}, {}
    with tempfile.TemporaryDirectory(prefix="sluice-digests-") as folder:
        for line in lines:
            if line[0] == "sh":
                subprocess.run(line[1], shell=True, cwd=folder, check=True)
                continue
            line = [word.replace("{root}", ROOT) for word in line]
            done = subprocess.run([binary] + line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            fields = found.setdefault("stdout of " + " ".join(word.replace(ROOT, ".") for word in line), {})
            fields["exit code"] = str(done.returncode)
            if done.returncode not in (0, 1):
                sys.stderr.write(f"{name}: {' '.join(line)}:\n{done.stderr.decode()}\n")
            out = RUN.sub(b"DIGEST", done.stdout).decode()
            if "--json" in line and out:
                fields.update(json_fields(json.loads(out)))
            elif line[0] in ("programs", "entries"):
                fields.update(text_fields(line, out))
        for base, _, files in sorted(os.walk(folder)):
            for file in sorted(files):
                path = os.path.join(base, file)
                if not name.startswith("report") and REPEATED.match(file):
                    continue
                fields = file_fields(name, path)
                if fields is not None:
                    place = RUN.sub(b"DIGEST", os.path.relpath(path, folder).encode()).decode()
                    for field, value in fields.items():
                        alike.setdefault(place, {}).setdefault(field, []).append(value)
    for place, fields in alike.items():
        found[place] = {field: " ".join(sorted(values)) for field, values in fields.items()}
    return found


def group(name):
    """The line of the record that a command counts for: its program and chip, else itself."""
    words = name.split()
    program = next((word for word in words if word in PROGRAMS), None)
    return f"{program} {words[-1] if words[-1] in CHIPS else 'tofino2'}" if program else name


def record(results):
    """One digest of all fields for each group."""
    lines = {}
    for name, files in results.items():
        for file, fields in files.items():
            lines.setdefault(group(name), []).extend(f"{name}: {file}: {field} {fields[field]}" for field in fields)
    return {name: digest("\n".join(sorted(found)).encode(), 16) for name, found in lines.items()}


def differences(before, after):
    """Names of values of nested maps that are not the same in both."""
    for name in list(before) + [name for name in after if name not in before]:
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield f"{name}: is {'new' if old is None else 'missing'}"
        elif isinstance(old, dict):
            yield from (f"{name}: {inner}" for inner in differences(old, new))
        elif old != new:
            yield f"{name}: differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "sluice"))
    parser.add_argument("--against", metavar="BINARY")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    if args.update and (args.only or args.against):
        parser.error("--update takes all commands and one binary")
    todo = [(name, lines) for name, lines in commands() if args.only in name]
    if not args.against:
        # A digest of the record is one of all commands of its group.
        groups = {group(name) for name, _ in todo}
        todo = [(name, lines) for name, lines in commands() if group(name) in groups]
    if not todo:
        parser.error(f"no command's name contains `{args.only}`")
    binaries = [os.path.abspath(binary) for binary in [args.binary, args.against] if binary]
    for binary in binaries:
        if not os.access(binary, os.X_OK):
            parser.error(f"there is no binary {binary}: build it with `cargo build --release -p sluice`")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        ran = [[pool.submit(run, binary, *item) for item in todo] for binary in binaries]
        after, *before = [{name: one.result() for (name, _), one in zip(todo, done)} for done in ran]
    if args.against:
        found = list(differences(before[0], after))
    elif args.update:
        with open(RECORD, "w", encoding="utf-8") as file:
            file.writelines(f"{value} {name}\n" for name, value in record(after).items())
        found = []
    else:
        with open(RECORD, encoding="utf-8") as file:
            known = {name: value for value, name in (line.rstrip("\n").split(" ", 1) for line in file)}
        after = record(after)
        found = list(differences({name: known[name] for name in known if not args.only or name in after}, after))
    for line in found:
        print(line)
    print(f"{len(todo)} commands: {len(found)} differences")
    if found and not args.against:
        print("--against BINARY, with a binary of the code before, tells which fields of which commands differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
