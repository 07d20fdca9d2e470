//! Mutation check: measures whether the properties of a program notice faults in the program.
//!
//! [`mutants`] applies every mutation operator at every site of a program's IR, one at a time. [`check`] sends inputs to each
//! mutant that the verifier accepts, until a property fails or the results differ from those of the unmutated program. The
//! comparison shows that inputs tell the mutant from the original, not that the original is right; kills by properties are
//! therefore counted separately.

mod change;
mod edit;
mod harness;
mod hidden;
mod judge;
mod proofs;
mod run;
mod sites;
mod state_snapshot;
mod values;

pub use change::Change;
pub use edit::Edit;
pub use hidden::Hidden;
pub use run::{Check, Checked, Fate, Survival, Verdict, check};
pub use sites::{Mutant, mutants, some_mutants};
