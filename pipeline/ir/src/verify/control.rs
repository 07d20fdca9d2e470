//! Control blocks: places of tables, and forms of conditions.

use super::values::width;
use super::{Diag, Site, count};
use crate::cfg::table_actions;
use crate::{ApplyArms, Block, Cond, Expr, Loc, Program, StmtKind, Table};
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    let mut applied = BTreeMap::new();
    for gress in Gress::ALL {
        let who = format!("{gress} control");
        let site = Site { who: &who, gress: Some(gress), loc: Loc::default() };
        Check { p, d, applied: &mut applied }.block(site, &p.pipe(gress).control);
    }
    let site = Site { who: "ghost control", gress: Some(Gress::Ingress), loc: Loc::default() };
    Check { p, d, applied: &mut applied }.block(site, &p.ghost);
}

struct Check<'c> {
    p: &'c Program,
    d: &'c mut Vec<Diag>,
    applied: &'c mut BTreeMap<Table, Loc>,
}

impl Check<'_> {
    fn block(&mut self, site: Site<'_>, block: &Block) {
        for stmt in block {
            let site = Site { loc: stmt.loc, ..site };
            match &stmt.kind {
                StmtKind::Call(a) => {
                    let action = &self.p.actions[*a];
                    if !action.params.is_empty() {
                        let (who, name, n) = (site.who, &action.name, action.params.len());
                        let text =
                            format!("{who} calls action `{name}`, which has {}", count(n, "parameter"));
                        let help = "its values come from table entries: apply a table that runs it";
                        self.d.push(Diag::error(stmt.loc, text).help(help));
                    }
                }
                StmtKind::Apply(t, arms) => {
                    self.apply(*t, arms, stmt.loc);
                    self.block(site, &arms.hit);
                    self.block(site, &arms.miss);
                    for (_, block) in &arms.run {
                        self.block(site, block);
                    }
                }
                StmtKind::If(cond, then, otherwise) => {
                    self.cond(site, cond);
                    self.block(site, then);
                    self.block(site, otherwise);
                }
            }
        }
    }

    fn apply(&mut self, t: Table, arms: &ApplyArms, loc: Loc) {
        let name = &self.p.tables[t].name;
        if let Some(first) = self.applied.insert(t, loc) {
            let text = format!("table `{name}` is applied twice");
            let help = "a table is in one place of the pipe: apply it once, or declare a second table";
            self.d.push(Diag::error(loc, text).also(first, "applied here first").help(help));
        }
        let by_outcome = !arms.hit.is_empty() || !arms.miss.is_empty();
        if by_outcome && !arms.run.is_empty() {
            let text = format!("table `{name}` has both hit or miss arms and action arms");
            self.d.push(Diag::error(loc, text).help("use either hit and miss, or one arm per action"));
        }
        let possible = table_actions(self.p, t);
        for (n, (a, _)) in arms.run.iter().enumerate() {
            let action = &self.p.actions[*a].name;
            if !possible.contains(a) {
                let text =
                    format!("an arm of table `{name}` is for action `{action}`, which the table never runs");
                self.d.push(Diag::error(loc, text).help("add the action to the table or remove the arm"));
            }
            if arms.run[..n].iter().any(|(other, _)| other == a) {
                let text = format!("two arms of table `{name}` are for action `{action}`");
                self.d.push(Diag::error(loc, text).help("merge them"));
            }
        }
    }

    fn cond(&mut self, site: Site<'_>, cond: &Cond) {
        match cond {
            Cond::Cmp(op, a, b) => {
                let widths = (width(self.p, a, site, &[], self.d), width(self.p, b, site, &[], self.d));
                let who = site.who;
                let comparable = is_field(a) && (is_field(b) || matches!(b, Expr::Const(..)));
                if !comparable {
                    let text = format!(
                        "a condition of {who} compares (`{}`) values that a gateway cannot compare",
                        op.symbol()
                    );
                    let help = "the left side is a field or a slice of one, the right side a constant, field or slice";
                    self.d.push(Diag::error(site.loc, text).help(help));
                }
                if let (Some(a), Some(b)) = widths
                    && a != b
                {
                    let text = format!("a condition of {who} compares (`{}`) {a} bits with {b}", op.symbol());
                    self.d.push(Diag::error(site.loc, text).help("make both sides equally wide"));
                }
            }
            Cond::Valid(_) => {}
            Cond::Not(a) => self.cond(site, a),
            Cond::And(a, b) | Cond::Or(a, b) => {
                self.cond(site, a);
                self.cond(site, b);
            }
        }
    }
}

/// Returns true for a field, or a slice of one.
fn is_field(e: &Expr) -> bool {
    match e {
        Expr::Field(_) => true,
        Expr::Slice(inner, ..) => is_field(inner),
        Expr::Const(..) | Expr::Param(..) | Expr::Cast(..) | Expr::Alu(..) | Expr::Funnel(..) => false,
    }
}
