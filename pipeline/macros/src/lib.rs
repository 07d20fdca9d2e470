//! Attribute and derive macros that make a stage program read like P4.
//!
//! `#[stage_program]` makes two syntactic rewrites of an ordinary Rust function. The derives are for structs
//! of field handles and of parameters. The macros rewrite tokens, keep every token's place in the source, and
//! know no types, widths or chips: rustc and `sluice_build` make all checks. The documentation of
//! `sluice_build` explains the meaning of the rewritten code.

mod data_plane;
mod doc;
mod header;
mod params;
mod program;
mod rows;

use proc_macro::TokenStream;

/// Makes a function that declares a stage program read like P4.
///
/// The first parameter is the root, usually `ig: &GressBuilder<'_>`. The attribute makes two rewrites:
///
/// 1. A closure passed directly to a method of the root is data-plane code. In it `x = y`, `x += y`, `==`,
///    `<`, `&&`, `||`, `!`, `if`, `match` and calls such as `table.apply();` describe operations on a packet.
///    `rows! { .. }` is a decision table. `for` stays Rust and is unrolled while the program is built. Every
///    parameter after the first, as in `|a, port: Arg<9>|`, is a run-time parameter of the action.
/// 2. `/// doc` and `let x = root.thing(..)` become `let x = root.named("x", "doc").thing(..)`, so that names
///    and documentation reach reports without being written twice.
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
/// `#[param(range = 1..=64)]` limits a number. `#[param(expects = "crc_16 or crc_32")]` describes the
/// accepted values of any other type. `#[param(flatten)]` includes the parameters of a struct.
#[proc_macro_derive(Params, attributes(param))]
pub fn params(input: TokenStream) -> TokenStream {
    params::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
