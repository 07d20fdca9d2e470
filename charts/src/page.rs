//! The frame of a page: one HTML file without network, for a screen and for paper.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style sheet of all pages. A heat map's cell has its share in `--v`, from 0 to 1.
const STYLE: &str = r"
:root { --ink:#1b1f24; --soft:#667; --line:#d5d9e0; --hot:18,94,160; --bar:#2b6cb0; }
* { box-sizing:border-box; }
body { font:14px/1.45 system-ui,sans-serif; color:var(--ink); margin:1.5rem auto; max-width:1500px; padding:0 1rem; }
h1 { font-size:1.5rem; margin:0; } h2 { font-size:1.1rem; margin:2rem 0 .5rem; }
.verdict { margin:.3rem 0; } .note { color:var(--soft); }
table { border-collapse:collapse; font-variant-numeric:tabular-nums; }
th,td { border:1px solid var(--line); padding:.15rem .4rem; text-align:right; white-space:nowrap; }
th { font-weight:600; background:#f4f6f9; } td.l,th.l { text-align:left; white-space:normal; }
tr.missing td { background:#fdd; } tr.muted td { color:var(--soft); }
table.heat { font-size:12px; } table.heat th,table.heat td { padding:.15rem .25rem; min-width:2.2rem; }
table.heat thead th { vertical-align:bottom; font-size:11px; } table.heat thead span { writing-mode:vertical-rl; transform:rotate(180deg); }
table.heat td { background:rgba(var(--hot),calc(var(--v)*.9)); position:relative; cursor:default; }
table.heat td.dark { color:#fff; } table.heat tr.sum td { font-weight:600; }
.pop { display:none; position:absolute; z-index:2; top:100%; right:0; background:#fff; color:var(--ink); text-align:left;
  border:1px solid var(--soft); padding:.3rem .5rem; font-weight:400; white-space:nowrap; box-shadow:0 2px 8px #0003; }
table.heat td:nth-child(-n+9) > .pop { right:auto; left:0; }
td:hover > .pop, td:focus > .pop, td:focus-within > .pop { display:block; }
.bar { display:inline-block; height:.7em; background:var(--bar); vertical-align:middle; }
svg { max-width:100%; height:auto; }
.plots { display:grid; grid-template-columns:repeat(auto-fit,minmax(560px,1fr)); gap:0 1.5rem; } .wide { overflow-x:auto; }
figure.plot { margin:0 0 1.2rem; } figure.plot svg { background:#fff; cursor:crosshair; user-select:none; }
figure.plot svg svg { max-width:none; height:280px; } figcaption { font-weight:600; } .read { color:var(--soft); margin:.1rem 0; font-size:12px; } .legend .off { opacity:.35; }
.legend span { margin-right:1.2em; } .legend i { display:inline-block; width:1.4em; height:.7em; margin-right:.35em; }
code { font-size:.95em; }
@media print { body { max-width:none; margin:0; font-size:9px; } .pop { display:none !important; } h2 { break-after:avoid; }
  section { break-inside:auto; } table { font-size:7px; } details { display:block; } * { -webkit-print-color-adjust:exact; print-color-adjust:exact; } }
";

/// A page under construction: a heading, then sections.
///
/// Its style sheet has these classes: `l` for cells with text on the left; `missing` and `muted` for rows of a table; `verdict`
/// and `note` for paragraphs; `plots` for a group of plots, `wide` around a table that may be wider than the page.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    style: &'static str,
    script: &'static str,
    header: Markup,
    sections: Vec<Markup>,
}

impl Page {
    /// Returns a page without sections. `title` is its heading and the name of its window.
    #[must_use]
    pub fn new(title: &str) -> Page {
        Page { title: title.to_owned(), style: "", script: "", header: html! {}, sections: Vec::new() }
    }

    /// Adds rules to the style sheet.
    #[must_use]
    pub fn style(self, css: &'static str) -> Page {
        Page { style: css, ..self }
    }

    /// Adds a script, which runs when the page is complete.
    #[must_use]
    pub fn script(self, script: &'static str) -> Page {
        Page { script, ..self }
    }

    /// Sets the text below the heading.
    #[must_use]
    pub fn header(self, header: Markup) -> Page {
        Page { header, ..self }
    }

    /// Adds a section; `#id` is its address.
    #[must_use]
    pub fn section(mut self, id: &str, title: &str, body: &Markup) -> Page {
        self.sections.push(html! { section id=(id) { h2 { (title) } (body) } });
        self
    }

    /// Returns the page as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(self.style)) }
                }
                body {
                    header { h1 { (self.title) } (self.header) }
                    @for section in &self.sections { (section) }
                    @if !self.script.is_empty() { script { (PreEscaped(self.script)) } }
                }
            }
        };
        page.into_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_complete_and_loads_nothing() {
        let page = Page::new("a < b").style(".x { color:red; }").header(html! { p { "text" } });
        let html = page.section("one", "First", &html! { b { "body" } }).html();
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"), "{html}");
        assert!(
            html.contains("<title>a &lt; b</title>") && html.contains("<h1>a &lt; b</h1><p>text</p>"),
            "{html}"
        );
        assert!(html.contains("<section id=\"one\"><h2>First</h2><b>body</b></section>"), "{html}");
        assert!(
            html.contains(".x { color:red; }") && !html.contains("http") && !html.contains("<script"),
            "{html}"
        );
    }
}
