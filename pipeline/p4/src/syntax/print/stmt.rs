//! Printing of statements and states.

use super::Printer;
use crate::syntax::ast::{Block, ExprId, StateDecl, Stmt, StmtKind, SwitchCase, SwitchLabel, Transition};

impl Printer<'_> {
    pub(super) fn block(&mut self, head: &str, block: &Block) {
        let annotations = self.annotations(&block.annotations);
        self.braces(&format!("{annotations}{head}"), "", |printer| {
            for statement in &block.statements {
                printer.statement("", statement);
            }
        });
    }

    /// Prints a statement after `head`, which is the `if` or `else` that it belongs to.
    fn statement(&mut self, head: &str, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Empty => self.line(&format!("{head};")),
            StmtKind::Block(block) => self.block(head, block),
            StmtKind::Decl(decl) => self.decl(*decl),
            StmtKind::Assign { target, value } => {
                let text = format!("{head}{} = {};", self.expr(*target), self.expr(*value));
                self.line(&text);
            }
            StmtKind::Call(call) => self.line(&format!("{head}{};", self.expr(*call))),
            StmtKind::If { condition, then, otherwise } => {
                let text = format!("{head}if ({}) ", self.expr(*condition));
                self.statement(&text, then);
                if let Some(otherwise) = otherwise {
                    self.statement("else ", otherwise);
                }
            }
            StmtKind::Switch { value, cases } => self.switch(head, *value, cases),
            StmtKind::Return(None) => self.line(&format!("{head}return;")),
            StmtKind::Return(Some(value)) => self.line(&format!("{head}return {};", self.expr(*value))),
            StmtKind::Exit => self.line(&format!("{head}exit;")),
        }
    }

    fn switch(&mut self, head: &str, value: ExprId, cases: &[SwitchCase]) {
        let text = format!("{head}switch ({}) ", self.expr(value));
        self.braces(&text, "", |printer| {
            for case in cases {
                let label = match case.label {
                    SwitchLabel::Default(_) => "default".to_owned(),
                    SwitchLabel::Value(value) => printer.expr(value),
                };
                match &case.body {
                    Some(body) => {
                        let annotations = printer.annotations(&body.annotations);
                        let body = Block { annotations: Vec::new(), ..body.clone() };
                        printer.block(&format!("{label}: {annotations}"), &body);
                    }
                    None => printer.line(&format!("{label}:")),
                }
            }
        });
    }

    pub(super) fn state(&mut self, head: &str, state: &StateDecl) {
        self.braces(head, "", |printer| {
            for statement in &state.statements {
                printer.statement("", statement);
            }
            match &state.transition {
                None => {}
                Some(Transition::Direct(next)) => {
                    printer.line(&format!("transition {};", printer.text(*next)))
                }
                Some(Transition::Select(select)) => {
                    let text = format!("transition select({}) ", printer.exprs(&select.keys));
                    printer.braces(&text, "", |printer| {
                        for case in &select.cases {
                            let text = format!("{}: {};", printer.keys(&case.keys), printer.text(case.next));
                            printer.line(&text);
                        }
                    });
                }
            }
        });
    }

    pub(super) fn keys(&self, keys: &[ExprId]) -> String {
        match keys {
            [single] => self.expr(*single),
            several => format!("({})", self.exprs(several)),
        }
    }
}
