//! The frame of a page: one HTML file without network, for a screen and for paper, light and dark, with a list of contents
//! and a search.

use crate::palette::Colour;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style sheet of all pages. A heat map's cell has its share in `--v`, from 0 to 1.
const STYLE: &str = include_str!("style.css");

/// The script of all pages: search, and the places of notes.
const SCRIPT: &str = include_str!("page.js");

/// A page under construction: a heading, then sections.
///
/// Its style sheet has these classes: `l` for cells with text on the left; `missing` and `muted` for rows of a table; `verdict`
/// and `note` for paragraphs; `tag` with `pass` or `fail` for a verdict's word; `plots` for a group of plots; `wide` around a
/// table or a drawing that may be wider than the page; `code` for text of programs.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    style: &'static str,
    script: &'static str,
    header: Markup,
    /// Address, title, content.
    sections: Vec<(String, String, Markup)>,
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

    /// Adds a script, which runs when the page is complete, after the page's own.
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
        self.sections.push((id.to_owned(), title.to_owned(), body.clone()));
        self
    }

    /// Adds a section if there is something to show.
    #[must_use]
    pub fn section_if(self, shown: bool, id: &str, title: &str, body: impl FnOnce() -> Markup) -> Page {
        if shown { self.section(id, title, &body()) } else { self }
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
                    style { (PreEscaped(STYLE)) (PreEscaped(Colour::dark_rules())) (PreEscaped(self.style)) }
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    div.frame {
                        (self.contents())
                        main #content {
                            header { h1 { (self.title) } (self.header) }
                            @for (id, title, body) in &self.sections { section id=(id) { h2 { (title) } (body) } }
                        }
                    }
                    script { (PreEscaped(SCRIPT)) (PreEscaped(self.script)) }
                }
            }
        };
        page.into_string()
    }

    /// Returns the list of contents; the script adds the search to it.
    fn contents(&self) -> Markup {
        html! {
            nav.contents aria-label="Contents" {
                ol {
                    @for (id, title, _) in &self.sections {
                        li { a href=(format!("#{id}")) { (title) } small {} }
                    }
                }
            }
        }
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
            html.contains("<title>a &lt; b</title>")
                && html.contains("<h1>a &lt; b</h1><p>text</p></header>"),
            "{html}"
        );
        assert!(html.contains("<section id=\"one\"><h2>First</h2><b>body</b></section>"), "{html}");
        assert!(html.contains("<li><a href=\"#one\">First</a>"), "{html}");
        assert!(html.contains(".x { color:red; }"), "{html}");
        for loaded in ["http", "src=", "@import", "<link"] {
            assert!(!html.contains(loaded), "{loaded} in {html}");
        }
    }

    #[test]
    fn sections_that_have_nothing_to_show_are_left_out() {
        let page = Page::new("x").section_if(false, "left-out", "A", || unreachable!()).section_if(
            true,
            "b",
            "B",
            || {
                html! { "shown" }
            },
        );
        assert!(
            page.html().contains("<section id=\"b\"><h2>B</h2>shown</section>")
                && !page.html().contains("left-out")
        );
    }
}
