//! `#[derive(Params)]`.

use crate::doc;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Lit, LitStr, RangeLimits, Result, Type};

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => {
                return Err(Error::new(
                    input.ident.span(),
                    "`#[derive(Params)]` needs a struct with named fields",
                ));
            }
        },
        _ => return Err(Error::new(input.ident.span(), "`#[derive(Params)]` needs a struct")),
    };
    let name = &input.ident;
    let (mut infos, mut arms, mut nested) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let Some(ident) = &field.ident else { continue };
        let (key, meaning, limits) = (ident.to_string(), doc::text(&field.attrs), Limits::of(field)?);
        if limits.flatten {
            infos.push(quote! {
                list.extend(sluice_build::params::Params::list(&self.#ident));
            });
            nested.push(quote_spanned! { field.ty.span()=>
                _ if sluice_build::params::knows(&self.#ident, key) => {
                    sluice_build::params::Params::set(&mut self.#ident, key, text)
                }
            });
            continue;
        }
        if meaning.is_empty() {
            return Err(Error::new(
                ident.span(),
                "a parameter needs a doc comment with its meaning and unit",
            ));
        }
        let expects = limits.text(&field.ty);
        let allowed = limits.check();
        infos.push(quote! {
            list.push(
                sluice_build::params::ParamInfo::of(#key, #meaning, #expects, &self.#ident),
            );
        });
        arms.push(quote_spanned! { field.ty.span()=>
            #key => sluice_build::params::assign(&mut self.#ident, key, text, #expects, &#allowed)
        });
    }
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        impl #impl_generics sluice_build::params::Params for #name #type_generics #where_clause {
            fn list(&self) -> ::std::vec::Vec<sluice_build::params::ParamInfo> {
                let mut list = ::std::vec::Vec::new();
                #(#infos)*
                list
            }
            fn set(
                &mut self,
                key: &str,
                text: &str,
            ) -> ::core::result::Result<(), sluice_build::params::ParamError> {
                match key {
                    #(#arms,)*
                    #(#nested)*
                    _ => ::core::result::Result::Err(
                        sluice_build::params::unknown(self, key),
                    ),
                }
            }
        }
    })
}

/// Arguments of `#[param(..)]`.
#[derive(Default)]
struct Limits {
    range: Option<Expr>,
    expects: Option<String>,
    /// True if the field is a struct whose parameters replace it.
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
                        return Err(Error::new(range.span(), "expected a range such as `1..=64`"));
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
                    Err(meta.error("unknown key of `#[param(..)]`; expected `range`, `expects` or `flatten`"))
                }
            })?;
        }
        Ok(limits)
    }

    /// Returns type and range in words, as an expression of type `&str`.
    fn text(&self, ty: &Type) -> TokenStream {
        if let Some(words) = &self.expects {
            return quote!(#words);
        }
        if let Some(range) = &self.range {
            let words = in_words(range);
            return quote!(#words);
        }
        let name = quote!(#ty).to_string();
        let words = match name.as_str() {
            "u8" => "0 to 255",
            "u16" => "0 to 65535",
            "u32" => "0 to 4294967295",
            "u64" => "0 to 18446744073709551615",
            "bool" => "true or false",
            "String" => "text",
            other => other,
        };
        quote!(#words)
    }

    /// Returns a closure that is true for allowed values.
    fn check(&self) -> TokenStream {
        match &self.range {
            Some(range) => quote!(|value| (#range).contains(value)),
            None => quote!(|_| true),
        }
    }
}

/// Returns a range as users read it: `1..=4_000` is "1 to 4000".
fn in_words(range: &Expr) -> String {
    let end = |e: &Option<Box<Expr>>| match e.as_deref() {
        Some(Expr::Lit(ExprLit { lit: Lit::Int(int), .. })) => Some(int.base10_digits().to_owned()),
        Some(other) => Some(other.to_token_stream().to_string()),
        None => None,
    };
    let Expr::Range(range) = range else { return range.to_token_stream().to_string() };
    match (end(&range.start), end(&range.end), &range.limits) {
        (Some(low), Some(high), RangeLimits::Closed(_)) => format!("{low} to {high}"),
        (Some(low), Some(high), RangeLimits::HalfOpen(_)) => format!("at least {low} and less than {high}"),
        (Some(low), None, _) => format!("at least {low}"),
        (None, Some(high), RangeLimits::Closed(_)) => format!("at most {high}"),
        (None, Some(high), RangeLimits::HalfOpen(_)) => format!("less than {high}"),
        (None, None, _) => "any number".to_owned(),
    }
}
