//! Actions, and the statements of primitives.

use super::Writer;
use super::inline::label;
use super::names::Taken;
use super::value::chip_type;
use sluice_ir::{Action, Expr, Field, Home, Index, Intrinsic, LabelKind, Primitive, PrimitiveKind};

/// The name of the action that does nothing.
pub(super) const NO_ACTION: &str = "NoAction";

impl Writer<'_> {
    /// Returns true for the action of the core library that does nothing.
    pub(super) fn is_no_action(&self, action: Action) -> bool {
        let data = &self.p.actions[action];
        let rest = data.name.strip_prefix(NO_ACTION);
        let numbered = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        numbered && data.body.is_empty() && data.params.is_empty()
    }

    /// Returns the name of an action.
    pub(super) fn action_name(&self, action: Action) -> String {
        match self.inline.name(action) {
            _ if self.is_no_action(action) => NO_ACTION.to_owned(),
            Some(name) => name.to_owned(),
            None => self.names.actions[action].text.clone(),
        }
    }

    /// Declares an action, unless it is declared.
    pub(super) fn declare_action(&mut self, action: Action) {
        if self.is_no_action(action) || !self.declared.insert(action) {
            return;
        }
        let data = &self.p.actions[action];
        self.page.gap();
        self.page.comment(&data.doc);
        if let Some(label) = label(self.p, action) {
            let word = if label.kind == LabelKind::Drop { "drop" } else { "consume" };
            self.page.line(&format!("@sluice_{word}(\"{}\")", label.name));
        }
        if let Some(name) =
            self.names.actions[action].annotation().filter(|_| self.inline.name(action).is_none())
        {
            self.page.line(&name);
        }
        let mut taken = Taken::in_control();
        let mut params = Vec::new();
        self.params.clear();
        self.param_types.clear();
        for (n, param) in data.params.iter().enumerate() {
            let name = taken.take(&param.name, "value");
            let ty = self.param_type(&data.body, n as u16, param.width);
            let annotation = name.annotation().map_or(String::new(), |text| text + " ");
            params.push(format!("{annotation}{ty} {}", name.text));
            self.params.push(name.text);
            self.param_types.push(ty);
        }
        let name = self.action_name(action);
        self.page.open_filled(&format!("action {name}({})", params.join(", ")));
        for primitive in &data.body {
            self.primitive(primitive);
        }
        self.page.close("");
        self.params.clear();
    }

    /// Returns the type of a parameter: that of the intrinsic field that takes it, if one does.
    fn param_type(&self, body: &[Primitive], param: u16, width: u16) -> String {
        let mut types: Vec<Option<&'static str>> = Vec::new();
        for primitive in body {
            if let PrimitiveKind::Set(field, Expr::Param(n, w)) = &primitive.kind
                && (*n, *w) == (param, width)
                && let Home::Intrinsic(which) = self.p.fields[*field].home
            {
                types.push(port_type(which));
                continue;
            }
            let mut read = false;
            values(&primitive.kind, &mut |value| value.param_bits(self.p, &mut |n, _, _| read |= n == param));
            if read {
                types.push(None);
            }
        }
        let of_chip = |ty: &&str| matches!(*ty, "QueueId_t" | "MirrorType_t");
        let first = types.iter().flatten().next().copied();
        match first {
            // The width depends on the chip, so that no other field can take the value.
            Some(ty) if of_chip(&ty) && types.iter().any(|other| *other != Some(ty)) => {
                format!("bit<{width}>")
            }
            Some(ty) => ty.to_owned(),
            None => format!("bit<{width}>"),
        }
    }

    /// Writes the statement of a primitive.
    pub(super) fn primitive(&mut self, primitive: &Primitive) {
        let text = match &primitive.kind {
            PrimitiveKind::Set(field, Expr::Funnel(high, low, by)) => {
                let (high, low) = (self.value(high), self.value(low));
                format!("funnel_shift_right({}, {high}, {low}, {by})", self.layout.fields[*field])
            }
            PrimitiveKind::Set(field, value) => self.assignment(*field, value),
            PrimitiveKind::SetSlice(field, hi, lo, value) => {
                format!("{}[{hi}:{lo}] = {}", self.layout.fields[*field], self.value(value))
            }
            PrimitiveKind::SetValid(header, valid) => {
                let method = if *valid { "setValid" } else { "setInvalid" };
                format!("{}.{method}()", self.layout.headers[*header])
            }
            PrimitiveKind::Drop(label) => {
                let doc = &self.p.labels[*label].doc;
                let reason = if doc.is_empty() { String::new() } else { format!("reason: {doc}") };
                return self.page.noted(&format!("{} = 1;", self.drop_ctl()), &reason);
            }
            PrimitiveKind::DropCtl(_, value, _) => format!("{} = {}", self.drop_ctl(), self.value(value)),
            PrimitiveKind::Hash(field, hash) => {
                return self.hash_assignment(&self.layout.fields[*field].clone(), *hash, "");
            }
            PrimitiveKind::HashInto(field, hi, lo, hash, from) => {
                let to = format!("{}[{hi}:{lo}]", self.layout.fields[*field]);
                let high = from + (hi - lo);
                let part = format!("[{high}:{from}]");
                let all = *from == 0 && high + 1 == self.p.hashes[*hash].width;
                return self.hash_assignment(&to, *hash, if all { "" } else { &part });
            }
            PrimitiveKind::HashSlice(field, hash, lo) => {
                let high = lo + self.p.fields[*field].width - 1;
                let to = self.layout.fields[*field].clone();
                return self.hash_assignment(&to, *hash, &format!("[{high}:{lo}]"));
            }
            PrimitiveKind::Count(counter, index) => {
                let index = self.counter_index(*counter, index);
                format!("{}.count({index})", self.names.counters[*counter].text)
            }
            PrimitiveKind::CountDirect(counter) => format!("{}.count()", self.names.counters[*counter].text),
            PrimitiveKind::Register(access) => return self.register_access(access),
            PrimitiveKind::Meter(access) => self.meter_access(access),
            PrimitiveKind::Random(field, random) => {
                let (from, to) = (self.p.randoms[*random].width, self.p.fields[*field].width);
                let call = format!("{}.get()", self.names.randoms[*random].text);
                format!("{} = {}", self.layout.fields[*field], resized(&call, from, to))
            }
            // Refused before anything is written.
            PrimitiveKind::SetMasked(..) | PrimitiveKind::CopyValid(..) => return,
        };
        self.page.line(&format!("{text};"));
    }

    fn assignment(&self, field: Field, value: &Expr) -> String {
        let to = &self.layout.fields[field];
        let data = &self.p.fields[field];
        let text = match value {
            Expr::Const(number, _) => self.constant_of(field, *number),
            value => self.value(value),
        };
        let narrow = match data.home {
            Home::Intrinsic(which) if self.both_chips => chip_type(which),
            _ => None,
        };
        match (narrow, value) {
            (Some(ty), Expr::Param(n, _))
                if self.param_types.get(usize::from(*n)).is_some_and(|of| of == ty) =>
            {
                format!("{to} = {text}")
            }
            (Some(ty), value) if !matches!(value, Expr::Const(..)) => {
                format!("{to} = ({ty}) {}", self.operand(value))
            }
            _ => format!("{to} = {text}"),
        }
    }

    fn drop_ctl(&self) -> String {
        super::layout::intrinsic(self.gress, Intrinsic::DropCtl)
    }

    fn hash_assignment(&mut self, to: &str, hash: sluice_ir::Hash, slice: &str) {
        let before = format!("{to} = {}.get({{ ", self.names.hashes[hash].text);
        let items = self.hash_inputs(hash);
        self.page.list(&before, &items, &format!(" }}){slice};"));
    }

    /// Returns the inputs of a hash.
    pub(super) fn hash_inputs(&self, hash: sluice_ir::Hash) -> Vec<String> {
        self.p.hashes[hash].inputs.iter().map(|input| self.sized(input)).collect()
    }

    /// Returns the index of an access to an array whose indices have this many bits.
    pub(super) fn index(&self, index: &Index, bits: u16) -> Option<String> {
        match index {
            Index::At(value @ Expr::Const(..)) => Some(self.value(value)),
            Index::At(value) => {
                Some(resized_up(&self.value(value), self.operand(value), value.width(self.p), bits))
            }
            Index::Entry => None,
            Index::Hash(hash) => {
                let call = format!(
                    "{}.get({{ {} }})",
                    self.names.hashes[*hash].text,
                    self.hash_inputs(*hash).join(", ")
                );
                Some(resized_up(&call, call.clone(), self.p.hashes[*hash].width, bits))
            }
        }
    }
}

/// Returns a value in a cast if it is narrower.
fn resized_up(text: &str, operand: String, from: u16, to: u16) -> String {
    if from < to { format!("(bit<{to}>) {operand}") } else { text.to_owned() }
}

/// Returns the result of a call at another width.
pub(super) fn resized(call: &str, from: u16, to: u16) -> String {
    match from.cmp(&to) {
        std::cmp::Ordering::Equal => call.to_owned(),
        std::cmp::Ordering::Less | std::cmp::Ordering::Greater => format!("(bit<{to}>) {call}"),
    }
}

/// Returns the type of an intrinsic field that parameters of actions have.
fn port_type(which: Intrinsic) -> Option<&'static str> {
    Some(match which {
        Intrinsic::UcastEgressPort | Intrinsic::MirrorEgressPort => "PortId_t",
        Intrinsic::McastGrpA | Intrinsic::McastGrpB => "MulticastGroupId_t",
        Intrinsic::Rid => "ReplicationId_t",
        which => return chip_type(which),
    })
}

/// Calls `visit` for every value of a primitive that can have parameters.
fn values(kind: &PrimitiveKind, visit: &mut impl FnMut(&Expr)) {
    match kind {
        PrimitiveKind::Set(_, value)
        | PrimitiveKind::SetSlice(.., value)
        | PrimitiveKind::DropCtl(_, value, _)
        | PrimitiveKind::Count(_, value) => visit(value),
        PrimitiveKind::SetMasked(_, value, mask) => {
            visit(value);
            visit(mask);
        }
        PrimitiveKind::Register(access) => access.index.expr().into_iter().for_each(visit),
        PrimitiveKind::Meter(access) => {
            access.index.expr().into_iter().for_each(&mut *visit);
            access.input.iter().for_each(visit);
        }
        PrimitiveKind::SetValid(..)
        | PrimitiveKind::Hash(..)
        | PrimitiveKind::HashSlice(..)
        | PrimitiveKind::HashInto(..)
        | PrimitiveKind::CountDirect(_)
        | PrimitiveKind::Drop(_)
        | PrimitiveKind::CopyValid(..)
        | PrimitiveKind::Random(..) => {}
    }
}
