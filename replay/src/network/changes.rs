//! Parses operations during the run of a network: lines as for one switch, with the switch after the time.

use sluice_asic::units::Time;
use sluice_control::lines;
use sluice_control::{ControlOp, EntryError};
use sluice_fabric::network::{NetworkSetup, SwitchId, SwitchSetup};

/// Name for all switches that run the program.
const ALL: &str = "*";

/// Parses operations for switches of a network, such as `@1.5ms leaf0 table_delete ipv4_route 3`. In the place of a switch,
/// `*` names all switches that run `program`. `origin` is the name of the text in errors.
///
/// # Errors
/// All errors in the text, in order of lines.
pub fn parse_changes(
    text: &str,
    origin: &str,
    network: &NetworkSetup,
    program: &str,
) -> Result<Vec<(SwitchId, Time, ControlOp)>, Vec<EntryError>> {
    let (texts, mut errors) = split(text, origin, network, program);
    let mut all = Vec::new();
    for (id, (switch, text)) in (0..).map(SwitchId).zip(network.switches.iter().zip(texts)) {
        let program = &switch.placed.program;
        let script = lines::parse_changes_on(program, &switch.ports, &text, origin)
            .and_then(|script| script.check(program, &switch.control).map(|()| script));
        match script {
            Ok(script) => all.extend(script.ops.into_iter().map(|s| (id, Time::ORIGIN + s.at, s.op))),
            Err(wrong) => errors.extend(
                wrong
                    .into_iter()
                    .map(|e| EntryError { text: format!("switch `{}`: {}", switch.name, e.text), ..e }),
            ),
        }
    }
    if !errors.is_empty() {
        errors.sort_by_key(|e| e.line);
        return Err(errors);
    }
    // The sort is stable, and operations of one switch are in order already.
    all.sort_by_key(|(_, time, _)| *time);
    Ok(all)
}

/// Returns the lines of each switch at their places in the text, without the name of the switch; lines of other switches are
/// empty.
fn split(text: &str, origin: &str, network: &NetworkSetup, program: &str) -> (Vec<String>, Vec<EntryError>) {
    let mut texts = vec![String::new(); network.switches.len()];
    let mut errors = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let words = text.split('#').next().unwrap_or("").trim();
        let (time, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let (name, command) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let mine = |s: &SwitchSetup| match name {
            ALL => s.placed.program.name == program,
            name => s.name == name,
        };
        if !words.is_empty() && !network.switches.iter().any(mine) {
            let text = match name {
                "" => format!("`{words}` names no switch"),
                ALL => format!("no switch runs `{program}`"),
                name => format!("there is no switch `{name}`"),
            };
            let help = "write the switch after the time, as in `@1.5ms leaf0 table_delete ..`; `*` is all switches that run the \
                        program";
            errors.push(EntryError { origin: origin.to_owned(), line, text, help: help.to_owned() });
        }
        for (text, switch) in texts.iter_mut().zip(&network.switches) {
            if !words.is_empty() && mine(switch) {
                text.push_str(&format!("{time} {command}"));
            }
            text.push('\n');
        }
    }
    (texts, errors)
}
