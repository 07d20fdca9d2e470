//! Planning how a network's switches hash: which functions, which group sizes, which members.
//!
//! Exact integer arithmetic behind the schemes of "Hashing Design in Modern Networks" (ATC'22): replication, coprime
//! sizes, weighted groups, colour recombining, table budgets, and new plans after failures; and the plain-text
//! explanation of each plan with the reason why alternatives lost. The crate knows no packets, topologies of particular
//! networks, flags or files. Floating-point numbers are for display only.
//!
//! **Patents.** Group sizes that are coprime between correlated switches are claimed by US 11223561 (granted
//! 2022-01-11) and its continuation US 12088500, which anyone who programs real switches this way should know
//! (model: hashing §0).
//!
//! | file | contents |
//! |---|---|
//! | `cv` | coefficients of variation as exact fractions |
//! | `replicas` | a group of m ports as q members |
//! | `coprime` | the choice of q, and why other sizes lost |
//! | `correlation` | balance of a later choice, given earlier ones, by enumeration |
//! | `wcmp` | weights to members: naive, split, largest remainder; weight reduction |
//! | `weighted` | the choice of q for a weighted group |
//! | `budget` | many groups in one member table |
//! | `graph`, `colour` | decision points, the pinned relation, reuse of functions |
//! | `demand` | functions needed and functions available |
//! | `scheme` | each scheme's setting for each decision point |
//! | `explain` | the explanation of a plan |
//! | `replan` | the effect of a dead member, and the new plan |
//! | `values` | text forms of lists of numbers and functions, and of group sizes |

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
