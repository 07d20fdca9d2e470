//! [`Catalogue`]: programs by name, and the executors that run them.

use crate::program::StageProgram;
use sluice_asic::names::nearest;
use sluice_control::ControlState;
use sluice_exec::cover::Points;
use sluice_exec::engine::generated::Generated;
use sluice_exec::engine::{Engine, LowerError};
use sluice_ir::Program;
use sluice_place::Placement;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// An ordered list of programs with different names, and generated code for some of them.
///
/// A clone shares the programs with the original.
#[derive(Clone, Default)]
pub struct Catalogue {
    programs: Vec<Arc<dyn StageProgram>>,
    code: Vec<Generated>,
}

impl Catalogue {
    /// Returns a catalogue without programs and without code.
    #[must_use]
    pub fn new() -> Catalogue {
        Catalogue::default()
    }

    /// Adds a program at the end of the list. A program of the same name that is already in the list is replaced, and the
    /// new program takes its place in the order.
    #[must_use]
    pub fn with(self, program: impl StageProgram + 'static) -> Catalogue {
        self.with_shared(Arc::new(program))
    }

    /// Adds a program that has other owners too; otherwise as [`Catalogue::with`].
    #[must_use]
    pub fn with_shared(mut self, program: Arc<dyn StageProgram>) -> Catalogue {
        match self.programs.iter_mut().find(|known| known.name() == program.name()) {
            Some(known) => *known = program,
            None => self.programs.push(program),
        }
        self
    }

    /// Adds generated code, for programs of the catalogue or for programs that will be added.
    ///
    /// An engine runs generated code only for a program that lowers to the text from which the code was generated, so
    /// code of a replaced program has no effect.
    #[must_use]
    pub fn with_code(mut self, code: &[Generated]) -> Catalogue {
        self.code.extend_from_slice(code);
        self
    }

    /// Returns the programs in order.
    #[must_use]
    pub fn programs(&self) -> &[Arc<dyn StageProgram>] {
        &self.programs
    }

    /// Returns the first program, if there is any.
    #[must_use]
    pub fn first(&self) -> Option<&Arc<dyn StageProgram>> {
        self.programs.first()
    }

    /// Returns the program of this name.
    ///
    /// # Errors
    /// If the catalogue has no program of this name.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn StageProgram>, UnknownProgram> {
        self.programs.iter().find(|program| program.name() == name).ok_or_else(|| {
            let names = || self.programs.iter().map(|program| program.name());
            UnknownProgram {
                found: name.to_owned(),
                nearest: nearest(name, names()).map(str::to_owned),
                available: names().map(str::to_owned).collect(),
            }
        })
    }

    /// Returns the generated code.
    #[must_use]
    pub fn code(&self) -> &[Generated] {
        &self.code
    }

    /// Makes an engine for a placed program, which need not be of this catalogue. The engine runs generated code if the
    /// catalogue has code for exactly this program as placed; otherwise it runs step by step. Results are the same.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn engine(
        &self,
        program: &Program,
        placement: &Placement,
        control: &ControlState,
    ) -> Result<Engine, LowerError> {
        Engine::generated(program, placement, control, &self.code)
    }

    /// Makes an engine as [`Catalogue::engine`] does that also counts coverage. `points` are the coverage points of the
    /// program.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn covered(
        &self,
        program: &Program,
        placement: &Placement,
        control: &ControlState,
        points: Points,
    ) -> Result<Engine, LowerError> {
        Engine::covered(program, placement, control, points, &self.code)
    }
}

/// Lists names, because neither programs nor code can be printed.
impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let programs: Vec<&str> = self.programs.iter().map(|program| program.name()).collect();
        let code: Vec<&str> = self.code.iter().map(|code| code.program).collect();
        f.debug_struct("Catalogue").field("programs", &programs).field("code", &code).finish()
    }
}

/// A catalogue has no program of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no program `{found}`{} (programs: {})", .nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?")), .available.join(", "))]
pub struct UnknownProgram {
    /// Name that was requested.
    pub found: String,
    /// Name that was probably meant.
    pub nearest: Option<String>,
    /// Names of all programs, in order.
    pub available: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProgramError, Setup, SetupError};
    use sluice_asic::port::PortMap;
    use sluice_build::params::ParamInfo;

    /// A program whose name and summary are known only when the test runs, as those of a file are.
    struct Loaded {
        name: String,
        summary: String,
    }

    impl StageProgram for Loaded {
        fn name(&self) -> &str {
            &self.name
        }

        fn summary(&self) -> &str {
            &self.summary
        }

        fn params(&self) -> Vec<ParamInfo> {
            Vec::new()
        }

        fn build(&self, _: &[(String, String)]) -> Result<Program, ProgramError> {
            Ok(Program { name: self.name.clone(), ..Program::default() })
        }

        fn default_setup(&self, _: &Program, _: &PortMap) -> Result<Setup, SetupError> {
            Ok(Setup::default())
        }
    }

    fn loaded(name: &str, summary: &str) -> Loaded {
        Loaded { name: name.to_owned(), summary: summary.to_owned() }
    }

    fn three() -> Catalogue {
        Catalogue::new().with(loaded("hub", "1")).with(loaded("bridge", "2")).with(loaded("router", "3"))
    }

    fn names(catalogue: &Catalogue) -> Vec<&str> {
        catalogue.programs().iter().map(|program| program.name()).collect()
    }

    #[test]
    fn programs_keep_their_order_and_are_found_by_name() {
        let catalogue = three();
        assert_eq!(names(&catalogue), ["hub", "bridge", "router"]);
        assert_eq!(catalogue.first().map(|program| program.name()), Some("hub"));
        assert_eq!(catalogue.get("bridge").unwrap().summary(), "2");
        assert_eq!(
            format!("{catalogue:?}"),
            r#"Catalogue { programs: ["hub", "bridge", "router"], code: [] }"#
        );
        assert!(Catalogue::new().first().is_none());
    }

    #[test]
    fn the_later_program_of_a_name_replaces_the_earlier_one() {
        let catalogue = three().with(loaded("bridge", "new"));
        assert_eq!(names(&catalogue), ["hub", "bridge", "router"]);
        assert_eq!(catalogue.get("bridge").unwrap().summary(), "new");
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_and_the_list() {
        let error = |catalogue: Catalogue, name| catalogue.get(name).err().map(|e| e.to_string()).unwrap();
        assert_eq!(
            error(three(), "brigde"),
            "there is no program `brigde`; did you mean `bridge`? (programs: hub, bridge, router)"
        );
        assert_eq!(
            error(three(), "firewall"),
            "there is no program `firewall` (programs: hub, bridge, router)"
        );
        assert_eq!(error(Catalogue::new(), "hub"), "there is no program `hub` (programs: )");
    }

    #[test]
    fn threads_share_a_catalogue() {
        let catalogue = three();
        let found = std::thread::scope(|scope| {
            scope.spawn(|| catalogue.get("router").map(|program| program.name().to_owned())).join().unwrap()
        });
        assert_eq!(found, Ok("router".to_owned()));
    }
}
