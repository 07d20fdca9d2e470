//! Tables.

use super::Writer;
use super::value::number;
use sluice_asic::alu::width_mask;
use sluice_asic::select::SelectorMode;
use sluice_ir::{
    ActionCall, Algorithmic, CounterHome, IdleMode, Key, KeySource, KeyValue, MatchKind, Profile,
    SelectorData, Table, TableData,
};

impl Writer<'_> {
    /// Declares a table after its actions and its selector.
    pub(super) fn declare_table(&mut self, table: Table) {
        let data = &self.p.tables[table];
        if let Some(profile) = data.profile {
            self.declare_profile(profile);
        }
        for &action in &data.actions {
            self.declare_action(action);
        }
        self.declare_action(data.default.action);
        self.page.gap();
        self.page.comment(&data.doc);
        if let Some(annotation) = self.names.tables[table].annotation() {
            self.page.line(&annotation);
        }
        if let Some(pin) = data.pin {
            let entries = data.rules.pin_entries.map_or(String::new(), |entries| format!(", {entries}"));
            self.page.line(&format!("@stage({pin}{entries})"));
        }
        let rules = &data.rules;
        for (name, number) in [("ways", rules.ways), ("pack", rules.pack)] {
            if let Some(number) = number {
                self.page.line(&format!("@{name}({number})"));
            }
        }
        if rules.priority != 0 {
            self.page.line(&format!("@placement_priority({})", rules.priority));
        }
        if let Some(idle) = &data.idle {
            let mode = if idle.mode == IdleMode::Notify { "notify" } else { "poll" };
            let (interval, ttl) = (idle.interval, idle.ttl);
            self.page.line(&format!("@sluice_idle(\"{mode}\", {}, \"{interval}\", \"{ttl}\")", idle.bits));
        }
        self.page.open(&format!("table {}", self.names.tables[table].text));
        self.keys(data);
        self.actions(data);
        self.entries(data);
        self.properties(table, data);
        self.page.close("");
    }

    fn keys(&mut self, data: &TableData) {
        if data.keys.is_empty() {
            return;
        }
        self.page.open("key =");
        for key in &data.keys {
            let kind = match (key.kind, data.algorithmic) {
                (MatchKind::Exact, Some(Algorithmic::Atcam { partition, .. }))
                    if key.field() == Some(partition) =>
                {
                    "atcam_partition_index"
                }
                (MatchKind::Exact, _) => "exact",
                (MatchKind::Ternary, _) => "ternary",
                (MatchKind::Lpm, _) => "lpm",
                (MatchKind::Range, _) => "range",
            };
            let text = self.key(key);
            self.page.line(&format!("{text} : {kind};"));
        }
        let selector = data.profile.and_then(|profile| self.p.profiles[profile].selector.as_ref());
        for input in selector.into_iter().flat_map(|selector| &self.p.hashes[selector.hash].inputs) {
            let input = self.sized(input);
            self.page.line(&format!("{input} : selector;"));
        }
        self.page.close("");
    }

    fn key(&self, key: &Key) -> String {
        let text = match key.what {
            KeySource::Field(field) => self.layout.fields[field].clone(),
            KeySource::Slice(field, hi, lo) => format!("{}[{hi}:{lo}]", self.layout.fields[field]),
            KeySource::Valid(header) => format!("{}.isValid()", self.layout.headers[header]),
        };
        key.mask.map_or(text.clone(), |mask| format!("{text} & {mask:#x}"))
    }

    fn actions(&mut self, data: &TableData) {
        self.page.open("actions =");
        for &action in &data.actions {
            let name = self.action_name(action);
            self.page.line(&format!("{name};"));
        }
        let default = data.default.action;
        let implied = data.profile.is_some() && self.is_no_action(default);
        if !data.actions.contains(&default) && !implied {
            let name = self.action_name(default);
            self.page.line(&format!("@defaultonly {name};"));
        }
        self.page.close("");
        if !implied {
            let call = self.action_call(&data.default);
            let word = if data.constant_default { "const " } else { "" };
            self.page.line(&format!("{word}default_action = {call};"));
        }
    }

    fn action_call(&self, call: &ActionCall) -> String {
        let args: Vec<String> = call.args.iter().map(|&value| number(value)).collect();
        format!("{}({})", self.action_name(call.action), args.join(", "))
    }

    fn entries(&mut self, data: &TableData) {
        if data.entries.is_empty() {
            return;
        }
        self.page.open("const entries =");
        for entry in &data.entries {
            let columns = entry.key.iter().zip(&data.keys);
            let columns: Vec<String> = columns.map(|(value, key)| self.column(*value, key)).collect();
            let columns = match columns.as_slice() {
                [one] => one.clone(),
                several => format!("({})", several.join(", ")),
            };
            let call = self.action_call(&entry.then);
            self.page.line(&format!("{columns} : {call};"));
        }
        self.page.close("");
    }

    fn column(&self, value: KeyValue, key: &Key) -> String {
        let width = key.width(self.p);
        let all = width_mask(width.into());
        // The validity of a header is a `bool`.
        let plain = |value: u128| match (key.what, value) {
            (KeySource::Valid(_), 0) => "false".to_owned(),
            (KeySource::Valid(_), _) => "true".to_owned(),
            (KeySource::Field(field), value) => self.constant_of(field, value),
            _ => number(value),
        };
        match value {
            KeyValue::Exact(value) => plain(value),
            KeyValue::Ternary { mask: 0, .. } => "_".to_owned(),
            KeyValue::Ternary { value, mask } if mask == all => plain(value),
            KeyValue::Ternary { value, mask } => format!("{} &&& {mask:#x}", number(value)),
            KeyValue::Lpm { value, len } => {
                let mask = all & !width_mask(u32::from(width.saturating_sub(len)));
                if len == width { plain(value) } else { format!("{} &&& {mask:#x}", number(value)) }
            }
            KeyValue::Range { lo: 0, hi } if hi == all => "_".to_owned(),
            KeyValue::Range { lo, hi } => format!("{} .. {}", number(lo), number(hi)),
        }
    }

    fn properties(&mut self, table: Table, data: &TableData) {
        if !data.keys.is_empty() {
            self.page.line(&format!("size = {};", data.size));
        }
        if let Some(profile) = data.profile {
            self.page.line(&format!("implementation = {};", self.names.profiles[profile].text));
        }
        match data.algorithmic {
            Some(Algorithmic::Alpm { partitions, subtrees }) => {
                self.page.line(&format!(
                    "alpm = Alpm(number_partitions = {partitions}, subtrees_per_partition = {subtrees});"
                ));
            }
            Some(Algorithmic::Atcam { partitions, .. }) => {
                self.page.line(&format!("atcam = Atcam(number_partitions = {partitions});"));
            }
            None => {}
        }
        if data.idle.is_some() {
            self.page.line("idle_timeout = true;");
        }
        let direct = CounterHome::Direct(table);
        for (counter, _) in self.p.counters.iter().filter(|(_, d)| d.home == direct) {
            self.page.line(&format!("counters = {};", self.names.counters[counter].text));
        }
        for (meter, _) in self.p.meters.iter().filter(|(_, d)| d.home == direct) {
            self.page.line(&format!("meters = {};", self.names.meters[meter].text));
        }
        for (register, _) in self.p.registers.iter().filter(|(_, d)| d.home == direct) {
            self.page.line(&format!("registers = {};", self.names.registers[register].text));
        }
    }

    /// Declares an action profile and its selector, unless an earlier table has it.
    fn declare_profile(&mut self, profile: Profile) {
        if self.profiles.contains(&profile) {
            return;
        }
        self.profiles.push(profile);
        let data = &self.p.profiles[profile];
        let name = self.names.profiles[profile].clone();
        let annotation = name.annotation().map_or(String::new(), |text| text + " ");
        self.page.gap();
        self.page.comment(&data.doc);
        match &data.selector {
            None => self.page.line(&format!("{annotation}ActionProfile({}) {};", data.size, name.text)),
            Some(selector) => {
                let wanted = format!("{}_profile", name.text);
                let members = self.names.taken[self.gress.index()].numbered(&wanted);
                self.page.line(&format!("ActionProfile({}) {members};", data.size));
                self.declare_hash(selector.hash);
                let SelectorData { mode, hash, groups, max_group_size, scramble } = selector;
                let word = match mode {
                    SelectorMode::Resilient => "RESILIENT",
                    SelectorMode::Fair | SelectorMode::PlainModulo => "FAIR",
                };
                if *mode == SelectorMode::PlainModulo {
                    self.page.line("@sluice_selector(\"plain_modulo\")");
                }
                if *scramble {
                    self.page.line("@sluice_selector(\"scramble\")");
                }
                let args = [
                    members,
                    self.names.hashes[*hash].text.clone(),
                    format!("SelectorMode_t.{word}"),
                    max_group_size.to_string(),
                    groups.to_string(),
                ];
                self.page.list(&format!("{annotation}ActionSelector("), &args, &format!(") {};", name.text));
            }
        }
    }
}
