#!/usr/bin/env python3
"""Opens the pages of `--html` in a headless Chromium, at widths of 400, 1400 and 2500 pixels, on light and on dark paper.

    cargo build --release -p sluice
    checks/pages.py --binary target/release/sluice                 exit code 1 if a page breaks a rule
    checks/pages.py --binary target/release/sluice --only replay   only pages whose name contains `replay`
    checks/pages.py --binary target/release/sluice --pictures DIR  also a picture of each page

The rules, of every page, width and paper:

- no script throws, also while plots are zoomed by keyboard and pointer, lines hidden, tables opened, and the search used;
- the page is not wider than its window, and loads nothing from a network or a file;
- the data is in it: words that its command prints;
- every drawing has a table behind it, and the tables of plots have as many rows as their data has points;
- text and its background have the contrast of WCAG AA: 4.5, or 3 for large text.

Installs nothing. Without Chromium the tool says how to get it and ends with exit code 2. Needs Python 3.8 or newer.
"""

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTHS = [400, 1400, 2500]
PAPERS = {"light": 1, "dark": 0}
NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
GET = """install it with `apt-get install chromium`, `dnf install chromium` or `brew install --cask chromium`,
or name the browser with --chromium"""
TIMEOUT_SECONDS = 300

# Makes the capture of `replay-lossless`.
LOSSLESS = "gen udp --packets 2k --size 1024 --dscp 3 --dst 10.9.9.9/32 --rate 100G -o lossless.pcapng".split()

CONTEST = """name = "two leaves"
topology = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns"
port_speed = "100G"
seeds = 2
expect = ["ecmp.dropped == 0"]
[workload]
sizes = "ali-storage"
load = 20
time = "100us"
warm_up = "10us"
[hosts]
cable = "500ns"
recovery = "go-back-n"
[metrics]
sample = "5us"
[[program]]
name = "ecmp"
[[program]]
name = "letflow"
"""

# A star of four hosts with a config as HPCC's simulator has them.
NS3 = {
    "ns3.txt": """TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
CC_MODE 1
EWMA_GAIN 0.00390625
RATE_HAI 100Mb/s
RATE_AI 50Mb/s
KMAX_MAP 1 100000000000 1600
KMIN_MAP 1 100000000000 400
PMAX_MAP 1 100000000000 0.2
BUFFER_SIZE 1
QLEN_MON_FILE qlen.txt
QLEN_MON_START 2000000000
QLEN_MON_END 2010000000
""",
    "topology.txt": "5 1 4\n0\n" + "".join(f"0 {host} 100Gbps 0.001ms 0\n" for host in range(1, 5)),
    "flow.txt": "3\n" + "".join(f"{host} 1 3 100 300000 2.0001\n" for host in range(2, 5)),
}

# Name of the page, arguments before --html, and words that must be on it.
PAGES = [
    ("report", ["report", "l3-ecmp"], ["Units per stage", "ipv6_route", "cycles", "if (vlan.isValid()"]),
    ("report-large", ["report", "conweave"], ["Why it is in this stage", "reply_timer"]),
    ("report-compare", ["report", "l3-ecmp", "--compare", "ecmp"], ["SRAM", "wire to wire, ns"]),
    ("replay", ["replay", "l3-ecmp"], ["Where packets went", "acl_deny", "ipv4_route"]),
    ("replay-buffer", ["replay", "pfc", "--buffer", "chip"], ["Buffer over time", "Fullest queues", "it may not send"]),
    ("replay-lossless",
     "replay l3-ecmp -i 0@lossless.pcapng -i 1@lossless.pcapng --buffer th --port-speed 100G --obey-pfc".split(),
     ["Fullest priority groups", "xoff: it pauses its senders", "Senders that obey PFC"]),
    ("replay-network",
     "replay conweave --topology two-tor --story 10.0.0.1:49152-10.0.1.1".split(),
     ["Switches", "Life of a flow", "leaf0"]),
    ("fuzz", ["fuzz", "ecmp", "--cases", "8", "--mutants", "12"], ["parser_states", "program ecmp;", "Mutants"]),
    ("run-scenarios", ["run", "--filter", "8.1", "--filter", "8.8"], ["Every assertion", "8.1"]),
    ("run-contest", ["run", "@contest.toml"], ["Programs compared", "letflow", "ecmp.dropped == 0"]),
    ("run-ns3", ["run", "@ns3.txt"], ["Slowdown by size", "0b000201"]),
]

HARNESS = """<!DOCTYPE html><meta charset="utf-8"><body><pre id="results"></pre><script>
const frames = FRAMES;
addEventListener("message", event => {
  const frame = [...document.querySelectorAll("iframe")].find(frame => frame.contentWindow === event.source);
  const plain = event.data.replace(/[<>&]/g, c => "\\\\u00" + c.charCodeAt(0).toString(16));
  document.querySelector("#results").textContent += frame.width + " " + plain + "\\n";
});
for (const [page, width] of frames) {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 1200; frame.src = page;
  document.body.append(frame);
}
</script>"""


def chromium(binary, arguments):
    """Runs Chromium with a profile of its own, and returns what it prints."""
    with tempfile.TemporaryDirectory() as profile:
        command = [binary, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
        command += ["--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]
        command.append(f"--user-data-dir={profile}")
        done = subprocess.run(command + arguments, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        return done.stdout


def make(binary, name, arguments, folder):
    """Makes a page and returns its path; the arguments name files of this tool with `@`."""
    files = {"@" + file: os.path.join(folder, file) for file in ["contest.toml", "ns3.txt"]}
    page = os.path.join(folder, name + ".html")
    words = [files.get(word, word) for word in arguments] + ["--html", page]
    done = subprocess.run([binary] + words, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    if done.returncode not in (0, 1) or not os.path.exists(page):
        raise SystemExit(f"{name}: sluice {' '.join(words)}\n{done.stderr}")
    return page


def look(browser, page, folder):
    """Returns what the probe says of a page, by paper and width."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(ROOT, "checks", "pages.js"), encoding="utf-8") as file:
        probe = file.read()
    probed = os.path.join(folder, "probed.html")
    with open(probed, "w", encoding="utf-8") as file:
        file.write(text.replace("<head>", f"<head><script>{probe}</script>", 1))
    harness = os.path.join(folder, "harness.html")
    with open(harness, "w", encoding="utf-8") as file:
        file.write(HARNESS.replace("FRAMES", json.dumps([["probed.html", width] for width in WIDTHS])))
    found = {}
    for paper, number in PAPERS.items():
        arguments = [f"--blink-settings=preferredColorScheme={number}", "--window-size=2600,1300"]
        arguments.append("--virtual-time-budget=60000")
        dom = chromium(browser, arguments + ["--dump-dom", "file://" + harness])
        results = re.search(r'<pre id="results">(.*?)</pre>', dom, re.S)
        for line in html.unescape(results.group(1) if results else "").splitlines():
            width, _, probe = line.partition(" ")
            found[paper, int(width)] = json.loads(probe)
    return found


def faults(found, words):
    """Returns what is wrong with a page."""
    list_of = []
    for paper in PAPERS:
        for width in WIDTHS:
            at = f"{width} px, {paper}"
            probe = found.get((paper, width))
            if probe is None:
                list_of.append(f"{at}: the page says nothing")
                continue
            list_of += [f"{at}: {error}" for error in probe["errors"]]
            if probe["overflow"] > 0:
                list_of.append(f"{at}: {probe['overflow']} px wider than the window: {probe.get('wide')}")
            if probe["loads"]:
                list_of.append(f"{at}: loads {probe['loads']}")
            for rows, points in probe["tables"]:
                if rows != points:
                    list_of.append(f"{at}: a plot of {points} points has a table of {rows} rows")
            if probe["bare"]:
                list_of.append(f"{at}: {probe['bare']} drawings have no table")
            list_of += [f"{at}: contrast {pair}" for pair in probe["contrast"]]
            list_of += [f"{at}: `{word}` is not on the page" for word in words if word not in probe["text"]]
    return list_of


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True, help="the sluice binary")
    parser.add_argument("--only", default="", help="only pages whose name contains this")
    parser.add_argument("--chromium", help="the browser [default: the first of %s]" % ", ".join(NAMES))
    parser.add_argument("--pictures", help="folder for pictures of the pages")
    args = parser.parse_args()
    browser = args.chromium or next(filter(None, map(shutil.which, NAMES)), None)
    if not browser:
        print(f"checks/pages.py: there is no Chromium; {GET}", file=sys.stderr)
        return 2
    binary, failed = os.path.abspath(args.binary), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"contest.toml": CONTEST, **NS3}.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run([binary] + LOSSLESS, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        for name, arguments, words in PAGES:
            if args.only not in name:
                continue
            page = make(binary, name, arguments, folder)
            found = look(browser, page, folder)
            wrong = faults(found, words)
            failed += bool(wrong)
            plots = max((probe["plots"] for probe in found.values()), default=0)
            print(f"{'FAIL' if wrong else 'ok':4} {name}: {os.path.getsize(page)} bytes, {plots} plots", flush=True)
            for fault in wrong:
                print(f"     {fault}")
            if args.pictures:
                pictures(browser, name, page, os.path.abspath(args.pictures))
    return 1 if failed else 0


def pictures(browser, name, page, folder):
    """Writes a picture of a page for each width and paper."""
    os.makedirs(folder, exist_ok=True)
    for paper, number in PAPERS.items():
        for width in WIDTHS:
            to = os.path.join(folder, f"{name}-{width}-{paper}.png")
            size = f"--window-size={width},{max(1500, width)}"
            chromium(browser, [f"--blink-settings=preferredColorScheme={number}", size, f"--screenshot={to}", "file://" + page])


if __name__ == "__main__":
    sys.exit(main())
