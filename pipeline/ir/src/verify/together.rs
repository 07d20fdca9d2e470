//! Groups of ports that must be in one pipe.

use super::Diag;
use crate::Program;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for (n, t) in p.together.iter().enumerate() {
        let mut error = |text: String, help: &str| d.push(Diag::error(t.loc, text).help(help));
        let name = &t.name;
        if t.registers.is_empty() {
            error(format!("together `{name}` names no register"), "name the state that must see the ports");
        }
        if t.ports.len() < 2 {
            let text = format!("together `{name}` names {}", super::count(t.ports.len(), "port"));
            error(text, "name at least two, or leave it out");
        }
        if let Some(port) = t.ports.iter().enumerate().find(|(i, p)| t.ports[..*i].contains(p)) {
            error(format!("together `{name}` names port {} twice", port.1), "name it once");
        }
        if t.doc.trim().is_empty() {
            let help = "write a doc comment: what is compared or added up over the ports";
            error(format!("together `{name}` has no reason"), help);
        }
        if p.together[..n].iter().any(|other| other.name == *name) {
            error(format!("two groups of ports are named `{name}`"), "rename one of them");
        }
    }
}
