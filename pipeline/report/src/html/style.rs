//! Style of the page, on a screen and on paper.

/// The style sheet. A cell's heat is `--v`, from 0 to 1.
pub(super) const CSS: &str = r"
:root { --ink:#1b1f24; --soft:#667; --line:#d5d9e0; --hot:18,94,160; --in:#2b6cb0; --eg:#b7602b; --bad:#b02a37; }
* { box-sizing:border-box; }
body { font:14px/1.45 system-ui,sans-serif; color:var(--ink); margin:1.5rem auto; max-width:1500px; padding:0 1rem; }
h1 { font-size:1.5rem; margin:0; } h2 { font-size:1.1rem; margin:2rem 0 .5rem; }
.verdict { margin:.3rem 0; } .note { color:var(--soft); }
dl.params { display:grid; grid-template-columns:max-content 1fr; gap:0 1rem; font-family:ui-monospace,monospace; }
dl.params dd { margin:0; }
table { border-collapse:collapse; font-variant-numeric:tabular-nums; }
th,td { border:1px solid var(--line); padding:.15rem .4rem; text-align:right; white-space:nowrap; }
th { font-weight:600; background:#f4f6f9; } td.l,th.l { text-align:left; white-space:normal; }
table.heat { font-size:12px; } table.heat th,table.heat td { padding:.15rem .25rem; min-width:2.2rem; }
table.heat thead th { vertical-align:bottom; font-size:11px; } table.heat thead span { writing-mode:vertical-rl; transform:rotate(180deg); }
table.heat td { background:rgba(var(--hot),calc(var(--v)*.9)); position:relative; cursor:default; }
table.heat td.dark { color:#fff; } table.heat tr.sum td { font-weight:600; }
.pop { display:none; position:absolute; z-index:2; top:100%; right:0; background:#fff; color:var(--ink); text-align:left;
  border:1px solid var(--soft); padding:.3rem .5rem; font-weight:400; white-space:nowrap; box-shadow:0 2px 8px #0003; }
table.heat td:nth-child(-n+9) > .pop { right:auto; left:0; }
td:hover > .pop, td:focus > .pop, td:focus-within > .pop { display:block; }
section#tables table { font-size:12px; } section#tables th { white-space:normal; }
section#tables td:nth-last-child(2) { min-width:16rem; } section#tables td:last-child { min-width:8rem; overflow-wrap:anywhere; }
.bar { display:inline-block; height:.7em; background:var(--in); vertical-align:middle; }
svg { max-width:100%; height:auto; font:11px system-ui,sans-serif; }
svg .box { fill:#fff; stroke:#8893a4; } svg .ingress { fill:#e6effa; } svg .egress { fill:#fbeee3; }
svg .cond { stroke-dasharray:3 2; } svg path { fill:none; stroke:#8893a4; }
svg path.match { stroke:#2b6cb0; } svg path.action { stroke:#2f855a; } svg path.output { stroke:#b7602b; }
svg path.control,svg path.anti { stroke-dasharray:4 3; } svg path.critical { stroke:var(--bad); stroke-width:2.2; }
svg .grid { stroke:#e4e7ec; } svg .soft { fill:var(--soft); }
.legend span { margin-right:1.2em; } .legend i { display:inline-block; width:1.4em; height:.7em; margin-right:.35em; }
.phv { display:flex; flex-wrap:wrap; gap:2px; } .phv div { border:1px solid var(--line); padding:.1rem .3rem; font-size:12px; }
.phv .ingress { background:#e6effa; } .phv .egress { background:#fbeee3; } .phv b { font-family:ui-monospace,monospace; }
code { font-size:.95em; }
@media print { body { max-width:none; margin:0; font-size:9px; } .pop { display:none !important; } h2 { break-after:avoid; }
  section { break-inside:auto; } table { font-size:7px; } details { display:block; } * { -webkit-print-color-adjust:exact; print-color-adjust:exact; } }
";
