//! Parts that files of scenarios and of contests share: expressions, grids of values, seeds.

pub(crate) mod expr;
pub(crate) mod grid;
#[cfg(test)]
pub(crate) mod keys;
pub(crate) mod seeds;

/// Declares a table of a file, with serde's attributes; tests get its keys as `KEYS`.
macro_rules! table {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[doc = $doc:literal])+ $(#[serde($($option:tt)*)])? pub $key:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        pub struct $name { $($(#[doc = $doc])+ $(#[serde($($option)*)])? pub $key: $type,)* }

        #[cfg(test)]
        impl $name {
            /// The keys with their values and meanings.
            pub(crate) const KEYS: &[$crate::language::keys::Key] =
                &[$($crate::language::keys::key!($key: $type, $($doc)+)),*];
        }
    };
}
pub(crate) use table;
