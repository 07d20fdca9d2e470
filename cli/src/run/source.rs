//! Reads files of scenarios and the buffer profiles that they name; some of both come with Sluice.

use crate::console::fail::{Failure, reason};
use crate::console::terminal;
use crate::console::text_file::{self, read_text};
use crate::open::buffer_profile;
use crate::open::named::line_of_name;
use sluice_asic::chip::ChipSpec;
use sluice_asic::names::did_you_mean;
use sluice_asic::tm::buffer::BufferFile;
use sluice_scenario::{ScenarioFile, shipped};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A file of scenarios.
pub(super) struct Source {
    pub(super) file: ScenarioFile,
    text: String,
    /// Folder of the file, in which the profiles that it names are searched.
    folder: Option<PathBuf>,
    /// Sentences about profiles that were printed.
    said: Mutex<BTreeSet<String>>,
}

impl Source {
    /// Reads the files of these paths; without paths, returns all that come with Sluice.
    pub(super) fn all(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
        if paths.is_empty() {
            let shipped = shipped::FILES.iter();
            return shipped.map(|(name, text)| Source::parse(name, text, None)).collect();
        }
        let read = |path: &PathBuf| {
            let text = read_text(path)?;
            Source::parse(&path.display().to_string(), &text, path.parent())
        };
        paths.iter().map(read).collect()
    }

    fn parse(origin: &str, text: &str, folder: Option<&Path>) -> Result<Source, Failure> {
        let file = ScenarioFile::parse(origin, text).map_err(Failure::input)?;
        if file.scenario.is_empty() && file.skip.is_empty() {
            return Err(Failure::with_help(
                format!(
                    "{origin}:1: no scenario; expected [[scenario]], or [workload] and [[program]] of a contest"
                ),
                "docs/scenario-files.md and docs/contest.md have an example of each",
            ));
        }
        let (text, folder) = (text.to_owned(), folder.map(Path::to_owned));
        Ok(Source { file, text, folder, said: Mutex::default() })
    }

    /// Returns the text of a profile: one that comes with Sluice, or a file in the folder of the scenarios. Prints whose memory files
    /// of SONiC are read over. An error has the line that names the profile.
    pub(super) fn profile(&self, name: &str) -> Result<String, String> {
        let line =
            |e: String| line_of_name(&self.text, name).map_or(e.clone(), |line| format!("line {line}: {e}"));
        let text = profile(name, self.folder.as_deref()).map_err(line)?;
        // A profile from files of SONiC begins with its notes.
        let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
        if let Some(line) = buffer_profile::whose_memory(first) {
            let line = format!("buffer {name}: {line}\n");
            let is_new = self.said.lock().is_ok_and(|mut said| said.insert(line.clone()));
            if is_new {
                terminal::note(line);
            }
        }
        Ok(text)
    }
}

/// Returns the text of a profile: one that comes with Sluice, or a file in a folder.
pub(super) fn profile(name: &str, folder: Option<&Path>) -> Result<String, String> {
    if let Some(text) = shipped::profile(name) {
        return Ok(text.to_owned());
    }
    let names = BufferFile::names().chain(["a"]).collect::<Vec<_>>();
    let known = format!("profiles are {}, a TOML file, or files of SONiC joined by `+`", names.join(", "));
    if name.split('+').any(buffer_profile::is_of_sonic) {
        let folder = folder.unwrap_or(Path::new(""));
        let file = buffer_profile::profile(name, &ChipSpec::tofino2(), folder, None);
        return file.map_err(|e| e.to_string())?.to_toml().map_err(|e| e.to_string());
    }
    let folder = folder.filter(|_| name.ends_with(".toml"));
    let folder = folder.ok_or_else(|| {
        format!("there is no buffer profile `{name}`{} ({known})", did_you_mean(name, names))
    })?;
    let path = folder.join(name);
    text_file::text(&path).map_err(|e| format!("cannot read {}: {}; {known}", path.display(), reason(&e)))
}
