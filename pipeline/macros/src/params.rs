//! `#[derive(Params)]`.

use crate::doc;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Expr, Field, Fields, LitStr, Result, Type};

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => return Err(Error::new(input.ident.span(), "parameters are fields with names")),
        },
        _ => return Err(Error::new(input.ident.span(), "parameters are a struct")),
    };
    let name = &input.ident;
    let (mut infos, mut arms, mut nested) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let Some(ident) = &field.ident else { continue };
        let (key, meaning, limits) = (ident.to_string(), doc::text(&field.attrs), Limits::of(field)?);
        if limits.flatten {
            infos.push(quote! {
                list.extend(::sluice_build::params::Params::list(&self.#ident));
            });
            nested.push(quote_spanned! { field.ty.span()=>
                _ if ::sluice_build::params::knows(&self.#ident, key) => {
                    ::sluice_build::params::Params::set(&mut self.#ident, key, text)
                }
            });
            continue;
        }
        if meaning.is_empty() {
            return Err(Error::new(ident.span(), "a parameter needs a doc comment: meaning and unit"));
        }
        let expects = limits.text(&field.ty);
        let allowed = limits.check();
        infos.push(quote! {
            list.push(
                ::sluice_build::params::ParamInfo::of(#key, #meaning, #expects, &self.#ident),
            );
        });
        arms.push(quote_spanned! { field.ty.span()=>
            #key => ::sluice_build::params::assign(&mut self.#ident, key, text, #expects, #allowed)
        });
    }
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        impl #impl_generics ::sluice_build::params::Params for #name #type_generics #where_clause {
            fn list(&self) -> ::std::vec::Vec<::sluice_build::params::ParamInfo> {
                let mut list = ::std::vec::Vec::new();
                #(#infos)*
                list
            }
            fn set(
                &mut self,
                key: &str,
                text: &str,
            ) -> ::core::result::Result<(), ::sluice_build::params::ParamError> {
                match key {
                    #(#arms,)*
                    #(#nested)*
                    _ => ::core::result::Result::Err(
                        ::sluice_build::params::unknown(self, key),
                    ),
                }
            }
        }
    })
}

/// What `#[param(..)]` says.
#[derive(Default)]
struct Limits {
    range: Option<Expr>,
    expects: Option<String>,
    /// The field is a struct of parameters, which stand in its place.
    flatten: bool,
}

impl Limits {
    fn of(field: &Field) -> Result<Limits> {
        let mut limits = Limits::default();
        for attr in field.attrs.iter().filter(|a| a.path().is_ident("param")) {
            attr.parse_nested_meta(|meta| {
                if meta.path.is_ident("range") {
                    let range: Expr = meta.value()?.parse()?;
                    if !matches!(range, Expr::Range(_)) {
                        return Err(Error::new(range.span(), "a range such as `1..=64`"));
                    }
                    limits.range = Some(range);
                    Ok(())
                } else if meta.path.is_ident("expects") {
                    limits.expects = Some(meta.value()?.parse::<LitStr>()?.value());
                    Ok(())
                } else if meta.path.is_ident("flatten") {
                    limits.flatten = true;
                    Ok(())
                } else {
                    Err(meta.error("`#[param(..)]` knows `range`, `expects` and `flatten`"))
                }
            })?;
        }
        Ok(limits)
    }

    /// Type and range in words, an expression of type `&str`.
    fn text(&self, ty: &Type) -> TokenStream {
        if let Some(words) = &self.expects {
            return quote!(#words);
        }
        if let Some(range) = &self.range {
            let words = quote!(#range).to_string().replace(' ', "");
            return quote!(#words);
        }
        let name = quote!(#ty).to_string();
        let words = match name.as_str() {
            "u8" => "0..=255",
            "u16" => "0..=65535",
            "u32" => "0..=4294967295",
            "u64" => "0..=18446744073709551615",
            "bool" => "true or false",
            "String" => "text",
            other => other,
        };
        quote!(#words)
    }

    /// A closure that says whether a parsed value is allowed.
    fn check(&self) -> TokenStream {
        match &self.range {
            Some(range) => quote!(|value| (#range).contains(value)),
            None => quote!(|_| true),
        }
    }
}
