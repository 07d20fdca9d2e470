//! Output files, which appear complete or not at all, and their manifest.

use crate::console::fail::Failure;
use crate::console::plain::plain as shown;
use crate::console::text_file;
use crate::output::digest::sha256_of_file;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sluice_charts::LineChart;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use tempfile::NamedTempFile;

/// Most bytes of a file's name, on all common file systems.
const LONGEST_NAME: usize = 255;

/// Returns the path of a file in an output folder. This is the gate for names that come from inputs, such as those of switches: a
/// name may have folders, but does not lead out of `dir`, is not hidden, and shows what it is.
pub(crate) fn in_folder(dir: &Path, name: &str) -> Result<PathBuf, Failure> {
    let plain = |part: Component<'_>| match part {
        Component::Normal(part) => !part.to_string_lossy().starts_with('.') && part.len() <= LONGEST_NAME,
        _ => false,
    };
    let path = Path::new(name);
    let whole = name.split('/').all(|part| !part.is_empty());
    let readable = !name.contains(|c: char| c.is_control() || c == '\\') && shown(name) == name;
    if whole && readable && path.components().all(plain) {
        return Ok(dir.join(path));
    }
    let text = format!("`{}` cannot name a file in {}", name.escape_debug(), dir.display());
    let help = "a name in an input becomes that of a file: use at most 255 letters, digits, `-`, `_`, `.`, not first";
    Err(Failure::with_help(text, help))
}

/// Returns this name, or the name with a number in front of its ending if it is `taken`, and takes it. Names that come from inputs may
/// become one, such as the ids `a/b` and `a-b`. Names that differ in case alone count as one, as they do on some file systems.
pub(crate) fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !ending.contains('/') => (stem, format!(".{ending}")),
        _ => (name, String::new()),
    };
    let numbered = (2_u64..).map(|number| format!("{stem}.{number}{ending}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default()
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

/// Returns a file under construction with this text.
fn holding(path: &Path, text: &str) -> Result<Pending, Failure> {
    let mut file = Pending::create(path)?;
    file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", path, &e))?;
    Ok(file)
}

/// Writes a file with this text.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    holding(path, text)?.finish()
}

/// The files that a command writes into an output folder.
pub(crate) struct Folder {
    dir: PathBuf,
    /// Name of the command. Other commands may write into the same folder.
    command: &'static str,
    /// Names of the files that the command may write; `*` stands for any text.
    names: Vec<String>,
    pending: Vec<Pending>,
    listed: Vec<Listed>,
    /// Names of the files, and of the list, in lower case.
    taken: BTreeSet<String>,
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
pub(crate) const MANIFEST: &str = "manifest.json";
const SCHEMA: &str = "sluice.manifest/1";

impl Folder {
    /// Opens the output folder of a command, before the command's work. `names` are those of the files that the command may write.
    /// `*` stands for any text in a name without `/`; a name with `/` at its end is that of a folder in which the command keeps
    /// files that are not listed.
    ///
    /// # Errors
    /// If a file would be replaced that Sluice did not write, or that was changed since, or the folder cannot be written.
    pub(crate) fn open(
        command: &'static str,
        dir: &Path,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Folder, Failure> {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.push(MANIFEST.to_owned());
        let known = Manifest::in_folder(dir);
        let found = probe(dir)?;
        let mut refused = BTreeSet::new();
        for name in &names {
            if let Some(kept) = name.strip_suffix('/') {
                let path = in_folder(dir, kept)?;
                let other = path.exists() && !path.is_dir();
                refused.extend(other.then(|| format!("{} is not a folder", path.display())));
            } else if name.contains('*') {
                let fitting = found.iter().filter(|found| fits(name, found));
                refused.extend(fitting.filter_map(|name| known.refusal(dir, &dir.join(name))));
            } else {
                refused.extend(known.refusal(dir, &in_folder(dir, name)?));
            }
        }
        not_replaced(refused.into_iter().collect())?;
        let taken = BTreeSet::from([MANIFEST.to_owned()]);
        Ok(Folder { dir: dir.to_owned(), command, names, pending: Vec::new(), listed: Vec::new(), taken })
    }

    /// Opens the folder that a command was given with `-o`; `None` without one. See [`Folder::open`].
    pub(crate) fn asked(
        command: &'static str,
        dir: Option<&PathBuf>,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Option<Folder>, Failure> {
        dir.map(|dir| Folder::open(command, dir, names)).transpose()
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        in_folder(&self.dir, name)
    }

    /// Adds a file with this text.
    pub(crate) fn text(&mut self, name: &str, schema: &str, what: &str, text: &str) -> Result<(), Failure> {
        let file = holding(&self.path(name)?, text)?;
        self.add(file, name, schema, what);
        Ok(())
    }

    /// Adds a chart, unless this build draws none.
    pub(crate) fn chart(
        &mut self,
        name: &str,
        schema: &str,
        what: &str,
        chart: &LineChart,
    ) -> Result<(), Failure> {
        if !LineChart::IS_DRAWN {
            return Ok(());
        }
        self.text(name, schema, what, &chart.svg()?)
    }

    /// Adds a file that is written already. If another file has the name, the file gets one with a number.
    pub(crate) fn add(&mut self, mut file: Pending, name: &str, schema: &str, what: &str) {
        debug_assert!(
            self.names.iter().any(|known| fits(known, name)),
            "{}: {name} was not checked when the folder was opened",
            self.command
        );
        let name = free_name(name, &mut self.taken);
        file.path.set_file_name(Path::new(&name).file_name().unwrap_or_default());
        self.pending.push(file);
        self.listed.push(self.row(&name, schema, what));
    }

    fn row(&self, name: &str, schema: &str, what: &str) -> Listed {
        let [file, schema, what] = [name, schema, what].map(str::to_owned);
        Listed { file, schema, what, command: Some(self.command.to_owned()), sha256: String::new() }
    }

    /// Gives all files their names, the manifest last. Files of an earlier run of the same command that this run did not write
    /// are removed, which a note on stderr says; those of other commands stay, and stay in the manifest. A file that Sluice did not
    /// write, or that was changed since, is neither replaced nor removed.
    ///
    /// # Errors
    /// If a file of that kind appeared after the folder was opened. All other files are written.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let dir = self.dir.clone();
        let known = Manifest::in_folder(&dir);
        let mut refused = Vec::new();
        let files = std::mem::take(&mut self.pending).into_iter().zip(std::mem::take(&mut self.listed));
        for (file, mut listed) in files {
            if let Some(why) = known.refusal(&dir, &file.path) {
                refused.push(why);
                continue;
            }
            let digest = sha256_of_file(file.file.path());
            listed.sha256 = digest.map_err(|e| Failure::file("read", file.file.path(), &e))?;
            self.pending.push(file);
            self.listed.push(listed);
        }
        let (stale, mut files) = self.earlier(&known);
        let stale: Vec<String> =
            stale.into_iter().filter(|listed| listed.is_ours(&dir)).map(|listed| listed.file).collect();
        match known.refusal(&dir, &dir.join(MANIFEST)) {
            Some(why) => refused.push(why),
            None => {
                files.extend(self.listed.iter().cloned());
                let what = "this list";
                files.push(self.row(MANIFEST, SCHEMA, what));
                let text = pretty(&Manifest { schema: SCHEMA.to_owned(), files });
                self.pending.push(holding(&dir.join(MANIFEST), &text)?);
            }
        }
        self.pending.into_iter().try_for_each(Pending::finish)?;
        remove_stale(&dir, stale)?;
        not_replaced(refused)
    }

    /// Returns what the manifest of the folder lists and this run does not write: files of this command, and of other commands.
    fn earlier(&self, manifest: &Manifest) -> (Vec<Listed>, Vec<Listed>) {
        let (mut stale, mut kept) = (Vec::new(), Vec::new());
        for listed in manifest.files.iter().cloned() {
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

    /// Returns why the file at `path` is not replaced; `None` if there is no file, or it is as Sluice wrote it.
    fn refusal(&self, dir: &Path, path: &Path) -> Option<String> {
        let free = std::fs::symlink_metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound);
        let listed = self.files.iter().find(|listed| dir.join(&listed.file) == path);
        let is_list = path == dir.join(MANIFEST) && self.schema == SCHEMA;
        if free || is_list || listed.is_some_and(|listed| listed.is_ours(dir)) {
            return None;
        }
        let why = if listed.is_some() { "was changed since Sluice wrote it" } else { "is not of Sluice" };
        Some(format!("{} {why} and is not replaced", path.display()))
    }
}

/// Returns the failure of files that are not replaced, unless there are none.
fn not_replaced(why: Vec<String>) -> Result<(), Failure> {
    match why.len() {
        0 => Ok(()),
        _ => Err(Failure::with_help(why.join("\n"), "move it away, or name another folder with -o")),
    }
}

/// Checks that an output folder, which need not exist, can be written, and returns the names of what is in the folder.
fn probe(dir: &Path) -> Result<Vec<String>, Failure> {
    let there = dir.ancestors().map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
    let there = there.into_iter().find(|dir| dir.exists()).unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(there);
    drop(file.map_err(|e| Failure::file("write into", there, &e))?);
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Returns true if a name fits a pattern, in which `*` stands for any text without `/`.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    let Some(mut rest) = rest.strip_suffix(end).filter(|_| !name.contains('/')) else { return false };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// Removes files of an earlier run, and says so.
fn remove_stale(dir: &Path, stale: Vec<String>) -> Result<(), Failure> {
    let mut removed = Vec::new();
    for name in stale {
        let path = in_folder(dir, &name)?;
        match std::fs::remove_file(&path) {
            Ok(()) => removed.push(name),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_star_stands_for_any_text_of_one_name() {
        let fitting = ["a.b.csv", "a..csv", "a.b.c.csv"];
        assert!(fitting.iter().all(|name| fits("a.*.csv", name)));
        let others = ["a.csv", "b.a.x.csv", "a.b.csv.old", "a.b/c.csv"];
        assert!(!others.iter().any(|name| fits("a.*.csv", name)));
        assert!(fits("*.*.svg", "run.x.svg") && !fits("*.*.svg", "run.svg"));
        assert!(fits("a/b.csv", "a/b.csv") && !fits("a/b.csv", "a/b.csvx"));
    }

    #[test]
    fn a_file_that_appears_during_the_work_is_not_replaced_and_the_others_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::open("test", dir.path(), ["a.txt", "b.txt"]).unwrap();
        folder.text("a.txt", "text/plain", "a", "new").unwrap();
        folder.text("b.txt", "text/plain", "b", "new").unwrap();
        fs::write(dir.path().join("a.txt"), "mine").unwrap();
        let error = folder.finish().unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().matches("a.txt is not of Sluice and is not replaced").count()),
            (2, 1)
        );
        let text = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!((text("a.txt"), text("b.txt")), ("mine".to_owned(), "new".to_owned()));
        assert!(text(MANIFEST).contains("\"b.txt\"") && !text(MANIFEST).contains("\"a.txt\""));
    }

    #[test]
    fn a_folder_of_kept_files_has_a_free_name() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Folder::open("test", dir.path(), ["runs/"]).map(|_| ());
        fs::create_dir(dir.path().join("runs")).unwrap();
        open().unwrap();
        fs::remove_dir(dir.path().join("runs")).unwrap();
        fs::write(dir.path().join("runs"), "mine").unwrap();
        assert!(open().unwrap_err().to_string().ends_with("runs is not a folder"));
    }
}
