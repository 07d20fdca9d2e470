//! Protocol-buffer messages in text form.

use std::fmt::{Display, Write};

/// A text under construction.
#[derive(Debug, Default)]
pub(super) struct Text {
    out: String,
    indent: usize,
}

impl Text {
    /// Begins a message, which lasts until [`Text::close`].
    pub(super) fn open(&mut self, name: &str) {
        self.line(format_args!("{name} {{"));
        self.indent += 1;
    }

    /// Ends the message that was begun last.
    pub(super) fn close(&mut self) {
        self.indent = self.indent.saturating_sub(1);
        self.line(format_args!("}}"));
    }

    /// Adds a message of simple fields.
    pub(super) fn message(&mut self, name: &str, body: impl FnOnce(&mut Text)) {
        self.open(name);
        body(self);
        self.close();
    }

    /// Adds a number, a truth value or a member of an enumeration.
    pub(super) fn field(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("{name}: {value}"));
    }

    /// Adds a string.
    pub(super) fn string(&mut self, name: &str, value: &str) {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        self.line(format_args!("{name}: \"{escaped}\""));
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = 2 * self.indent);
    }

    /// Returns the whole text.
    pub(super) fn finish(self) -> String {
        self.out
    }
}
