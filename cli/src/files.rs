//! Files that appear whole or not at all, and the list of them.

use crate::fail::Failure;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under construction: it gets its name when it is finished.
pub(crate) struct Pending {
    file: NamedTempFile,
    path: PathBuf,
}

impl Pending {
    /// Starts a file that will stand at `path`.
    pub(crate) fn create(path: &Path) -> Result<Pending, Failure> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, &e))?;
        let file = NamedTempFile::new_in(folder).map_err(|e| Failure::file("write into", folder, &e))?;
        Ok(Pending { file, path: path.to_owned() })
    }

    /// Where to write.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        self.file.as_file_mut()
    }

    /// Another handle on the file, for writers that want their own.
    pub(crate) fn handle(&self) -> Result<std::fs::File, Failure> {
        self.file.as_file().try_clone().map_err(|e| Failure::file("write", &self.path, &e))
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let path = self.path;
        let error = |e: &std::io::Error| Failure::file("write", &path, e);
        // Temporary files are private; results are for everyone who may read the folder.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(0o644);
            self.file.as_file().set_permissions(mode).map_err(|e| error(&e))?;
        }
        self.file.persist(&path).map(|_| ()).map_err(|e| error(&e.error))
    }
}

/// The files of an output folder.
#[derive(Default)]
pub(crate) struct Folder {
    pending: Vec<Pending>,
    listed: Vec<Value>,
}

impl Folder {
    /// Adds a finished text.
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

    /// Adds a file that is written by now.
    pub(crate) fn add(&mut self, file: Pending, name: &str, schema: &str, what: &str) {
        self.pending.push(file);
        self.listed.push(json!({ "file": name, "schema": schema, "what": what }));
    }

    /// Names all files, the manifest last.
    pub(crate) fn finish(mut self, dir: &Path) -> Result<(), Failure> {
        let manifest = json!({ "schema": "sluice.manifest/1", "files": self.listed });
        let text = pretty(&manifest);
        self.text(dir, "manifest.json", "sluice.manifest/1", "this list", &text)?;
        self.pending.into_iter().try_for_each(Pending::finish)
    }
}

/// The file of a switch beside a file of the network: its name stands before the extension.
pub(crate) fn beside(path: &Path, switch: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or("pcapng".into(), |e| e.to_string_lossy());
    path.with_file_name(format!("{stem}.{switch}.{extension}"))
}

/// JSON as it stands in files: indented, with a last newline.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
