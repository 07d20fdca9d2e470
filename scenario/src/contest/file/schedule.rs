//! The tables `[[schedule]]`: cables that fail, degrade and return, and entries that change, at times of the run.
//!
//! The form is that of `[[event]]` in a topology file. In addition a cable's rate can change, operations can be in a file, and
//! an event can be for one program.

use serde::Deserialize;
use sluice_asic::units::Duration;
use toml::Spanned;

/// An event of the schedule.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSetting {
    /// Time of the event; times in a file count from it. 0 by default, if there is a file.
    pub at: Option<Duration>,
    /// Switches at the two ends of the cable that changes.
    pub cable: Option<[String; 2]>,
    /// Which of several cables between the two, from 0; 0 by default.
    pub number: Option<u32>,
    /// End of the cable from which the changed direction leads; both directions by default.
    pub from: Option<String>,
    /// Change of the cable.
    pub set: Option<ChangeName>,
    /// New value: a probability of loss or corruption, an extra delay, or a rate or `full`.
    pub to: Option<toml::Value>,
    /// Switch whose entries change.
    pub switch: Option<String>,
    /// Operation of the control plane, such as `table_delete ipv4_route 3`.
    pub op: Option<String>,
    /// File of operations with their times, in place of `op`.
    pub file: Option<String>,
    /// Label of the program for which the event takes place; all by default.
    pub program: Option<String>,
    /// Operations of `file`.
    #[serde(skip)]
    pub(crate) lines: Vec<(Duration, String)>,
}

/// Change of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeName {
    /// The cable fails.
    Down,
    /// The cable works again.
    Up,
    /// Sets the probability of loss.
    Loss,
    /// Sets the probability of corruption.
    Corruption,
    /// Sets the delay in addition to the cable's.
    ExtraDelay,
    /// Sets the rate at which its ends send.
    Rate,
}

impl ScheduleSetting {
    /// Takes the operations of a file: a line for each, `@TIME OPERATION`; empty lines and lines that begin with `#` are left out.
    pub(crate) fn take_lines(&mut self, name: &str, text: &str) -> Result<(), String> {
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts = line.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace));
            let (time, op) = parts.ok_or_else(|| {
                format!("{name}:{number}: `{line}`; expected `@TIME OPERATION`, such as `@1ms port_down 8`")
            })?;
            let time = time.parse().map_err(|e| format!("{name}:{number}: {e}"))?;
            self.lines.push((time, op.trim().to_owned()));
        }
        Ok(())
    }

    pub(crate) fn time(&self) -> Result<Duration, String> {
        self.at
            .or(self.file.as_ref().map(|_| Duration::ZERO))
            .ok_or_else(|| "the event has no `at`".to_owned())
    }
}

/// Reads the files of a schedule. An error has the place of the event.
pub(crate) fn open(
    schedule: &mut [Spanned<ScheduleSetting>],
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<(), (usize, String)> {
    for event in schedule {
        let at = event.span().start;
        let event = event.get_mut();
        if let Some(name) = event.file.clone() {
            let opened = read(&name).and_then(|text| event.take_lines(&name, &text));
            opened.map_err(|what| (at, what))?;
        }
    }
    Ok(())
}
