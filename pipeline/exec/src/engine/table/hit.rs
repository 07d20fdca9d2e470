//! Result of a lookup, as generated code reads it.

/// Result of a table lookup.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    /// True if an entry matched.
    pub hit: bool,
    /// Index of the action in the table's actions.
    pub action: u32,
    /// Index of the entry; `u32::MAX` on a miss.
    pub entry: u32,
    args: &'a [u32],
}

impl<'a> Hit<'a> {
    pub(super) fn new(hit: bool, (action, entry): (u32, u32), args: &'a [u32]) -> Hit<'a> {
        Hit { hit, action, entry, args }
    }

    /// Returns the argument words of the action.
    #[inline(always)]
    #[must_use]
    pub fn args<const K: usize>(&self) -> &'a [u32; K] {
        self.args.first_chunk().unwrap_or(const { &[0; K] })
    }
}
