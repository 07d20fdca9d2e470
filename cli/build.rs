//! Tells the command line the SHA-256 of the sources that it is built from, by which finished runs know that they are its own.
//! It is the same on every machine.

use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Files of the repository that decide what the binary does besides those in the folders `src`.
const FILES: [&str; 3] = ["Cargo.lock", "Cargo.toml", "generated/build.rs"];

fn main() -> Result<(), Box<dyn Error>> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo tells where the crate is")?);
    let root = own.parent().ok_or("the crate is in a folder")?;
    let mut files: Vec<PathBuf> =
        FILES.iter().map(|file| root.join(file)).filter(|path| path.is_file()).collect();
    for folder in folders(root)? {
        println!("cargo:rerun-if-changed={}", folder.display());
        add_files(&folder, &mut files)?;
    }
    let mut named = Vec::new();
    for path in files {
        let name: Vec<_> = path.strip_prefix(root)?.iter().map(|part| part.to_string_lossy()).collect();
        named.push((name.join("/"), path));
    }
    named.sort();
    let mut digest = Sha256::new();
    for (name, path) in named {
        println!("cargo:rerun-if-changed={}", path.display());
        let content = fs::read(path)?;
        digest.update(format!("{name} {}\n", content.len()));
        digest.update(content);
    }
    let digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=SLUICE_SOURCES={digits}");
    Ok(())
}

/// Returns the folders `src` of the repository's crates, which are at most two levels deep.
fn folders(root: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for folder in subfolders(root)? {
        for crate_folder in std::iter::once(folder.clone()).chain(subfolders(&folder)?) {
            if crate_folder.join("Cargo.toml").is_file() && crate_folder.join("src").is_dir() {
                found.push(crate_folder.join("src"));
            }
        }
    }
    Ok(found)
}

/// Returns the folders in a folder, except for build products and hidden ones.
fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let skipped = name == "target" || name == "src" || name.to_string_lossy().starts_with('.');
        if entry.file_type()?.is_dir() && !skipped {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => add_files(&entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}
