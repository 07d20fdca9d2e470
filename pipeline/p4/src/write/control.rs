//! Controls: declarations, and `apply` blocks.

use super::inline::inner;
use super::{Writer, title};
use sluice_asic::gress::Gress;
use sluice_ir::{ApplyArms, Block, ContainerRule, Stmt, StmtKind, Table};

impl<'p> Writer<'p> {
    /// Writes the control of the gress.
    pub(super) fn control(&mut self) {
        let (gress, p) = (self.gress, self.p);
        let (headers, metadata) = (self.layout.headers_type(gress), self.layout.metadata_type(gress));
        let mut params = vec![
            format!("inout {headers} hdr"),
            format!("inout {metadata} {}_md", super::layout::prefix(gress)),
        ];
        params.extend(
            match gress {
                Gress::Ingress => [
                    "in ingress_intrinsic_metadata_t ig_intr_md",
                    "in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md",
                    "inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md",
                    "inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md",
                ],
                Gress::Egress => [
                    "in egress_intrinsic_metadata_t eg_intr_md",
                    "in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md",
                    "inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md",
                    "inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md",
                ],
            }
            .map(str::to_owned),
        );
        self.container_rules();
        self.signature(&format!("control {}", title(gress)), &params);
        self.units();
        let block = &p.pipe(gress).control;
        self.declarations(block);
        self.apply(block);
        self.page.close("");
    }

    /// Writes the rules about containers of the gress.
    fn container_rules(&mut self) {
        let of_gress = |rule: &&ContainerRule| self.p.fields[rule.field].gress == self.gress;
        for rule in self.p.container_rules.iter().filter(of_gress) {
            self.page.line(&rule.p4(self.gress, &self.layout.fields[rule.field]));
        }
    }

    /// Writes the ghost control.
    pub(super) fn ghost_control(&mut self) {
        self.signature("control Ghost", &["in ghost_intrinsic_metadata_t g_intr_md".to_owned()]);
        let block = &self.p.ghost;
        self.in_ghost = true;
        for (field, name) in std::mem::take(&mut self.ghost.variables) {
            let data = &self.p.fields[field];
            let shared = match self.ghost.fields.contains(&field) {
                true => String::new(),
                false => format!("@sluice_field(\"{}\") ", self.layout.fields[field]),
            };
            self.page.noted(&format!("{shared}bit<{}> {name};", data.width), &data.doc);
            self.layout.fields[field] = name;
        }
        self.units();
        self.declarations(block);
        self.apply(block);
        self.page.close("");
    }

    /// Opens a block with its parameters, each on a line.
    pub(super) fn signature(&mut self, name: &str, params: &[String]) {
        self.page.gap();
        let indent = " ".repeat(name.len() + 1);
        let last = params.len().saturating_sub(1);
        for (n, param) in params.iter().enumerate() {
            let before = if n == 0 { format!("{name}(") } else { indent.clone() };
            if n == last {
                self.page.open(&format!("{before}{param})"));
            } else {
                self.page.line(&format!("{before}{param},"));
            }
        }
    }

    /// Declares the actions and tables of a block in the order in which it runs them.
    fn declarations(&mut self, block: &'p Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Apply(table, _) => self.declare_table(*table),
                StmtKind::Call(action) if !self.inline.is_straight(*action) => self.declare_action(*action),
                StmtKind::Call(_) | StmtKind::If(..) => {}
            }
            let blocks: Vec<&'p Block> = inner(stmt).collect();
            blocks.into_iter().for_each(|block| self.declarations(block));
        }
    }

    fn apply(&mut self, block: &Block) {
        self.page.gap();
        self.page.open("apply");
        self.statements(block);
        self.page.close("");
    }

    fn statements(&mut self, block: &Block) {
        for stmt in block {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Apply(table, arms) => self.applied(*table, arms),
            StmtKind::If(cond, then, otherwise) => {
                let cond = self.cond(cond);
                self.page.open_filled(&format!("if ({cond})"));
                self.statements(then);
                self.otherwise(otherwise);
            }
            StmtKind::Call(action) if self.inline.is_straight(*action) => {
                for primitive in &self.p.actions[*action].body {
                    self.primitive(primitive);
                }
            }
            StmtKind::Call(action) => {
                let name = self.action_name(*action);
                self.page.line(&format!("{name}();"));
            }
        }
    }

    /// Writes the `else` of an open `if`, and closes it. A single `if` continues the chain.
    fn otherwise(&mut self, block: &Block) {
        let mut block = block;
        while let [Stmt { kind: StmtKind::If(cond, then, otherwise), .. }] = block.as_slice() {
            let cond = self.cond(cond);
            self.page.turn(&format!("else if ({cond})"));
            self.statements(then);
            block = otherwise;
        }
        if !block.is_empty() {
            self.page.turn("else");
            self.statements(block);
        }
        self.page.close("");
    }

    fn applied(&mut self, table: Table, arms: &ApplyArms) {
        let call = format!("{}.apply()", self.names.tables[table].text);
        if !arms.run.is_empty() {
            self.page.open(&format!("switch ({call}.action_run)"));
            for (action, block) in &arms.run {
                let name = self.action_name(*action);
                self.page.open(&format!("{name} :"));
                self.statements(block);
                self.page.close("");
            }
            return self.page.close("");
        }
        match (arms.hit.is_empty(), arms.miss.is_empty()) {
            (true, true) => self.page.line(&format!("{call};")),
            (true, false) => {
                self.page.open(&format!("if ({call}.miss)"));
                self.statements(&arms.miss);
                self.page.close("");
            }
            (false, _) => {
                self.page.open(&format!("if ({call}.hit)"));
                self.statements(&arms.hit);
                if !arms.miss.is_empty() {
                    self.page.turn("else");
                    self.statements(&arms.miss);
                }
                self.page.close("");
            }
        }
    }
}
