//! Programs in a form in which two are the same text if they are the same program.
//!
//! Left out are documentation, parameters, and groups of ports, which P4 does not have; unused metadata and intrinsic fields, which
//! the lowering does not declare; names of actions that only controls call, which no entry names; and the order of declarations
//! and of the primitives of an action, which run at once. The text form compares everything else.

use super::ghost::name_variables;
use sluice_asic::alu::AluOp;
use sluice_asic::gress::Gress;
use sluice_asic::salu::{SaluOp, Sense};
use sluice_ir::cfg::{Var, table_actions};
use sluice_ir::entity::EntityMap;
use sluice_ir::group::{reads, writes};
use sluice_ir::{
    Action, Block, CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, Cond, CounterLoad, Expr, Field,
    Header, Home, Index, Intrinsic, Next, ParserOpKind, ParserState, PrimitiveKind, Program, RequestKind,
    SelectKey, StmtKind,
};

/// Returns the canonical text of a program.
pub(super) fn canonical(program: &Program) -> String {
    let mut p = program.clone();
    p.name = "program".to_owned();
    p.doc.clear();
    p.params.clear();
    p.together.clear();
    forget_docs(&mut p);
    forget_zeros(&mut p);
    name_variables(&mut p);
    name(&mut p);
    rewrite(&mut p);
    let (used, headers) = (used(&p), used_headers(&p));
    arranged(&sluice_ir::text::print(&p), &unused(&p, &used), &headers)
}

/// Leaves out zeros that parsers write to metadata. Metadata is zero before, so the lowering writes only those that come after
/// another value; hunts find a difference where one counts.
fn forget_zeros(p: &mut Program) {
    let fields = &p.fields;
    for state in p.states.values_mut() {
        state.ops.retain(|op| match &op.kind {
            ParserOpKind::Set(field, Expr::Const(0, _)) => matches!(fields[*field].home, Home::Header(_)),
            _ => true,
        });
    }
}

fn forget_docs(p: &mut Program) {
    p.fields.values_mut().for_each(|d| d.doc.clear());
    p.headers.values_mut().for_each(|d| d.doc.clear());
    p.states.values_mut().for_each(|d| d.doc.clear());
    p.actions.values_mut().for_each(|d| d.doc.clear());
    p.tables.values_mut().for_each(|d| d.doc.clear());
    p.profiles.values_mut().for_each(|d| d.doc.clear());
    p.counters.values_mut().for_each(|d| d.doc.clear());
    p.hashes.values_mut().for_each(|d| d.doc.clear());
    p.registers.values_mut().for_each(|d| d.doc.clear());
    p.register_actions.values_mut().for_each(|d| d.doc.clear());
    p.labels.values_mut().for_each(|d| d.doc.clear());
    p.stacks.values_mut().for_each(|d| d.doc.clear());
    p.meters.values_mut().for_each(|d| d.doc.clear());
    p.randoms.values_mut().for_each(|d| d.doc.clear());
    p.value_sets.values_mut().for_each(|d| d.doc.clear());
}

/// Names parts without the control of a P4 program, metadata without the parameter, and called actions by the order of their calls.
fn name(p: &mut Program) {
    let short = |name: &mut String| {
        for control in ["Ingress.", "Egress.", "Ghost."] {
            if let Some(rest) = name.strip_prefix(control) {
                *name = rest.to_owned();
            }
        }
    };
    p.actions.values_mut().for_each(|d| short(&mut d.name));
    p.tables.values_mut().for_each(|d| short(&mut d.name));
    p.profiles.values_mut().for_each(|d| short(&mut d.name));
    p.counters.values_mut().for_each(|d| short(&mut d.name));
    p.hashes.values_mut().for_each(|d| short(&mut d.name));
    p.registers.values_mut().for_each(|d| {
        short(&mut d.name);
        d.params.iter_mut().for_each(|param| short(&mut param.name));
    });
    p.register_actions.values_mut().for_each(|d| short(&mut d.name));
    p.meters.values_mut().for_each(|d| short(&mut d.name));
    p.randoms.values_mut().for_each(|d| short(&mut d.name));
    for data in p.value_sets.values_mut() {
        for parser in ["IngressParser.", "EgressParser."] {
            if let Some(rest) = data.name.strip_prefix(parser) {
                data.name = rest.to_owned();
            }
        }
    }
    for data in p.fields.values_mut().filter(|d| matches!(d.home, Home::Metadata | Home::PortMetadata)) {
        for parameter in ["ig_md.", "eg_md."] {
            if let Some(rest) = data.name.strip_prefix(parameter) {
                data.name = rest.to_owned();
            }
        }
        if !data.name.contains('.') {
            data.name.insert_str(0, "m.");
        }
    }
    for data in p.actions.values_mut() {
        if (data.name.starts_with("NoAction") || data.name.ends_with(".NoAction")) && data.body.is_empty() {
            data.name = format!("NoAction.{}", data.gress);
        }
    }
    let mut in_table: EntityMap<Action, bool> = p.actions.values().map(|_| false).collect();
    for table in p.tables.keys() {
        table_actions(p, table).into_iter().for_each(|action| in_table[action] = true);
    }
    let mut called = Vec::new();
    for block in [&p.pipes[0].control, &p.pipes[1].control, &p.ghost] {
        calls(block, &mut called);
    }
    called.retain(|action| !in_table[*action]);
    for (number, action) in called.into_iter().enumerate() {
        p.actions[action].name = format!("called.{number}");
    }
    number_states(p);
}

/// Names the states of each parser by the order in which a search from the start finds them.
fn number_states(p: &mut Program) {
    for gress in Gress::ALL {
        let mut found: Vec<ParserState> = Vec::new();
        let mut next = vec![p.pipe(gress).start];
        while !next.is_empty() {
            let mut after = Vec::new();
            for state in next
                .into_iter()
                .filter_map(|next| if let Next::State(state) = next { Some(state) } else { None })
            {
                if !found.contains(&state) {
                    found.push(state);
                    let data = &p.states[state];
                    after.extend(data.arms.iter().map(|arm| arm.next).chain([data.default]));
                }
            }
            next = after;
        }
        for (number, state) in found.into_iter().enumerate() {
            p.states[state].name = format!("state{number:03}");
        }
    }
}

/// Adds the actions that a block calls, in order.
pub(super) fn calls(block: &Block, found: &mut Vec<Action>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Call(action) if !found.contains(action) => found.push(*action),
            StmtKind::Call(_) => {}
            StmtKind::If(_, then, otherwise) => {
                calls(then, found);
                calls(otherwise, found);
            }
            StmtKind::Apply(_, arms) => {
                calls(&arms.hit, found);
                calls(&arms.miss, found);
                arms.run.iter().for_each(|(_, block)| calls(block, found));
            }
        }
    }
}

/// Replaces values by equal ones of a single form.
fn rewrite(p: &mut Program) {
    let whole = p.clone();
    for data in p.actions.values_mut() {
        for primitive in &mut data.body {
            match &mut primitive.kind {
                PrimitiveKind::Set(_, value) | PrimitiveKind::SetSlice(.., value) => plain(&whole, value),
                PrimitiveKind::Count(_, index) => narrow(&whole, index),
                PrimitiveKind::Register(access) => index(&whole, &mut access.index),
                PrimitiveKind::Meter(access) => index(&whole, &mut access.index),
                PrimitiveKind::DropCtl(_, Expr::Const(1, _), label) => {
                    primitive.kind = PrimitiveKind::Drop(*label)
                }
                _ => {}
            }
        }
    }
    for data in p.register_actions.values_mut() {
        data.body.iter_mut().for_each(|stmt| cell(&whole, stmt));
    }
    for data in p.tables.values_mut().filter(|d| d.keys.is_empty()) {
        data.size = 0;
    }
}

/// A shift to the right by a constant is a slice.
fn plain(p: &Program, value: &mut Expr) {
    if let Expr::Alu(AluOp::Shru, a, b) = value
        && let Expr::Const(by, _) = **b
    {
        let width = a.width(p);
        *value = Expr::Cast(Box::new(Expr::Slice(a.clone(), width - 1, by as u16)), width);
    }
}

fn index(p: &Program, index: &mut Index) {
    if let Index::At(value) = index {
        narrow(p, value);
    }
}

/// Zeros in front of an index, or of a value of a register action, say nothing.
fn narrow(p: &Program, value: &mut Expr) {
    match value {
        Expr::Cast(inner, to) if *to > inner.width(p) => *value = (**inner).clone(),
        Expr::Const(_, width) => *width = 32,
        _ => {}
    }
}

fn cell(p: &Program, stmt: &mut CellStmt) {
    match &mut stmt.kind {
        CellStmtKind::Write(_, value) | CellStmtKind::Output(_, value) => cell_value(p, value),
        CellStmtKind::If(cond, then, otherwise) => {
            cell_cond(p, cond);
            then.iter_mut().for_each(|stmt| cell(p, stmt));
            otherwise.iter_mut().for_each(|stmt| cell(p, stmt));
        }
        CellStmtKind::Search(_) => {}
    }
}

fn cell_value(p: &Program, value: &mut CellValue) {
    match value {
        CellValue::Phv(value) => narrow(p, value),
        CellValue::Op(op, a, b) => {
            cell_value(p, a);
            cell_value(p, b);
            let swapped = match op {
                SaluOp::Subr => Some(SaluOp::Sub),
                SaluOp::Ssubru => Some(SaluOp::Ssubu),
                SaluOp::Ssubrs => Some(SaluOp::Ssubs),
                _ => None,
            };
            if let Some(swapped) = swapped {
                *value = CellValue::Op(swapped, b.clone(), a.clone());
            }
        }
        CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            cell_value(p, a);
            cell_value(p, b);
        }
        CellValue::Math(_, inner) => cell_value(p, inner),
        CellValue::Predicate(conds) => conds.iter_mut().for_each(|cond| cell_cond(p, cond)),
        _ => {}
    }
}

fn cell_cond(p: &Program, cond: &mut CellCond) {
    match cond {
        CellCond::Cmp(op, sense, a, b) => {
            if matches!(op, CmpOp::Eq | CmpOp::Ne) {
                *sense = Sense::Unsigned;
            }
            cell_value(p, a);
            cell_value(p, b);
        }
        CellCond::Not(inner) => cell_cond(p, inner),
        CellCond::And(a, b) | CellCond::Or(a, b) => {
            cell_cond(p, a);
            cell_cond(p, b);
        }
        CellCond::Match(_, value, _) => cell_value(p, value),
    }
}

/// Returns the first lines of the text of headers that some code names.
fn used_headers(p: &Program) -> Vec<String> {
    let fields = used(p);
    let mut found: Vec<Header> = Vec::new();
    for (field, data) in p.fields.iter().filter(|(field, _)| fields[*field]) {
        if let Home::Header(header) = data.home {
            let _ = field;
            found.push(header);
        }
    }
    for data in p.actions.values() {
        found.extend(data.body.iter().filter_map(|primitive| match primitive.kind {
            PrimitiveKind::SetValid(header, _) => Some(header),
            _ => None,
        }));
    }
    for block in [&p.pipes[0].control, &p.pipes[1].control, &p.ghost] {
        conditions(block, &mut |cond| cond.reads(&mut |_| {}, &mut |header| found.push(header)));
    }
    for op in p.states.values().flat_map(|data| &data.ops) {
        match op.kind {
            ParserOpKind::Extract(header) => found.push(header),
            ParserOpKind::ExtractNext(stack) => found.extend(&p.stacks[stack].headers),
            _ => {}
        }
    }
    for pipe in &p.pipes {
        found.extend(&pipe.deparser.emit);
        for request in &pipe.deparser.requests {
            found.extend(p.headers.keys().filter(|header| request.carries(p, *header)));
        }
    }
    found
        .into_iter()
        .map(|header| format!("header {} : {} {{", p.headers[header].name, p.headers[header].gress))
        .collect()
}

/// Returns the fields that code reads or writes.
fn used(p: &Program) -> EntityMap<Field, bool> {
    let mut used: EntityMap<Field, bool> = p.fields.values().map(|_| false).collect();
    let mut see = |field: Field| used[field] = true;
    for data in p.actions.values() {
        for primitive in &data.body {
            let vars = reads(p, &primitive.kind).into_iter().chain(writes(p, data.gress, &primitive.kind));
            vars.filter_map(|var| if let Var::Field(field) = var { Some(field) } else { None })
                .for_each(&mut see);
        }
    }
    for data in p.tables.values() {
        data.keys.iter().filter_map(sluice_ir::Key::field).for_each(&mut see);
    }
    for data in p.hashes.values() {
        data.inputs.iter().for_each(|input| input.fields(&mut see));
    }
    for block in [&p.pipes[0].control, &p.pipes[1].control, &p.ghost] {
        conditions(block, &mut |cond| cond.reads(&mut see, &mut |_| {}));
    }
    for data in p.states.values() {
        data.select.iter().filter_map(|key| SelectKey::field(*key)).for_each(&mut see);
        for op in &data.ops {
            match &op.kind {
                ParserOpKind::Set(field, value) => {
                    see(*field);
                    value.fields(&mut see);
                }
                ParserOpKind::VerifyChecksum(field, of) | ParserOpKind::SubtractChecksum(field, of) => {
                    see(*field);
                    of.iter().for_each(|input| input.fields(&mut see));
                }
                ParserOpKind::Lookahead(field, _) => see(*field),
                ParserOpKind::SetCounter(CounterLoad::Field { field, .. }) => see(*field),
                _ => {}
            }
        }
    }
    for pipe in &p.pipes {
        for update in &pipe.deparser.checksums {
            update.when.into_iter().for_each(&mut see);
            update.inputs.iter().for_each(|input| input.fields(&mut see));
        }
        for request in &pipe.deparser.requests {
            request.when.into_iter().for_each(&mut see);
            request.fields(&mut see);
            if let RequestKind::Mirror(session) = request.kind {
                see(session);
            }
        }
    }
    used
}

/// Returns the names of metadata and intrinsic fields that nothing reads or writes, each with its gress.
fn unused(p: &Program, used: &EntityMap<Field, bool>) -> Vec<(Gress, String)> {
    // A request asks its type field, and a gress with `parser_err` takes packets with errors, whether or not they are named.
    let kept = |home: Home| match home {
        Home::Header(_) => true,
        Home::Intrinsic(which) => which == Intrinsic::ParserErr,
        Home::Metadata | Home::PortMetadata => false,
    };
    let left_out = p.fields.iter().filter(|(field, d)| !used[*field] && !kept(d.home));
    left_out.map(|(_, d)| (d.gress, d.name.clone())).collect()
}

fn conditions(block: &Block, visit: &mut impl FnMut(&Cond)) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Call(_) => {}
            StmtKind::If(cond, then, otherwise) => {
                visit(cond);
                conditions(then, visit);
                conditions(otherwise, visit);
            }
            StmtKind::Apply(_, arms) => {
                conditions(&arms.hit, visit);
                conditions(&arms.miss, visit);
                arms.run.iter().for_each(|(_, block)| conditions(block, visit));
            }
        }
    }
}

/// Returns the text with its blocks in order, and without unused fields.
fn arranged(text: &str, unused: &[(Gress, String)], headers: &[String]) -> String {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut loose = [Vec::new(), Vec::new()];
    for line in text.lines().filter(|line| !line.trim_start().starts_with("@index(")) {
        if !line.starts_with([' ', '}']) || blocks.is_empty() {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(line);
        }
    }
    let mut done: Vec<String> = Vec::new();
    for mut block in blocks {
        let head = block[0].to_owned();
        match head.split(' ').next() {
            Some("metadata" | "intrinsic") => {
                let gress = if head.contains(": egress") { Gress::Egress } else { Gress::Ingress };
                let declared = |line: &&str| {
                    let name = line.trim().trim_end_matches(';').split(' ').nth(1).unwrap_or_default();
                    line.starts_with(' ') && !unused.iter().any(|(of, other)| *of == gress && other == name)
                };
                loose[gress.index()].extend(block.into_iter().filter(declared).map(str::to_owned));
            }
            // An action that does nothing is named by its tables, or is the rest of one whose writes the lowering left out.
            Some("action") if block.len() == 2 => {}
            Some("action") => {
                let last = block.len() - 1;
                block[1..last].sort_unstable();
                done.push(block.join("\n"));
            }
            Some("header") if !headers.contains(&head.replace('`', "")) => {}
            Some("parser") => done.push(states(&block)),
            _ => done.push(block.join("\n")),
        }
    }
    for (gress, mut fields) in Gress::ALL.into_iter().zip(loose) {
        fields.sort_unstable();
        done.push(format!("fields : {gress}\n{}", fields.join("\n")));
    }
    done.retain(|block| !block.trim().is_empty());
    // States that nothing leads to are left out, and the value sets that only they name.
    let parsers: Vec<String> = done.iter().filter(|block| block.starts_with("parser ")).cloned().collect();
    done.retain(|block| match block.strip_prefix("value_set ").and_then(|rest| rest.split(' ').next()) {
        Some(set) => parsers.iter().any(|parser| parser.contains(&format!(" in {set} "))),
        None => true,
    });
    done.sort_unstable();
    done.join("\n\n") + "\n"
}

/// Returns a parser with its states in order.
fn states(block: &[&str]) -> String {
    let mut states: Vec<Vec<&str>> = Vec::new();
    let mut head = Vec::new();
    for line in &block[..block.len() - 1] {
        if line.starts_with("    state ") {
            states.push(Vec::new());
        }
        match states.last_mut() {
            Some(state) => state.push(line),
            None => head.push(*line),
        }
    }
    states.sort_unstable();
    head.extend(states.concat());
    head.join("\n") + "\n}"
}
