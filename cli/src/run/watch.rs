//! `--timelines`: contents of each device during its scenario.

use crate::console::fail::Failure;
use crate::output::files::{Folder, Pending, in_folder};
use crate::output::rows::Format;
use crate::output::timeline::{Files, Target};
use clap::ValueEnum;
use sluice_scenario::{Device, Watch, Watches};
use sluice_switch::TimelineRow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Format of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    Csv,
    Parquet,
    Svg,
}

impl Form {
    pub(super) const fn ending(self) -> (&'static str, Option<Format>) {
        match self {
            Form::Csv => ("csv", Some(Format::Csv)),
            Form::Parquet => ("parquet", Some(Format::Parquet)),
            Form::Svg => ("svg", None),
        }
    }
}

/// Finished files, until the folder takes them.
pub(super) type Finished = Rc<RefCell<Vec<(Pending, PathBuf)>>>;

struct One {
    files: Files,
    finished: Finished,
}

impl Watch for One {
    fn row(&mut self, row: &TimelineRow<'_>) {
        self.files.take(row);
    }

    fn end(self: Box<Self>) -> Result<(), String> {
        let done = self.files.complete().map_err(|e| e.to_string())?;
        self.finished.borrow_mut().extend(done);
        Ok(())
    }
}

/// Returns watches that write the files of each device: `ID.PROFILE.CASE.timeline.csv`.
pub(super) fn watches(dir: &Path, forms: &[Form], finished: &Finished) -> Watches {
    let (dir, forms, finished) = (dir.to_owned(), forms.to_vec(), Rc::clone(finished));
    Box::new(move |device: Device<'_>| {
        let stem = joined(&[device.id, device.profile, device.case]);
        let target = |form: &Form| {
            let (ending, format) = form.ending();
            let name = format!("{stem}.timeline.{ending}");
            Ok(Target { path: in_folder(&dir, &name)?, format })
        };
        let targets: Result<Vec<Target>, Failure> = forms.iter().map(target).collect();
        let targets = targets.map_err(|e| e.to_string())?;
        let files = Files::create(&targets).map_err(|e| e.to_string())?;
        Ok(Box::new(One { files, finished: Rc::clone(&finished) }) as Box<dyn Watch>)
    })
}

/// Returns the names of the files of a scenario's devices; `*` stands for the case.
pub(super) fn names(id: &str, profile: &str, form: Form) -> String {
    format!("{}*.timeline.{}", joined(&[id, profile]), form.ending().0)
}

/// Returns the parts of a name that are not empty, with `.` between them.
fn joined(parts: &[&str]) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| part.replace(['/', ' '], "-"));
    parts.collect::<Vec<_>>().join(".")
}

/// Moves the finished files to the folder.
pub(super) fn hand_over(finished: &Finished, folder: &mut Folder) {
    for (file, path) in finished.borrow_mut().drain(..) {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let schema = match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => "text/csv",
            Some("svg") => "image/svg+xml",
            _ => "sluice.timeline/1",
        };
        folder.add(file, name, schema, "what the device held over time");
    }
}
