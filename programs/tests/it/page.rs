//! Pages of the handbook that contain a part made by a test.

/// Returns the text of a page with `part` between the marks `<!-- made: NAME -->` and `<!-- end -->`.
pub(crate) fn with_part(page: &str, name: &str, part: &str) -> String {
    let [before, _, after] = split(page, name);
    format!("{before}{part}{after}")
}

/// Returns the text before a made part, the part, and the text after it.
fn split<'p>(page: &'p str, name: &str) -> [&'p str; 3] {
    let (begin, end) = (format!("<!-- made: {name} -->\n"), "<!-- end -->");
    let at = page.find(&begin).unwrap() + begin.len();
    let len = page[at..].find(end).unwrap();
    [&page[..at], &page[at..at + len], &page[at + len..]]
}
