//! Values of a TOML file with their places.

use ::toml::Spanned;
use ::toml::de::DeValue;

/// A value with its place in the text.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// Returns the offset at which a value starts.
pub(super) fn start(value: &Value<'_>) -> usize {
    value.span().start
}

/// Returns the type of a value, with its article.
pub(super) fn kind_of(value: &Value<'_>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
