//! `#[derive(Header)]`.

use crate::doc;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result};

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "`#[derive(Header)]` needs a struct of `Bits<W>` fields"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(input.ident.span(), "`#[derive(Header)]` needs named fields"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(
            input.generics.span(),
            "a header has no generic parameters: its layout is fixed",
        ));
    }
    let (name, struct_doc) = (&input.ident, doc::text(&input.attrs));
    let declarations = fields.named.iter().filter_map(|field| {
        let (ident, ty, field_doc) = (field.ident.as_ref()?, &field.ty, doc::text(&field.attrs));
        let text = ident.to_string();
        Some(quote_spanned! { ty.span()=>
            #ident: <#ty as sluice_build::Handle>::declare(declarer, #text, #field_doc)
        })
    });
    Ok(quote! {
        impl ::core::clone::Clone for #name {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl ::core::marker::Copy for #name {}
        impl sluice_build::Fields for #name {
            const DOC: &'static str = #struct_doc;
            fn declare(declarer: &mut sluice_build::Declarer<'_>) -> Self {
                Self { #(#declarations),* }
            }
        }
    })
}
