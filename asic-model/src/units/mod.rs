//! Physical quantities as types: time, cycles, bytes, cells, bit rates.
//!
//! Every quantity prints as text that parses back to the same value, and is serialised as that text. Arithmetic and
//! parsing are exact: `"1.5ms"` is a duration, `"0.5ps"` is refused.

mod count;
mod divisor;
mod length;
mod rate;
mod size;
mod text;
mod time;

pub use count::{CountError, count, print_count};
pub(crate) use divisor::Divisor;
pub use length::Length;
pub use rate::BitRate;
pub use size::{Bytes, Cells, Cycles};
pub(crate) use text::{Unit, parse_scaled, print_decimal};
pub use text::{UnitError, UnitErrorKind};
pub use time::{Duration, Time};

/// Text (de)serialisation of a type through its `Display` and `FromStr`.
macro_rules! serde_as_text {
    ($type:ty, $expecting:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
    };
}
pub(crate) use serde_as_text;
