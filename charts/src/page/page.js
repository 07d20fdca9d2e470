"use strict";
// Search, and places of the notes that cells open. A page is complete without it.
{
  const nav = document.querySelector("nav.contents");
  const sections = [...document.querySelectorAll("main section")];
  // Rows of a table are found one by one; of other parts, lists and paragraphs.
  const parts = section => [...section.querySelectorAll("tbody tr, li, dd, pre, p:not(.legend):not(.read), svg title")];
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search (press /)";
  input.setAttribute("aria-label", "Search this page");
  const said = document.createElement("small");
  said.setAttribute("role", "status");
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let all = 0, first = null;
    for (const section of sections) {
      let count = 0;
      for (const part of parts(section)) {
        const text = part.textContent.toLowerCase(), isRow = part.tagName === "TR";
        const found = words.length > 0 && words.every(word => text.includes(word));
        if (part.tagName !== "title") part.classList.toggle("found", found);
        if (isRow && !part.closest("table.heat")) part.classList.toggle("hidden", words.length > 0 && !found);
        if (!found) continue;
        count++;
        first ??= part;
        const around = "details:not(.data)";
        for (let at = part.closest(around); at; at = at.parentElement.closest(around)) at.open = true;
      }
      all += count;
      const link = nav.querySelector(`a[href="#${CSS.escape(section.id)}"]`);
      if (!link) continue;
      link.parentElement.classList.toggle("none", words.length > 0 && !count);
      link.nextElementSibling.textContent = words.length && count ? count : "";
    }
    said.textContent = words.length ? `${all} found` : "";
    return first;
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", event => {
    if (event.key === "Enter") search()?.scrollIntoView({ block: "center" });
    if (event.key === "Escape") { input.value = ""; search(); input.blur(); }
  });
  document.addEventListener("keydown", event => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
    if (event.key === "/" && !typing) { input.focus(); event.preventDefault(); }
  });
  nav.prepend(input, said);
  // A note opens beside its cell, inside the window.
  const place = event => {
    const cell = event.target.closest?.("td"), note = cell?.querySelector(":scope > .pop");
    if (!note) return;
    const box = cell.getBoundingClientRect(), size = note.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, innerWidth - size.width - 8));
    const below = box.bottom + 2, top = below + size.height > innerHeight ? Math.max(8, box.top - size.height - 2) : below;
    Object.assign(note.style, { left: left + "px", top: top + "px", right: "auto", bottom: "auto" });
  };
  document.addEventListener("mouseover", place);
  document.addEventListener("focusin", place);
  // Everything is on paper that is not only a second form of a drawing.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.data)")];
    opened.forEach(part => { part.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach(part => { part.open = false; }));
}
