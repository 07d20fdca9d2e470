"use strict";
// Zooms the plots of a page, and lists their points. The geometry is that of plot/mod.rs.
for (const figure of document.querySelectorAll("figure.plot")) {
  const W = 860, H = 320, L = 70, R = 14, T = 10, B = 38;
  const MARKED = 2, DOTS = 3, LIMIT = 4;
  const data = JSON.parse(figure.querySelector("script").textContent);
  const svg = figure.querySelector("div > svg"), ticks = svg.querySelector(".ticks"), read = figure.querySelector(".read");
  const shade = svg.querySelector(".shade"), inner = svg.querySelector("svg");
  const keys = [...figure.querySelectorAll(".legend .key")];
  const into = data.lx ? Math.log10 : v => v, back = data.lx ? v => 10 ** v : v => v;
  const hidden = new Set(keys.filter(key => key.classList.contains("off")).map(key => +key.dataset.line));
  const ends = data.lines.flatMap(line => line.x.length ? [line.x[0], line.x[line.x.length - 1]] : []).map(into);
  if (!ends.length) continue;
  // A line that the page does not draw at first has no group yet.
  const groups = data.lines.map((_, number) => {
    const drawn = svg.querySelector(`g[data-line="${number}"]`);
    if (drawn) return drawn;
    const group = document.createElementNS(svg.namespaceURI, "g");
    const key = keys[number].querySelector("[stroke]");
    for (const [name, value] of [["fill", "none"], ["stroke-width", "1.5"]]) group.setAttribute(name, value);
    for (const name of ["stroke", "stroke-dasharray"]) group.setAttribute(name, key.getAttribute(name));
    inner.append(group);
    return group;
  });
  const whole = [Math.min(...ends), Math.max(...ends)];
  if (whole[0] === whole[1]) whole[1] += 1;
  let part = whole.slice();

  const short = v => String(+v.toPrecision(9));
  const name = v => {
    const a = Math.abs(v);
    const [n, unit] = a >= 1e9 ? [v / 1e9, "G"] : a >= 1e6 ? [v / 1e6, "M"] : a >= 1e4 ? [v / 1e3, "k"] : [v, ""];
    return String(+n.toPrecision(7)) + unit;
  };
  const steps = (first, last) => {
    const rough = (last - first) / 6, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough) || power * 10;
    const list = [];
    for (let n = Math.ceil(first / step); n <= last / step + 1e-9; n++) list.push(n * step);
    return list;
  };
  const marks = () => {
    if (!data.lx || part[1] - part[0] < 0.7) return steps(back(part[0]), back(part[1]));
    const list = [], few = part[1] - part[0] < 2.5 ? [1, 2, 5] : [1];
    for (let e = Math.floor(part[0]); e <= part[1]; e++) list.push(...few.map(n => n * 10 ** e));
    return list.filter(v => into(v) >= part[0] - 1e-9 && into(v) <= part[1] + 1e-9);
  };
  // Indices of the points in the part.
  const within = line => {
    let from = 0, to = line.x.length;
    while (from < to && into(line.x[from]) < part[0]) from++;
    while (to > from && into(line.x[to - 1]) > part[1]) to--;
    return [from, to];
  };
  const isStep = line => line.s === 1 || line.s === LIMIT;
  const draw = () => {
    let high = 0, low = 0, most = null, least = null;
    data.lines.forEach((line, number) => {
      if (hidden.has(number)) return;
      const [from, to] = within(line);
      // The level at the beginning of the part is shown too.
      for (let n = isStep(line) && from > 0 ? from - 1 : from; n < to; n++) {
        const y = line.y[n], at = Math.max(line.x[n], back(part[0]));
        high = Math.max(high, y, line.b ? line.b[n] : y);
        low = Math.min(low, y);
        if (line.s === LIMIT) continue;
        if (!most || y > most[1]) most = [at, y, number];
        if (!least || y < least[1]) least = [at, y, number];
      }
    });
    high = high > low ? high * 1.05 : low + 1;
    const px = v => L + (into(v) - part[0]) / (part[1] - part[0]) * (W - R - L);
    const py = v => H - B - (v - low) / (high - low) * (H - B - T);
    const at = (x, y) => x.toFixed(1) + " " + y.toFixed(1);
    const clip = x => Math.min(Math.max(x, -4000), 4000 + W);
    groups.forEach((group, number) => {
      const line = data.lines[number], [from, to] = within(line);
      group.style.display = hidden.has(number) ? "none" : "";
      let d = "", bars = "", circles = "";
      for (let n = Math.max(0, from - 1); n < Math.min(line.x.length, to + 1); n++) {
        const x = clip(px(line.x[n])), y = py(line.y[n]);
        d += !d ? "M" + at(x, y) : isStep(line) ? "H" + x.toFixed(1) + "V" + y.toFixed(1) : "L" + at(x, y);
        if (n < from || n >= to) continue;
        if (line.a) bars += "M" + at(x, py(line.a[n])) + "V" + py(line.b[n]).toFixed(1);
        const place = `cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"`;
        if (line.s === DOTS) circles += `<circle ${place} r="4.5" stroke-width="2"/>`;
        if (line.s === MARKED) circles += `<circle ${place} r="3" fill="${group.getAttribute("stroke")}"/>`;
      }
      group.innerHTML = (line.s === DOTS ? "" : `<path d="${d}"/>`) + `<path d="${bars}" stroke-dasharray="none"/>` + circles;
    });
    shade.innerHTML = data.h.map(([from, to]) => {
      const x = clip(px(from)), width = Math.max(clip(px(to)) - x, 0.5);
      return `<rect x="${x.toFixed(1)}" y="${T}" width="${width.toFixed(1)}" height="${H - T - B}" fill="#fbdcd9"/>`;
    }).join("");
    ticks.innerHTML = marks().map(v => `<line x1="${px(v)}" x2="${px(v)}" y1="${T}" y2="${H - B}" stroke="#e4e7ec"/>` +
      `<text x="${px(v)}" y="${H - B + 15}" text-anchor="middle" fill="#616e7c">${name(v)}</text>`).join("") +
      steps(low, high).map(v => `<line x1="${L}" x2="${W - R}" y1="${py(v)}" y2="${py(v)}" stroke="#e4e7ec"/>` +
      `<text x="${L - 6}" y="${py(v) + 5}" text-anchor="end" fill="#616e7c">${name(v)}</text>`).join("");
    const say = (word, of) => of ? `${word} ${short(of[1])} (${data.lines[of[2]].n}) at ${short(of[0])}` : "";
    const zoomed = part[0] > whole[0] || part[1] < whole[1];
    const shown = `from ${short(back(part[0]))} to ${short(back(part[1]))}; double click or 0 shows all`;
    read.textContent = [say("greatest", most), say("least", least), zoomed ? shown : "drag, Ctrl + wheel or + zoom"]
      .filter(Boolean).join("; ");
  };
  const zoom = (a, b) => {
    const [from, to] = [Math.max(whole[0], Math.min(a, b)), Math.min(whole[1], Math.max(a, b))];
    if (to - from > (whole[1] - whole[0]) * 1e-6) { part = [from, to]; draw(); }
  };
  const about = (at, by) => zoom(at - (at - part[0]) * by, at + (part[1] - at) * by);
  const move = share => {
    const by = Math.min(Math.max(share * (part[1] - part[0]), whole[0] - part[0]), whole[1] - part[1]);
    zoom(part[0] + by, part[1] + by);
  };
  const value = event => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * W / box.width;
    return part[0] + Math.min(Math.max((x - L) / (W - R - L), 0), 1) * (part[1] - part[0]);
  };
  let begun = null;
  svg.addEventListener("mousedown", event => {
    begun = [value(event), event.clientX];
    svg.focus({ preventScroll: true });
    event.preventDefault();
  });
  window.addEventListener("mouseup", event => {
    if (begun && Math.abs(event.clientX - begun[1]) > 4) zoom(begun[0], value(event));
    begun = null;
  });
  const all = () => { part = whole.slice(); draw(); };
  svg.addEventListener("dblclick", all);
  // The wheel alone scrolls the page.
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    about(value(event), event.deltaY < 0 ? 0.8 : 1.25);
    event.preventDefault();
  }, { passive: false });
  const middle = () => (part[0] + part[1]) / 2;
  const closer = () => about(middle(), 0.5);
  const actions = {
    "+": closer, "=": closer, "-": () => about(middle(), 2), "0": all, "Escape": all,
    "ArrowLeft": () => move(-0.25), "ArrowRight": () => move(0.25),
  };
  svg.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  });
  for (const key of keys) {
    key.addEventListener("click", () => {
      const number = +key.dataset.line;
      if (!hidden.delete(number)) hidden.add(number);
      key.classList.toggle("off", hidden.has(number));
      key.setAttribute("aria-pressed", String(!hidden.has(number)));
      draw();
    });
  }
  const table = figure.querySelector("details.data");
  table.addEventListener("toggle", () => {
    const place = table.querySelector("div");
    if (!table.open || place.firstChild) return;
    const made = document.createElement("table"), bars = data.lines.some(line => line.a);
    const add = (tag, cells) => {
      const row = made.insertRow();
      cells.forEach((text, n) => {
        const cell = row.appendChild(document.createElement(tag));
        cell.textContent = text;
        if (n === 0) cell.className = "l";
      });
    };
    add("th", ["line", data.x, data.y, ...bars ? ["from", "to"] : []]);
    for (const line of data.lines) {
      line.x.forEach((x, n) => {
        const ends = line.a ? [short(line.a[n]), short(line.b[n])] : [];
        add("td", [line.n, short(x), short(line.y[n]), ...ends]);
      });
    }
    const shaded = figure.querySelector(".legend > span")?.textContent.trim();
    for (const [from, to] of data.h) add("td", [shaded, `${short(from)} to ${short(to)}`, ""]);
    place.append(made);
  });
  // For links to a part: #plot=NUMBER,FROM,TO
  const asked = /^#plot=(\d+),([^,]+),([^,]+)$/.exec(location.hash);
  const number = [...document.querySelectorAll("figure.plot")].indexOf(figure);
  draw();
  if (asked && +asked[1] === number) zoom(into(+asked[2]), into(+asked[3]));
}
