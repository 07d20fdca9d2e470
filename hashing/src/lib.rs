//! Planning how a network's switches hash: which functions, which group sizes, which members.
//!
//! What lives here: exact integer arithmetic behind the schemes of "Hashing Design in Modern Networks" (ATC'22):
//! replication, coprime sizes, weighted groups, colour recombining, table budgets, re-planning after failures;
//! and the plain-text account of each plan with the reason why alternatives lost. What may not: packets,
//! topologies of particular networks, flags and files. Floating point appears only in numbers for people.
//!
//! **Patents.** Group sizes that are coprime between correlated switches are claimed by US 11223561 (granted
//! 2022-01-11) and its continuation US 12088500. Whoever programs real switches this way should know
//! (model: hashing §0).
//!
//! | file | what it says |
//! |---|---|
//! | `cv` | coefficients of variation as exact fractions |
//! | `replicas` | a group of m ports as q members |
//! | `coprime` | which q, and why not another |
//! | `correlation` | what a later choice sees of earlier ones, by enumeration |
//! | `wcmp` | weights to members: naive, split, largest remainder; weight reduction |
//! | `weighted` | which q for a weighted group |
//! | `budget` | many groups in one member table |
//! | `graph`, `colour` | decision points, what pins what, reuse of functions |
//! | `demand` | functions needed against functions there are |
//! | `scheme` | each scheme's setting for each decision point |
//! | `explain` | the account of a plan |
//! | `replan` | what a dead member does, and the new plan |
//! | `values` | how lists of numbers and functions, and sizes of groups, are spelled |

pub mod budget;
pub mod colour;
pub mod coprime;
pub mod correlation;
pub mod cv;
pub mod demand;
pub mod explain;
pub mod graph;
pub mod replan;
pub mod replicas;
pub mod scheme;
pub mod values;
pub mod wcmp;
pub mod weighted;
