//! The macros that make a stage program read like P4.
//!
//! What lives here: `#[stage_program]`, two syntactic rewrites of an ordinary Rust function, and the derives
//! for structs of field handles and of parameters. What may not: knowledge of types, widths or chips. The
//! macros rewrite tokens, keep every token's place in the source, and leave all checks to rustc and to
//! `sluice_build`, whose documentation explains what the rewritten code means.

mod data_plane;
mod doc;
mod header;
mod params;
mod program;

use proc_macro::TokenStream;

/// Makes a function that declares a stage program read like P4.
///
/// The first parameter is the root, usually `ig: &GressBuilder<'_>`. Two rewrites, and nothing else:
///
/// 1. A closure passed directly to a method of the root is data-plane code. In it `x = y`, `x += y`, `==`,
///    `<`, `&&`, `||`, `!`, `if`, `match` and calls such as `table.apply();` describe what happens to a
///    packet; `for` stays Rust and is unrolled while the program is built. Every parameter after the first,
///    as in `|a, port: Arg<9>|`, is a run-time parameter of the action.
/// 2. `/// doc` and `let x = root.thing(..)` become `let x = root.named("x", "doc").thing(..)`, so that
///    names and documentation reach reports without being written twice.
#[proc_macro_attribute]
pub fn stage_program(_: TokenStream, item: TokenStream) -> TokenStream {
    program::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares a struct of field handles (`ttl: Bits<8>`) as a header or as metadata.
///
/// Implements `Fields`, `Clone` and `Copy`. Field names and doc comments go into the program.
#[proc_macro_derive(Header)]
pub fn header(input: TokenStream) -> TokenStream {
    header::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the parameters of a program: every field is a key of `--set key=value`.
///
/// Field types implement `FromStr` and `Display`. The doc comment is the help text: say meaning and unit.
/// `#[param(range = 1..=64)]` limits a number, `#[param(expects = "crc_16 or crc_32")]` says in words what a
/// type of your own accepts.
#[proc_macro_derive(Params, attributes(param))]
pub fn params(input: TokenStream) -> TokenStream {
    params::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
