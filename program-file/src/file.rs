//! [`ProgramFile`]: a program whose definition is a text.

use crate::entries;
use crate::error::{FileError, findings, syntax};
use crate::property::FileProperty;
use crate::routes;
use sluice_asic::port::PortMap;
use sluice_build::params::{ParamError, ParamInfo};
use sluice_catalogue::position::{Neighbor, Position};
use sluice_catalogue::{ProgramError, Role, Setup, SetupError, StageProgram};
use sluice_ir::Program;
use sluice_ir::text::{FileParts, RoleDecl, RolePlace, Source, SourceParam, VERSION};
use sluice_ir::verify::{Diag, Severity, verify};
use sluice_switch::property::Property;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

/// A stage program from a file.
#[derive(Clone, Debug)]
pub struct ProgramFile {
    origin: String,
    text: String,
    source: Source,
    name: String,
    summary: String,
    parts: FileParts,
    warnings: Vec<Diag>,
}

/// Returns true if the name of a program is the name of a file: it ends in `.sluice` or `.p4`, or has a `/`.
#[must_use]
pub fn is_file(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|e| e == "sluice" || e == "p4")
}

/// Returns the same text with an endless life. Locations of a program have such a file name. A name that is read again takes
/// no more memory.
fn endless(name: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match known.get(name) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
            known.insert(name);
            name
        }
    }
}

/// Returns advice if a text is probably of another language.
fn other_language(text: &str) -> Option<&'static str> {
    let begins = |word| text.lines().any(|line: &str| line.trim_start().starts_with(word));
    if ["#include", "#define", "control ", "typedef "].into_iter().any(begins) && text.contains("packet_in") {
        return Some(
            "this is P4; a .sluice file is in Sluice's text form, which `sluice programs ecmp --ir` shows",
        );
    }
    None
}

impl ProgramFile {
    /// Reads and verifies a program. `origin` is the file name in errors and locations.
    ///
    /// # Errors
    /// If the text cannot be read, states no version or another one, or if the program with its default parameters is not
    /// legal.
    pub fn parse(origin: &str, text: &str) -> Result<ProgramFile, FileError> {
        let wrong = |error| syntax(origin, text, &error);
        let refused = |text_of: String, help: &str| {
            let at = sluice_ir::Loc { file: "", line: 1, col: 1, text: sluice_ir::SourceText::default() };
            findings(origin, text, &[Diag::error(at, text_of).help(help)])
        };
        if let Some(help) = other_language(text) {
            return Err(refused("this text is no program in Sluice's text form".to_owned(), help));
        }
        let source = Source::read(text, endless(origin)).map_err(wrong)?;
        if source.version().is_none() {
            let help = format!("write `sluice {VERSION};` as the first declaration");
            return Err(refused("the text does not state the version of the text form".to_owned(), &help));
        }
        let (program, parts) = source.build(&[]).map_err(wrong)?;
        source.check_single().map_err(wrong)?;
        if program.name.is_empty() {
            let help = "write `program NAME;` after the version";
            return Err(refused("the text does not name the program".to_owned(), help));
        }
        let mut diags = verify(&program);
        if !diags.iter().any(|diag| diag.severity == Severity::Error) {
            diags.extend(parts.routes.iter().filter_map(|routes| routes::check(&program, routes).err()));
            diags.extend(crate::property::check(&program, &parts.properties));
        }
        if diags.iter().any(|diag| diag.severity == Severity::Error) {
            return Err(findings(origin, text, &diags));
        }
        let summary = program.doc.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
        Ok(ProgramFile {
            origin: origin.to_owned(),
            text: text.to_owned(),
            source,
            name: program.name,
            summary,
            parts,
            warnings: diags,
        })
    }

    /// Reads the declarations `entries`, `routes`, `role` and `property` for a program whose text is of another language, such as
    /// P4. The text states the version, as any file does, and names tables and actions as the program does.
    ///
    /// # Errors
    /// If the text cannot be read, declares a program of its own, or does not fit the program.
    pub fn beside(origin: &str, text: &str, program: &Program) -> Result<ProgramFile, FileError> {
        let own = text.lines().zip(1..).find(|(line, _)| line.trim_start().starts_with("program "));
        if let Some((_, line)) = own {
            let at = sluice_ir::Loc { file: "", line, col: 1, text: sluice_ir::SourceText::default() };
            let diag = Diag::error(at, "the declarations beside a program declare a program themselves");
            let help = "leave only `entries`, `routes`, `role` and `property`, or give this file in place of the program";
            return Err(findings(origin, text, &[diag.help(help)]));
        }
        // The declarations come first, so that their lines are those of their file.
        let printed = sluice_ir::text::print(program).replacen(&format!("sluice {VERSION};"), "", 1);
        let whole = format!("{text}\n{printed}");
        let wrong = |error| syntax(origin, &whole, &error);
        let source = Source::read(&whole, endless(origin)).map_err(wrong)?;
        if source.version().is_none() {
            let at = sluice_ir::Loc { file: "", line: 1, col: 1, text: sluice_ir::SourceText::default() };
            let diag = Diag::error(at, "the text does not state the version of the text form");
            let help = format!("write `sluice {VERSION};` as the first declaration");
            return Err(findings(origin, text, &[diag.help(help)]));
        }
        let (read, parts) = source.build(&[]).map_err(wrong)?;
        let mut diags: Vec<Diag> =
            parts.routes.iter().filter_map(|routes| routes::check(&read, routes).err()).collect();
        diags.extend(crate::property::check(&read, &parts.properties));
        if diags.iter().any(|diag| diag.severity == Severity::Error) {
            return Err(findings(origin, &whole, &diags));
        }
        Ok(ProgramFile {
            origin: origin.to_owned(),
            name: program.name.clone(),
            summary: String::new(),
            text: whole,
            source,
            parts,
            warnings: diags,
        })
    }

    /// Returns the program under another name.
    #[must_use]
    pub fn named(self, name: &str) -> ProgramFile {
        ProgramFile { name: name.to_owned(), ..self }
    }

    /// Returns the file name in errors and locations.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the warnings of the verifier, each with its source line.
    #[must_use]
    pub fn warnings(&self) -> FileError {
        self.findings(&self.warnings)
    }

    /// Returns findings about the program, each with its source line.
    #[must_use]
    pub fn findings(&self, diags: &[Diag]) -> FileError {
        findings(&self.origin, &self.text, diags)
    }

    /// Returns the programs that roles name, each as the file spells it.
    pub fn role_programs(&self) -> impl Iterator<Item = &str> {
        self.parts.roles.iter().filter_map(|role| role.program.as_deref())
    }

    /// Gives the programs of roles other names: `names` returns the name in the catalogue for each name or file.
    pub fn rename_roles(&mut self, names: impl Fn(&str) -> Option<String>) {
        for role in &mut self.parts.roles {
            if let Some(name) = role.program.as_deref().and_then(&names) {
                role.program = Some(name);
            }
        }
    }

    fn param(&self, key: &str) -> Result<&SourceParam, ProgramError> {
        let params = self.source.params();
        if let Some(param) = params.iter().find(|param| param.key == key) {
            return Ok(param);
        }
        let recorded = || self.source.build(&[]).ok()?.0.params.into_iter().find(|param| param.key == key);
        if let Some(recorded) = recorded() {
            let text = format!(
                "the text was printed with `{key}` = `{}` and has this value wherever it is used; print the text again with \
                 --set {key}=VALUE, or declare `param {key} = NUMBER : LEAST .. GREATEST;` and use its name",
                recorded.value
            );
            return Err(ProgramError::Fixed { program: self.name.clone(), text });
        }
        if params.is_empty() {
            let text = format!(
                "the text declares no parameters, so `{key}` cannot be set; declare `param {key} = NUMBER : LEAST .. GREATEST;` \
                 and use its name"
            );
            return Err(ProgramError::Fixed { program: self.name.clone(), text });
        }
        let known: Vec<&str> = params.iter().map(|param| param.key.as_str()).collect();
        Err(ProgramError::Param { program: self.name.clone(), source: ParamError::unknown(key, &known) })
    }

    fn value(&self, key: &str, text: &str) -> Result<u128, ProgramError> {
        let param = self.param(key)?;
        let number = match text.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        };
        number.filter(|value| (param.range.0..=param.range.1).contains(value)).ok_or_else(|| {
            let (key, found, expected) = (key.to_owned(), text.to_owned(), expects(param));
            let source = ParamError::Value { key, found, expected, why: String::new() };
            ProgramError::Param { program: self.name.clone(), source }
        })
    }
}

/// Returns the values that a parameter takes, in words.
fn expects(param: &SourceParam) -> String {
    match param.range {
        (0, u128::MAX) => "a number".to_owned(),
        (least, u128::MAX) => format!("at least {least}"),
        (least, greatest) => format!("{least} to {greatest}"),
    }
}

/// Returns true if a role is for the switch at this place.
fn is_at(role: &RoleDecl, position: &Position) -> bool {
    let hosts = || position.ports.iter().any(|used| matches!(used.neighbor, Neighbor::Host(_)));
    match &role.place {
        RolePlace::Switch(name) => *name == position.name,
        RolePlace::Edge => hosts(),
        RolePlace::Core => !hosts(),
    }
}

impl StageProgram for ProgramFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn params(&self) -> Vec<ParamInfo> {
        let info = |param: &SourceParam| {
            ParamInfo::of(&param.key, &param.doc.replace('\n', " "), &expects(param), &param.default)
        };
        self.source.params().iter().map(info).collect()
    }

    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError> {
        let mut values = Vec::with_capacity(sets.len());
        for (key, value) in sets {
            values.push((key.as_str(), self.value(key, value)?));
        }
        let refused = |error: FileError| ProgramError::Text { program: self.name.clone(), text: error.text };
        let built = self.source.build(&values);
        let (mut program, _) = built.map_err(|e| refused(syntax(&self.origin, &self.text, &e)))?;
        let diags = verify(&program);
        if diags.iter().any(|diag| diag.severity == Severity::Error) {
            return Err(refused(findings(&self.origin, &self.text, &diags)));
        }
        program.name.clone_from(&self.name);
        Ok(program)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        entries::setup(&self.parts, program, ports, &self.origin)
    }

    fn role_at(&self, position: &Position) -> Role {
        let named = |role: &&RoleDecl| matches!(role.place, RolePlace::Switch(_));
        let here = || self.parts.roles.iter().filter(|role| is_at(role, position));
        let Some(role) = here().find(named).or_else(|| here().next()) else {
            return Role::new(&self.name, []);
        };
        let params = role.params.iter().map(|(key, value)| (key.as_str(), value.clone()));
        Role::new(role.program.as_deref().unwrap_or(&self.name), params)
    }

    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        if self.parts.routes.is_empty() {
            return None;
        }
        let setup = entries::setup(&self.parts, program, ports, &self.origin);
        Some(setup.map(|setup| routes::setup(&self.parts.routes, program, position, setup)))
    }

    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        let parts = self.source.params();
        let values: Vec<(&str, u128)> = program
            .params
            .iter()
            .filter(|set| parts.iter().any(|param| param.key == set.key))
            .filter_map(|set| Some((set.key.as_str(), set.value.parse().ok()?)))
            .collect();
        // The program was built from this text with these values, so the text is read without an error.
        let Ok((_, parts)) = self.source.build(&values) else { return Vec::new() };
        parts.properties.into_iter().map(|decl| FileProperty::boxed(program, decl)).collect()
    }
}
