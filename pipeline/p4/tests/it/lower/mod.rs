//! Lowering: snippets to the text form of the program, and messages on what has no home there.

mod corpus;
