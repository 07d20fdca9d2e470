#!/usr/bin/env python3
"""Opens the pages of `--html` in a headless Chromium, at widths of 400, 1400 and 2500 pixels, on light and on dark paper.

    cargo build --release -p sluice
    checks/pages.py --binary target/release/sluice                 exit code 1 if a page breaks a rule
    checks/pages.py --binary target/release/sluice --only replay   only pages whose name contains `replay`
    checks/pages.py --binary target/release/sluice --pictures DIR  also a picture of each page

The rules, of every page, width and paper:

- no script throws, also while plots are zoomed by keyboard and pointer, lines are hidden, tables opened, and the search is used;
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
GET = "install it with `apt-get install chromium`, `dnf install chromium` or `brew install --cask chromium`, or name it with --chromium"
TIMEOUT_SECONDS = 300

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

# Name of the page, arguments before --html, and words that must be on it.
PAGES = [
    ("report", ["report", "l3-ecmp"], ["Units per stage", "ipv6_route", "cycles", "if (vlan.isValid()"]),
    ("report-large", ["report", "conweave"], ["Why it is in this stage", "reply_timer"]),
    ("report-compare", ["report", "l3-ecmp", "--compare", "ecmp"], ["SRAM", "wire to wire, ns"]),
    ("replay", ["replay", "l3-ecmp"], ["Where packets went", "acl_deny", "ipv4_route"]),
    ("replay-buffer", ["replay", "pfc", "--buffer", "chip"], ["Buffer over time", "Fullest queues", "it may not send"]),
    ("replay-network", ["replay", "conweave", "--topology", "two-tor", "--story", "10.0.0.1:49152-10.0.1.1"], ["Switches", "Life of a flow", "leaf0"]),
    ("fuzz", ["fuzz", "ecmp", "--cases", "8", "--mutants", "12"], ["parser_states", "program ecmp;", "Mutants"]),
    ("run-scenarios", ["run", "--filter", "8.1", "--filter", "8.8"], ["Every assertion", "8.1"]),
    ("run-contest", ["run", "@contest.toml"], ["Programs compared", "letflow", "ecmp.dropped == 0"]),
]

# Runs in each page, before its own scripts: notes errors; once the page is loaded, works it and measures it.
PROBE = r"""
<script>
"use strict";
const probe = { errors: [] };
addEventListener("error", event => probe.errors.push(String(event.message)), true);
addEventListener("unhandledrejection", event => probe.errors.push(String(event.reason)));
addEventListener("load", () => setTimeout(() => {
  const root = document.documentElement;
  const wide = () => [...document.querySelectorAll("body *")].filter(e => !e.parentElement.closest(".wide, pre") && !e.closest(".pop, .skip") && e.getBoundingClientRect().right > root.clientWidth + 1)
    .slice(0, 3).map(e => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 40));
  probe.overflow = root.scrollWidth - root.clientWidth;
  if (probe.overflow > 0) probe.wide = wide();
  probe.loads = performance.getEntriesByType("resource").map(entry => entry.name);
  const key = (svg, name) => svg.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  let plots = 0;
  probe.tables = [];
  for (const figure of document.querySelectorAll("figure.plot")) {
    plots++;
    const svg = figure.querySelector("div > svg"), data = JSON.parse(figure.querySelector("script").textContent);
    const points = data.lines.reduce((sum, line) => sum + line.x.length, 0) + data.h.length;
    if (!points) continue;
    for (const name of ["+", "ArrowRight", "ArrowLeft", "-", "+", "0"]) key(svg, name);
    const box = svg.getBoundingClientRect(), at = share => ({ clientX: box.left + share * box.width, clientY: box.top + 9, bubbles: true, cancelable: true });
    svg.dispatchEvent(new MouseEvent("mousedown", at(0.3)));
    window.dispatchEvent(new MouseEvent("mouseup", at(0.6)));
    if (!/double click/.test(figure.querySelector(".read").textContent)) probe.errors.push("a plot does not zoom: " + svg.getAttribute("aria-label"));
    svg.dispatchEvent(new MouseEvent("dblclick", at(0.5)));
    // The greatest and the least value are those of the data, exactly.
    const off = new Set([...figure.querySelectorAll(".key.off")].map(k => +k.dataset.line));
    const values = data.lines.flatMap((line, n) => line.s === 4 || off.has(n) ? [] : line.y);
    const said = figure.querySelector(".read").textContent, short = v => String(+v.toPrecision(9));
    const most = short(values.reduce((a, b) => Math.max(a, b), -Infinity)), least = short(values.reduce((a, b) => Math.min(a, b), Infinity));
    if (!said.startsWith("greatest " + most + " ") || !said.includes("least " + least + " ")) probe.errors.push(`not ${most} and ${least}: ${said}`);
    for (const entry of figure.querySelectorAll(".legend .key")) { entry.click(); entry.click(); }
    figure.querySelector("details.data").open = true;
    figure.querySelector("details.data").dispatchEvent(new Event("toggle"));
    probe.tables.push([figure.querySelectorAll("details.data tr").length - 1, points]);
  }
  probe.plots = plots;
  probe.bare = [...document.querySelectorAll("main section svg[role=img]")]
    .filter(svg => !svg.closest("table, figure.plot") && !svg.closest("section").querySelector("table, pre")).length;
  // Contrast of every element with a text of its own.
  const channel = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = text => { const n = text.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, below) => [0, 1, 2].map(n => top[n] * top[3] + below[n] * (1 - top[3]));
  const paper = element => {
    const above = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) above.push(colour);
      if (colour[3] === 1) break;
    }
    return above.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const seen = new Map();
  for (const element of document.querySelectorAll("body *")) {
    const isDrawn = element.closest("svg");
    if (element.closest("script, style, .pop, .skip, .hidden") || (isDrawn && element.tagName !== "text")) continue;
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    const style = getComputedStyle(element);
    if (isDrawn && element.parentElement.querySelector(":scope > rect")) continue;
    const back = paper(element), ink = over(parse(isDrawn ? style.fill : style.color), back);
    const [a, b] = [light(ink), light(back)], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && +style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.01) seen.set(`${ink.map(Math.round)} on ${back.map(Math.round)}`, `${ratio.toFixed(2)}: ${element.tagName}.${element.className.baseVal ?? element.className} "${element.textContent.trim().slice(0, 30)}"`);
  }
  probe.contrast = [...seen].map(([colours, where]) => colours + ", " + where);
  probe.text = document.querySelector("main").textContent;
  const input = document.querySelector("nav.contents input");
  if (!input) probe.errors.push("there is no search");
  else {
    input.value = document.querySelector("tbody tr td, tbody tr th").textContent.trim().split(/\s+/)[0];
    input.dispatchEvent(new Event("input"));
    const found = document.querySelectorAll(".found").length;
    if (!found) probe.errors.push("the search does not find " + input.value);
    input.value = "";
    input.dispatchEvent(new Event("input"));
    if (document.querySelector(".found, .hidden")) probe.errors.push("an empty search leaves marks");
  }
  parent.postMessage(JSON.stringify(probe), "*");
}, 50));
</script>
"""

HARNESS = """<!DOCTYPE html><meta charset="utf-8"><body><pre id="results"></pre><script>
const frames = FRAMES;
addEventListener("message", event => {
  const frame = [...document.querySelectorAll("iframe")].find(frame => frame.contentWindow === event.source);
  document.querySelector("#results").textContent += frame.width + " " + event.data.replace(/[<>&]/g, c => "\\\\u00" + c.charCodeAt(0).toString(16)) + "\\n";
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
        command += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}", "--hide-scrollbars"]
        done = subprocess.run(command + arguments, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        return done.stdout


def make(binary, name, arguments, folder):
    """Makes a page and returns its path; the arguments name files of this tool with `@`."""
    files = {"@contest.toml": os.path.join(folder, "contest.toml")}
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
    probed = os.path.join(folder, "probed.html")
    with open(probed, "w", encoding="utf-8") as file:
        file.write(text.replace("<head>", "<head>" + PROBE, 1))
    harness = os.path.join(folder, "harness.html")
    with open(harness, "w", encoding="utf-8") as file:
        file.write(HARNESS.replace("FRAMES", json.dumps([["probed.html", width] for width in WIDTHS])))
    found = {}
    for paper, number in PAPERS.items():
        arguments = [f"--blink-settings=preferredColorScheme={number}", "--window-size=2600,1300", "--virtual-time-budget=60000"]
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
            list_of += [f"{at}: a plot of {points} points has a table of {rows} rows" for rows, points in probe["tables"] if rows != points]
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
        with open(os.path.join(folder, "contest.toml"), "w", encoding="utf-8") as file:
            file.write(CONTEST)
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
