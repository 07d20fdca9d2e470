//! Tests of the interpreter by its public items.
