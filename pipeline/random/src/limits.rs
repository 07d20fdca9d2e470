//! Limits for the size of random programs, their entries and their packets.

/// Widths of header fields and metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Widths {
    /// Those of protocols: bytes, and bits that add up to a byte or two.
    Usual,
    /// Whole bytes, up to 16.
    Bytes,
    /// Any number of bits, in headers padded to whole bytes at the end; arithmetic at every width.
    Any,
}

/// Upper bounds of everything that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Numbers to draw from; the more, the larger the programs.
    pub choices: usize,
    /// Headers per gress that depend on a select, in addition to the first header.
    pub headers: usize,
    /// Fields per header in addition to the one that is selected on.
    pub header_fields: usize,
    /// Widths of fields.
    pub widths: Widths,
    /// Metadata fields per gress.
    pub metadata: usize,
    /// Statements of a control block.
    pub statements: usize,
    /// Nesting depth of conditions and of tables' outcomes.
    pub depth: usize,
    /// Primitives of an action.
    pub primitives: usize,
    /// Actions of a table.
    pub actions: usize,
    /// Key columns of a table.
    pub keys: usize,
    /// Entries that a table gets.
    pub entries: usize,
    /// Packets.
    pub frames: usize,
}

impl Default for Limits {
    /// Programs that mostly fit a chip and run in a millisecond.
    fn default() -> Self {
        Limits {
            choices: 700,
            headers: 3,
            header_fields: 4,
            widths: Widths::Usual,
            metadata: 6,
            statements: 4,
            depth: 2,
            primitives: 4,
            actions: 3,
            keys: 3,
            entries: 8,
            frames: 80,
        }
    }
}
