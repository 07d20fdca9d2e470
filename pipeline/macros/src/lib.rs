//! The two syntactic rewrites that make a stage program read like P4. (being written)
