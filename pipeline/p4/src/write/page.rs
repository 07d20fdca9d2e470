//! The text under construction: indented lines, blocks, comments, wrapped lists.

/// The length up to which lines are filled.
const WIDTH: usize = 100;
/// Spaces per level.
const INDENT: usize = 4;

/// Lines of P4.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
    depth: usize,
}

impl Page {
    /// Adds a line.
    pub(super) fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(&" ".repeat(self.depth * INDENT));
            self.text.push_str(text);
        }
        self.text.push('\n');
    }

    /// Adds a line that opens a block.
    pub(super) fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.depth += 1;
    }

    /// Adds a line that opens a block; a long one is broken after `&&`, `||` and commas.
    pub(super) fn open_filled(&mut self, text: &str) {
        if self.depth * INDENT + text.chars().count() + 2 <= WIDTH {
            return self.open(text);
        }
        let mut words: Vec<String> = vec![String::new()];
        for word in text.split(' ') {
            if let Some(last) = words.last_mut() {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(word);
            }
            if word.ends_with(',') || matches!(word, "&&" | "||") {
                words.push(String::new());
            }
        }
        let room = WIDTH.saturating_sub(self.depth * INDENT + INDENT + 2).max(40);
        let lines = filled(words.iter().map(String::as_str), " ", room);
        let last = lines.len().saturating_sub(1);
        for (n, line) in lines.iter().enumerate() {
            let indent = if n == 0 { "" } else { "        " };
            let brace = if n == last { " {" } else { "" };
            self.line(&format!("{indent}{line}{brace}"));
        }
        self.depth += 1;
    }

    /// Adds an empty line before a declaration with documentation.
    pub(super) fn gap_for(&mut self, doc: &str) {
        if !doc.is_empty() || !self.text.ends_with(";\n") {
            self.gap();
        }
    }

    /// Closes the innermost block, with `after` behind the brace.
    pub(super) fn close(&mut self, after: &str) {
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
        self.depth = self.depth.saturating_sub(1);
        self.line(&format!("}}{after}"));
    }

    /// Closes a block and opens the next of a chain, such as `} else {`.
    pub(super) fn turn(&mut self, text: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.open_filled(&format!("}} {text}"));
    }

    /// Adds an empty line, unless there is one or a block begins here.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") && !self.text.ends_with("{\n") {
            self.text.push('\n');
        }
    }

    /// Adds a comment in as many lines as it takes; nothing for an empty text.
    pub(super) fn comment(&mut self, text: &str) {
        let room = WIDTH.saturating_sub(self.depth * INDENT + 3).max(40);
        for paragraph in text.lines() {
            for line in filled(paragraph.split_whitespace(), " ", room) {
                self.line(&format!("// {line}"));
            }
        }
    }

    /// Adds a line with a comment behind it, or above it if both do not fit one line.
    pub(super) fn noted(&mut self, text: &str, comment: &str) {
        let together = format!("{text} // {comment}");
        if comment.is_empty() {
            self.line(text);
        } else if self.depth * INDENT + together.chars().count() <= WIDTH && !comment.contains('\n') {
            self.line(&together);
        } else {
            self.comment(comment);
            self.line(text);
        }
    }

    /// Adds a list between two texts, on one line if it fits.
    pub(super) fn list(&mut self, before: &str, items: &[String], after: &str) {
        let one = format!("{before}{}{after}", items.join(", "));
        if self.depth * INDENT + one.chars().count() <= WIDTH {
            return self.line(&one);
        }
        self.line(before.trim_end());
        self.depth += 1;
        let room = WIDTH.saturating_sub(self.depth * INDENT).max(40);
        let lines = filled(items.iter().map(String::as_str), ", ", room - 1);
        let last = lines.len().saturating_sub(1);
        for (n, line) in lines.iter().enumerate() {
            self.line(&if n == last { line.clone() } else { format!("{line},") });
        }
        self.depth -= 1;
        self.line(after.trim_start());
    }

    /// Adds the lines of another page.
    pub(super) fn append(&mut self, other: &Page) {
        self.text.push_str(&other.text);
    }

    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Returns words in lines of at most `room` characters, if no word is longer.
fn filled<'w>(words: impl Iterator<Item = &'w str>, between: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + between.len() + word.chars().count() <= room => {
                line.push_str(between);
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_wrapped_and_blocks_indented() {
        let mut page = Page::default();
        page.open("apply");
        let items: Vec<String> = (0..40).map(|n| format!("field{n}")).collect();
        page.list("sum.add({ ", &items[..2], " });");
        page.list("sum.add({ ", &items, " });");
        page.gap();
        page.close("");
        let text = page.into_text();
        assert!(
            text.starts_with("apply {\n    sum.add({ field0, field1 });\n    sum.add({\n        field0, ")
        );
        assert!(text.ends_with("field39\n    });\n}\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn comments_stand_behind_a_line_if_they_fit() {
        let mut page = Page::default();
        page.noted("bit<8> ttl;", "Hops left");
        page.noted("bit<8> ttl;", &"long ".repeat(30));
        let text = page.into_text();
        assert!(text.starts_with("bit<8> ttl; // Hops left\n// long long"), "{text}");
        assert_eq!(text.lines().count(), 4);
    }
}
