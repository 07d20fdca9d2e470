//! Values of whole fields for tables whose keys are slices of them.

use super::parse_match;
use super::resolve::{Problem, Resolver, in_context};
use sluice_asic::alu::width_mask;
use sluice_asic::names::Named;
use sluice_ir::{Field, KeySource, KeyValue, TableData};

impl Resolver<'_> {
    /// Returns the columns that are slices of the field with this name; none if several fields could be meant.
    pub(super) fn slices(self, data: &TableData, name: &str) -> Vec<usize> {
        let sliced = |column: usize| match data.keys[column].what {
            KeySource::Slice(field, ..) => Some(field),
            KeySource::Field(_) | KeySource::Valid(_) => None,
        };
        let mut fields: Vec<Field> = (0..data.keys.len()).filter_map(sliced).collect();
        fields.sort_unstable();
        fields.dedup();
        let names: Vec<&str> = fields.iter().map(|f| self.program.fields[*f].name.as_str()).collect();
        let Named::One(at) = self.by_end(name, &names) else { return Vec::new() };
        (0..data.keys.len()).filter(|column| sliced(*column) == Some(fields[at])).collect()
    }

    /// Parses the value of a whole field, and returns the part of it that a column compares.
    pub(super) fn slice_value(
        self,
        data: &TableData,
        column: usize,
        text: &str,
    ) -> Result<KeyValue, Problem> {
        let key = data.keys[column];
        let KeySource::Slice(field, hi, lo) = key.what else { return self.key_value(data, column, text) };
        let whole = &self.program.fields[field];
        let value = parse_match(&self.plain(text)?, key.kind, whole.width)
            .map_err(|e| in_context("key", &whole.name, &e))?;
        let wrong = |what: &str| {
            Err(Problem {
                text: format!("key `{}` of table `{}`: {what}", whole.name, data.name),
                help: format!("give `{}` a value of its own", key.name(self.program)),
            })
        };
        let (given, all) = match value {
            KeyValue::Exact(value) | KeyValue::Ternary { value, .. } | KeyValue::Lpm { value, .. } => {
                (value, width_mask(whole.width.into()))
            }
            KeyValue::Range { .. } => return wrong("a range of the whole field is none of its slices"),
        };
        if given & !all != 0 {
            return wrong(&format!("{given:#x} has more than {} bits", whole.width));
        }
        let bits = width_mask(key.width(self.program).into());
        let part = |value: u128| value.checked_shr(lo.into()).unwrap_or(0) & bits;
        Ok(match value {
            KeyValue::Exact(value) => KeyValue::Exact(part(value)),
            KeyValue::Ternary { value, mask } => KeyValue::Ternary { value: part(value), mask: part(mask) },
            KeyValue::Lpm { value, len } => {
                let above = whole.width.saturating_sub(hi + 1);
                KeyValue::Lpm { value: part(value), len: len.saturating_sub(above).min(hi + 1 - lo) }
            }
            KeyValue::Range { .. } => value,
        })
    }
}
