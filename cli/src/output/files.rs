//! Output files, which appear complete or not at all, and their manifest.

use crate::console::fail::Failure;
use crate::console::text_file;
use crate::output::digest::sha256_of_file;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sluice_charts::LineChart;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use tempfile::NamedTempFile;

/// Returns the path of a file in an output folder. This is the gate for names that come from inputs, such as those of switches: a
/// name may have folders, but does not lead out of `dir`, and is not hidden.
pub(crate) fn in_folder(dir: &Path, name: &str) -> Result<PathBuf, Failure> {
    let plain = |part: Component<'_>| match part {
        Component::Normal(part) => !part.to_string_lossy().starts_with('.'),
        _ => false,
    };
    let path = Path::new(name);
    let whole = name.split('/').all(|part| !part.is_empty());
    if whole && path.components().all(plain) && !name.contains(|c: char| c.is_control() || c == '\\') {
        return Ok(dir.join(path));
    }
    let text = format!("`{}` cannot name a file in {}", name.escape_debug(), dir.display());
    let help = "a name in an input becomes that of a file: use letters, digits, `-`, `_` and `.`, not first";
    Err(Failure::with_help(text, help))
}

/// A file under construction; it gets its name when it is finished. It is locked, so that later runs can tell files of runs that are
/// dead.
pub(crate) struct Pending {
    file: NamedTempFile,
    path: PathBuf,
}

impl Pending {
    /// Creates a file that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<Pending, Failure> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, &e))?;
        remove_dead(folder);
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder);
        let file = file.map_err(|e| Failure::file("write into", folder, &e))?;
        // Without locks, as on some network file systems, files of dead runs stay.
        let _ = file.as_file().try_lock();
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

/// Beginning and end of the names of files under construction.
const PREFIX: &str = ".sluice-";
const SUFFIX: &str = ".tmp";

/// Folders from which this process has removed the files of dead runs.
static CLEANED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes files under construction that no process holds, once for each folder.
fn remove_dead(folder: &Path) {
    let Ok(mut cleaned) = CLEANED.lock() else { return };
    if !cleaned.insert(folder.to_owned()) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if ours
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            // Another process may have removed it.
            let _ = std::fs::remove_file(entry.path());
        }
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
    /// SHA-256 of the content; the list itself has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    sha256: String,
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
        let path = in_folder(dir, name)?;
        let mut file = Pending::create(&path)?;
        file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", &path, &e))?;
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
        Listed { file, schema, what, command: Some(self.command.to_owned()), sha256: String::new() }
    }

    /// Gives all files their names, the manifest last. Files of an earlier run of the same command that this run did not write
    /// are removed, which a note on stderr says; those of other commands stay, and stay in the manifest. A file that Sluice did not
    /// write, or that was changed since, is neither replaced nor removed.
    pub(crate) fn finish(mut self, dir: &Path) -> Result<(), Failure> {
        let known = Manifest::in_folder(dir);
        for file in &self.pending {
            known.check_ours(dir, &file.path)?;
        }
        known.check_ours(dir, &dir.join(MANIFEST))?;
        for (listed, file) in self.listed.iter_mut().zip(&self.pending) {
            let digest = sha256_of_file(file.file.path());
            listed.sha256 = digest.map_err(|e| Failure::file("read", file.file.path(), &e))?;
        }
        let (stale, mut files) = self.earlier(known);
        let stale = stale.into_iter().filter(|listed| listed.is_ours(dir)).map(|listed| listed.file);
        files.extend(self.listed.iter().filter(|listed| listed.file != MANIFEST).cloned());
        let what = "this list";
        files.push(self.row(MANIFEST, SCHEMA, what));
        let text = pretty(&Manifest { schema: SCHEMA.to_owned(), files });
        self.text(dir, MANIFEST, SCHEMA, what, &text)?;
        self.pending.into_iter().try_for_each(Pending::finish)?;
        let mut removed = Vec::new();
        for name in stale {
            let path = in_folder(dir, &name)?;
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

    /// Returns what the manifest of the folder lists and this run does not write: files of this command, and of other commands.
    fn earlier(&self, manifest: Manifest) -> (Vec<Listed>, Vec<Listed>) {
        let (mut stale, mut kept) = (Vec::new(), Vec::new());
        for listed in manifest.files {
            if listed.file == MANIFEST || self.listed.iter().any(|new| new.file == listed.file) {
                continue;
            }
            match &listed.command {
                Some(command) if command != self.command => kept.push(listed),
                _ => stale.push(listed),
            }
        }
        (stale, kept)
    }
}

impl Manifest {
    /// Returns the manifest of a folder; an empty one if there is none.
    fn in_folder(dir: &Path) -> Manifest {
        let text = text_file::text(dir.join(MANIFEST)).unwrap_or_default();
        let mut manifest: Manifest = serde_json::from_str(&text).unwrap_or_default();
        let current = manifest.schema == SCHEMA;
        // A manifest names files of its own folder only.
        manifest.files.retain(|listed| current && in_folder(dir, &listed.file).is_ok());
        manifest
    }

    /// Checks that nobody but Sluice wrote the file at `path`, if there is one.
    fn check_ours(&self, dir: &Path, path: &Path) -> Result<(), Failure> {
        let free = std::fs::symlink_metadata(path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound);
        let listed = self.files.iter().find(|listed| dir.join(&listed.file) == path);
        let is_list = path == dir.join(MANIFEST) && self.schema == SCHEMA;
        if free || is_list || listed.is_some_and(|listed| listed.is_ours(dir)) {
            return Ok(());
        }
        let why = if listed.is_some() { "was changed since Sluice wrote it" } else { "is not of Sluice" };
        let text = format!("{} {why} and is not replaced", path.display());
        Err(Failure::with_help(text, "move it away, or name another folder with -o"))
    }
}

impl Listed {
    /// Returns true if the file is there as Sluice wrote it.
    fn is_ours(&self, dir: &Path) -> bool {
        sha256_of_file(&dir.join(&self.file)).is_ok_and(|found| found == self.sha256)
    }
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
