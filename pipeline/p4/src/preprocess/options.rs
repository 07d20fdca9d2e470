//! What the caller chooses: the chip, `-D`, `-U` and `-include`.

use sluice_asic::intrinsic::Architecture;

/// A `-D` or `-U`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Define {
    /// `-D TEXT`: `NAME`, which is defined as 1, `NAME=VALUE` or `NAME(PARAMS)=VALUE`.
    Define(String),
    /// `-U NAME`
    Undefine(String),
}

/// Options of the preprocessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The architecture of the chip: `__TARGET_TOFINO__` is 1 for Tofino, and 2 for Tofino 2.
    pub chip: Architecture,
    /// `-D` and `-U`, in order.
    pub defines: Vec<Define>,
    /// Files of `-include`, which are read before the root file, in order.
    pub includes: Vec<String>,
}

/// No definitions, and Tofino 2.
impl Default for Options {
    fn default() -> Options {
        Options { chip: Architecture::T2na, defines: Vec::new(), includes: Vec::new() }
    }
}

impl Options {
    /// Returns names and texts of what is defined before the first file: the macros of the vendor's compiler, and `-D` and `-U`.
    pub(super) fn prologues(&self) -> [(&'static str, String); 2] {
        [("<predefined>", self.predefined()), ("<command line>", self.command_line())]
    }

    fn predefined(&self) -> String {
        let target = match self.chip {
            Architecture::Tna => 1,
            Architecture::T2na => 2,
        };
        format!(
            "#define __TARGET_TOFINO__ {target}\n\
             #define __p4c__ 1\n\
             #define __p4c_major__ 9\n\
             #define __p4c_minor__ 13\n\
             #define __p4c_patchlevel__ 4\n\
             #define __p4c_version__ \"9.13.4\"\n"
        )
    }

    fn command_line(&self) -> String {
        let line = |define: &Define| match define {
            Define::Define(text) => match text.split_once('=') {
                Some((name, value)) => format!("#define {} {}\n", one_line(name), one_line(value)),
                None => format!("#define {} 1\n", one_line(text)),
            },
            Define::Undefine(name) => format!("#undef {}\n", one_line(name)),
        };
        self.defines.iter().map(line).collect()
    }
}

/// Returns a text without ends of lines, so that it stays in one directive.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
