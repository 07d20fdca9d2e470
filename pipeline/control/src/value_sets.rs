//! Value sets: members that arms of parser states compare with their keys.

use super::resolve::{Problem, Resolver};
use super::{Change, ControlError, ControlOp, ControlState, show_key};
use sluice_asic::alu::width_mask;
use sluice_ir::{KeyValue, MatchKind, ParamData, Program, ValueSet, ValueSetData};

/// Member of a value set: a value and a mask for each of the set's fields.
pub type SetMember = Vec<(u128, u128)>;

/// Returns true if the keys match a member: every value is equal under its mask. `keys` are those from the set's first
/// field on.
#[must_use]
pub fn has_match(members: &[SetMember], keys: &[u128]) -> bool {
    members.iter().any(|member| member.iter().zip(keys).all(|((value, mask), key)| key & mask == *value))
}

impl ControlState {
    /// Adds a member to a value set.
    pub(super) fn insert_value(
        &mut self,
        program: &Program,
        set: ValueSet,
        value: SetMember,
    ) -> Result<Change, ControlError> {
        let data = check(program, set, &value)?;
        let members = &mut self.value_sets[set];
        if members.contains(&value) {
            let (set, value) = (data.name.clone(), show(data, &value));
            return Err(ControlError::DuplicateValue { set, value });
        }
        if members.len() >= data.size as usize {
            return Err(ControlError::SetFull { set: data.name.clone(), size: data.size });
        }
        members.push(value);
        Ok(Change::ValueSet(set))
    }

    /// Removes a member from a value set.
    pub(super) fn delete_value(
        &mut self,
        program: &Program,
        set: ValueSet,
        value: &SetMember,
    ) -> Result<Change, ControlError> {
        let data = check(program, set, value)?;
        let members = &mut self.value_sets[set];
        let Some(at) = members.iter().position(|member| member == value) else {
            let (set, value) = (data.name.clone(), show(data, value));
            return Err(ControlError::NoSuchValue { set, value });
        };
        members.remove(at);
        Ok(Change::ValueSet(set))
    }
}

/// Checks the form of a member: one value for each field, that fits the field and its mask.
fn check<'p>(
    program: &'p Program,
    set: ValueSet,
    value: &SetMember,
) -> Result<&'p ValueSetData, ControlError> {
    let known = program.value_sets.get(set);
    let data = known.ok_or_else(|| ControlError::NoSuchEntity(format!("{set:?}")))?;
    if value.len() != data.fields.len() {
        let fields: Vec<&str> = data.fields.iter().map(|f| f.name.as_str()).collect();
        let (found, expected, fields) = (value.len(), fields.len(), fields.join(", "));
        return Err(ControlError::ValueArity { set: data.name.clone(), found, expected, fields });
    }
    for (field, &(value, mask)) in data.fields.iter().zip(value) {
        let all = width_mask(field.width.into());
        if let Some(&value) = [value, mask].iter().find(|&&v| v > all) {
            let (set, field, width) = (data.name.clone(), field.name.clone(), field.width);
            return Err(ControlError::ValueTooWide { set, field, value, width });
        }
        if value & !mask != 0 {
            let (set, field) = (data.name.clone(), field.name.clone());
            return Err(ControlError::ValueBeyondMask { set, field, value, mask, mended: value & mask });
        }
    }
    Ok(data)
}

/// Formats a member, as in `ether_type = 0x9000, port = 64`.
fn show(data: &ValueSetData, value: &SetMember) -> String {
    let shown = data.fields.iter().zip(value).map(|(field, &(value, mask))| {
        let key = KeyValue::Ternary { value, mask };
        format!("{} = {}", field.name, show_key(key, field.width, &field.name))
    });
    shown.collect::<Vec<_>>().join(", ")
}

impl Resolver<'_> {
    /// Returns the value set with this name, or with the only name that ends with it.
    pub(super) fn value_set(&self, name: &str) -> Result<ValueSet, Problem> {
        let known = self.program.value_sets.iter().map(|(s, data)| (s, data.name.as_str()));
        self.named("value set", name, known)
    }

    /// Returns the position of a value set's field.
    pub(super) fn set_field(&self, set: ValueSet, name: &str) -> Result<usize, Problem> {
        let data = &self.program.value_sets[set];
        let found = data.fields.iter().position(|f| f.name == name);
        let names = data.fields.iter().map(|f| f.name.as_str());
        found.ok_or_else(|| {
            Problem::unknown(&format!("field of value set `{}` named", data.name), name, names)
        })
    }

    /// Parses the value of a value set's field, which may have a mask.
    pub(super) fn set_value(&self, field: &ParamData, text: &str) -> Result<(u128, u128), Problem> {
        let parsed = super::parse_match(&self.plain(text)?, MatchKind::Ternary, field.width);
        match parsed.map_err(|e| super::resolve::in_context("field", &field.name, &e))? {
            KeyValue::Ternary { value, mask } => Ok((value, mask)),
            _ => Ok((0, 0)),
        }
    }
}

/// Returns the operation of `value_set_add SET value..` or `value_set_delete SET value..`; `None` for another command.
pub(super) fn command(
    resolver: Resolver<'_>,
    command: &str,
    words: &[&str],
) -> Option<Result<ControlOp, Problem>> {
    let (name, values) = words.split_first()?;
    let op: fn(ValueSet, SetMember) -> ControlOp = match command {
        "value_set_add" => |set, value| ControlOp::InsertValue { set, value },
        "value_set_delete" => |set, value| ControlOp::DeleteValue { set, value },
        _ => return None,
    };
    let read = || {
        let set = resolver.value_set(name)?;
        let data = &resolver.program.value_sets[set];
        let fields: Vec<&str> = data.fields.iter().map(|f| f.name.as_str()).collect();
        if values.len() != fields.len() {
            let (set, found, expected) = (data.name.clone(), values.len(), fields.len());
            let error = ControlError::ValueArity { set, found, expected, fields: fields.join(", ") };
            return Err(Problem::new(error.to_string()));
        }
        let value = data.fields.iter().zip(values).map(|(field, text)| resolver.set_value(field, text));
        Ok(op(set, value.collect::<Result<_, _>>()?))
    };
    Some(read())
}
