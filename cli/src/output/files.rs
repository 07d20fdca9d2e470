//! Output files, which appear complete or not at all, and their manifest.

use crate::console::fail::Failure;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sluice_charts::LineChart;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under construction; it gets its name when it is finished.
pub(crate) struct Pending {
    file: NamedTempFile,
    path: PathBuf,
}

impl Pending {
    /// Creates a file that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<Pending, Failure> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, &e))?;
        let file = NamedTempFile::new_in(folder).map_err(|e| Failure::file("write into", folder, &e))?;
        Ok(Pending { file, path: path.to_owned() })
    }

    /// Returns the writer of the file.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        self.file.as_file_mut()
    }

    /// Returns another handle of the file, for writers that own one.
    pub(crate) fn handle(&self) -> Result<std::fs::File, Failure> {
        self.file.as_file().try_clone().map_err(|e| Failure::file("write", &self.path, &e))
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let path = self.path;
        let error = |e: &std::io::Error| Failure::file("write", &path, e);
        // Temporary files are private; results are readable for all users who may read the folder.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(0o644);
            self.file.as_file().set_permissions(mode).map_err(|e| error(&e))?;
        }
        self.file.persist(&path).map(|_| ()).map_err(|e| error(&e.error))
    }
}

/// Writes a file with this text.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = Pending::create(path)?;
    file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", path, &e))?;
    file.finish()
}

/// The files that a command writes into an output folder.
pub(crate) struct Folder {
    /// Name of the command. Other commands may write into the same folder.
    command: &'static str,
    pending: Vec<Pending>,
    listed: Vec<Listed>,
}

/// The list of the files in an output folder, `sluice.manifest/1`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Manifest {
    schema: String,
    files: Vec<Listed>,
}

/// A file of the list. Every file that this version lists has all keys; other lists may lack some.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Listed {
    file: String,
    schema: String,
    /// The content, in words.
    what: String,
    command: Option<String>,
}

/// Name of the list of files.
const MANIFEST: &str = "manifest.json";
const SCHEMA: &str = "sluice.manifest/1";

impl Folder {
    /// Starts the files of a command.
    pub(crate) fn of(command: &'static str) -> Folder {
        Folder { command, pending: Vec::new(), listed: Vec::new() }
    }

    /// Adds a file with this text.
    pub(crate) fn text(
        &mut self,
        dir: &Path,
        name: &str,
        schema: &str,
        what: &str,
        text: &str,
    ) -> Result<(), Failure> {
        let mut file = Pending::create(&dir.join(name))?;
        file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", &dir.join(name), &e))?;
        self.add(file, name, schema, what);
        Ok(())
    }

    /// Adds a chart, unless this build draws none.
    pub(crate) fn chart(
        &mut self,
        dir: &Path,
        name: &str,
        schema: &str,
        what: &str,
        chart: &LineChart,
    ) -> Result<(), Failure> {
        if !LineChart::IS_DRAWN {
            return Ok(());
        }
        self.text(dir, name, schema, what, &chart.svg()?)
    }

    /// Adds a file that is written already.
    pub(crate) fn add(&mut self, file: Pending, name: &str, schema: &str, what: &str) {
        self.pending.push(file);
        self.listed.push(self.row(name, schema, what));
    }

    fn row(&self, name: &str, schema: &str, what: &str) -> Listed {
        let [file, schema, what] = [name, schema, what].map(str::to_owned);
        Listed { file, schema, what, command: Some(self.command.to_owned()) }
    }

    /// Gives all files their names, the manifest last. Files of an earlier run of the same command that this run did not write
    /// are removed, which a note on stderr says; those of other commands stay, and stay in the manifest.
    pub(crate) fn finish(mut self, dir: &Path) -> Result<(), Failure> {
        let (stale, mut files) = self.earlier(dir);
        files.extend(self.listed.iter().filter(|listed| listed.file != MANIFEST).cloned());
        let what = "this list";
        files.push(self.row(MANIFEST, SCHEMA, what));
        let text = pretty(&Manifest { schema: SCHEMA.to_owned(), files });
        self.text(dir, MANIFEST, SCHEMA, what, &text)?;
        self.pending.into_iter().try_for_each(Pending::finish)?;
        let mut removed = Vec::new();
        for name in stale {
            let path = dir.join(&name);
            match std::fs::remove_file(&path) {
                Ok(()) => removed.push(name),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(Failure::file("remove", &path, &e)),
            }
        }
        if !removed.is_empty() {
            let (names, dir) = (removed.join(", "), dir.display());
            crate::console::terminal::note(format_args!(
                "note: removed files of an earlier run from {dir}: {names}\n"
            ));
        }
        Ok(())
    }

    /// Returns what the manifest in the folder lists and this run does not write: names of files of this command, and the rows
    /// of files of other commands.
    fn earlier(&self, dir: &Path) -> (Vec<String>, Vec<Listed>) {
        let text = std::fs::read_to_string(dir.join(MANIFEST)).unwrap_or_default();
        let manifest: Manifest = serde_json::from_str(&text).unwrap_or_default();
        let files = if manifest.schema == SCHEMA { manifest.files } else { Vec::new() };
        let (mut stale, mut kept) = (Vec::new(), Vec::new());
        // A manifest names files of its own folder only.
        for listed in files.into_iter().filter(|listed| is_file_name(&listed.file)) {
            if listed.file == MANIFEST || self.listed.iter().any(|new| new.file == listed.file) {
                continue;
            }
            match &listed.command {
                Some(command) if command != self.command => kept.push(listed),
                _ => stale.push(listed.file),
            }
        }
        (stale, kept)
    }
}

/// Returns true if a text is the name of a file, without folders.
fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(part)), None) if part == name)
}

/// Returns the path of a switch's file, `STEM.SWITCH.EXTENSION`, next to `path`.
pub(crate) fn beside(path: &Path, switch: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or("pcapng".into(), |e| e.to_string_lossy());
    path.with_file_name(format!("{stem}.{switch}.{extension}"))
}

/// Returns JSON for files: indented, keys in alphabetical order, with a final newline.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    format!("{:#}\n", json!(value))
}
