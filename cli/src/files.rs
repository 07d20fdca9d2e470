//! Output files, which appear complete or not at all, and their manifest.

use crate::fail::Failure;
use serde_json::{Value, json};
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

/// The files of an output folder.
#[derive(Default)]
pub(crate) struct Folder {
    pending: Vec<Pending>,
    listed: Vec<Value>,
}

impl Folder {
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
        self.listed.push(json!({ "file": name, "schema": schema, "what": what }));
    }

    /// Gives all files their names, the manifest last.
    pub(crate) fn finish(mut self, dir: &Path) -> Result<(), Failure> {
        let manifest = json!({ "schema": "sluice.manifest/1", "files": self.listed });
        let text = pretty(&manifest);
        self.text(dir, "manifest.json", "sluice.manifest/1", "this list", &text)?;
        self.pending.into_iter().try_for_each(Pending::finish)
    }
}

/// Returns the path of a switch's file, `STEM.SWITCH.EXTENSION`, next to `path`.
pub(crate) fn beside(path: &Path, switch: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or("pcapng".into(), |e| e.to_string_lossy());
    path.with_file_name(format!("{stem}.{switch}.{extension}"))
}

/// Returns JSON for files: indented, with a final newline.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
