//! Mutation check: does what is asked of a program notice when the program is wrong?
//!
//! Every operator is applied at every site of a program's IR, one at a time ([`mutants`]); each mutant that the verifier
//! lets pass is sent inputs ([`check`]) until something notices: a property that fails, or packets that leave otherwise
//! than those of the unmutated program. *The oracle is the program itself*: the comparison shows that inputs tell the
//! mutant from the original, not that the original is right; kills by properties are therefore counted on their own.
//!
//! Operators, sites, the run.

mod bed;
mod change;
mod edit;
mod hidden;
mod judge;
mod proofs;
mod remains;
mod run;
mod sites;
mod values;

pub use change::Change;
pub use edit::Edit;
pub use hidden::Hidden;
pub use run::{Check, Checked, Fate, Survival, Verdict, check};
pub use sites::{Mutant, mutants, some_mutants};
