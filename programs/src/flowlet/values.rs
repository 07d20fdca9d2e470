//! Values of the parameters of flowlets, and their spelling.

use thiserror::Error;

/// Error of a text that is not a value of the parameter; the message lists the values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("none of {0}")]
pub struct NoSuchChoice(pub(crate) String);

/// Defines enumerations that are chosen by name, each value with its spelling.
macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl ::std::str::FromStr for $name {
            type Err = $crate::flowlet::NoSuchChoice;
            fn from_str(text: &str) -> Result<$name, Self::Err> {
                match text {
                    $($text => Ok($name::$variant),)*
                    _ => Err($crate::flowlet::NoSuchChoice([$($text),*].join(", "))),
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(match self { $($name::$variant => $text,)* })
            }
        }
    )* };
}

pub(crate) use choices;

choices! {
    /// How a gap between packets of a flow is detected.
    Detect {
        /// One array of pairs: time and member.
        Pair = "pair",
        /// Two arrays: time, then member.
        Split = "split",
        /// Entries that the packet generator ages.
        Age = "age",
    }

    /// Unit of timestamps: the resolution of gaps; timestamps have 32 bits and wrap (model: flowlets §2.3).
    Tick {
        /// A nanosecond; wraps every 4.29 s.
        Ns1 = "1ns",
        /// 256 ns; wraps every 18 minutes.
        Ns256 = "256ns",
        /// 1.024 µs; wraps every 73 minutes.
        Ns1024 = "1024ns",
    }

    /// Whether a gap of exactly the timeout ends a flowlet (model: flowlets §2.1).
    Compare {
        /// A gap of exactly the timeout does not end a flowlet.
        Gt = "gt",
        /// A gap of exactly the timeout ends a flowlet.
        Ge = "ge",
    }
}

impl Tick {
    /// Returns the length of a tick in nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        match self {
            Tick::Ns1 => 1,
            Tick::Ns256 => 256,
            Tick::Ns1024 => 1_024,
        }
    }
}
