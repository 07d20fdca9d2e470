"use strict";
// Runs in a page before its own scripts, for pages.py: notes errors; once the page is loaded, works it, measures it, and
// sends what it found to the window around it.
const probe = { errors: [] };
addEventListener("error", event => probe.errors.push(String(event.message)), true);
addEventListener("unhandledrejection", event => probe.errors.push(String(event.reason)));
addEventListener("load", () => setTimeout(() => {
  const root = document.documentElement;
  const isWide = e => !e.parentElement.closest(".wide, pre") && !e.closest(".pop, .skip")
    && e.getBoundingClientRect().right > root.clientWidth + 1;
  const wide = () => [...document.querySelectorAll("body *")].filter(isWide).slice(0, 3)
    .map(e => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 40));
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
    const box = svg.getBoundingClientRect();
    const at = share => ({ clientX: box.left + share * box.width, clientY: box.top + 9, bubbles: true, cancelable: true });
    svg.dispatchEvent(new MouseEvent("mousedown", at(0.3)));
    window.dispatchEvent(new MouseEvent("mouseup", at(0.6)));
    if (!/double click/.test(figure.querySelector(".read").textContent)) {
      probe.errors.push("a plot does not zoom: " + svg.getAttribute("aria-label"));
    }
    svg.dispatchEvent(new MouseEvent("dblclick", at(0.5)));
    // The greatest and the least value are those of the data, exactly.
    const off = new Set([...figure.querySelectorAll(".key.off")].map(k => +k.dataset.line));
    const values = data.lines.flatMap((line, n) => line.s === 4 || off.has(n) ? [] : line.y);
    const said = figure.querySelector(".read").textContent, short = v => String(+v.toPrecision(9));
    const most = short(values.reduce((a, b) => Math.max(a, b), -Infinity));
    const least = short(values.reduce((a, b) => Math.min(a, b), Infinity));
    if (!said.startsWith(`greatest ${most} `) || !said.includes(`least ${least} `)) {
      probe.errors.push(`not ${most} and ${least}: ${said}`);
    }
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
    if (ratio >= (large ? 3 : 4.5) - 0.01) continue;
    const where = `${element.tagName}.${element.getAttribute("class")} "${element.textContent.trim().slice(0, 30)}"`;
    seen.set(`${ink.map(Math.round)} on ${back.map(Math.round)}`, `${ratio.toFixed(2)}: ${where}`);
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
