//! The stage programs that come with Sluice.
//!
//! There is one module per program, with its parameters, its ingress and egress, its default entries
//! and its P4 twin, a file that Sluice writes from the program. [`catalogue`] lists all programs. A program may also have
//! captures, a narrator that reads its frames for stories, and a control plane. The switches run none
//! of these: the behaviour of a switch is the [`Program`](sluice_ir::Program) that is built.

pub mod balance;
pub mod conga;
pub mod conweave;
pub mod conweave_spine;
pub mod drb;
pub mod drill;
pub mod ecn_mark;
pub mod flare;
pub mod flowlet;
mod forwarding;
pub mod hpcc_int;
pub mod hula;
pub mod int;
pub mod l3_ecmp;
mod leaf;
pub mod letflow;
mod marking;
mod model;
pub mod pfc;
pub mod presto;
pub mod spray;

pub use leaf::TableSizes;

use sluice_catalogue::Catalogue;

/// Returns the catalogue of all programs of this crate, without generated code. The first program is the default.
#[must_use]
pub fn catalogue() -> Catalogue {
    Catalogue::new()
        .with(l3_ecmp::L3Ecmp)
        .with(balance::Ecmp)
        .with(balance::Wcmp)
        .with(spray::Spray)
        .with(drb::Drb)
        .with(presto::Presto)
        .with(flare::Flare)
        .with(letflow::LetFlow)
        .with(int::Int)
        .with(hpcc_int::HpccInt)
        .with(pfc::Pfc)
        .with(ecn_mark::EcnMark)
        .with(conweave::ConWeave)
        .with(conweave_spine::ConWeaveSpine)
        .with(drill::Drill)
        .with(conga::Conga)
        .with(hula::Hula)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_found_by_its_name_and_takes_its_own_profile() {
        let catalogue = catalogue();
        assert_eq!(catalogue.programs().len(), 17);
        assert_eq!(catalogue.first().map(|program| program.name()), Some("l3-ecmp"));
        for program in catalogue.programs() {
            let found = catalogue.get(program.name()).map(|found| found.name());
            assert_eq!(found, Ok(program.name()));
            assert!(!program.summary().is_empty() && !program.summary().ends_with('.'));
            assert!(program.params().iter().all(|p| !p.doc.is_empty() && !p.expects.is_empty()));
            let profile = program.hunt();
            let built = program.build(&profile).map(|p| p.params).map_err(|e| e.to_string());
            let params = built.unwrap_or_default();
            for (key, value) in profile {
                let param = params.iter().find(|p| p.key == key);
                assert_eq!(param.map(|p| &p.value), Some(&value), "{}: {key}", program.name());
            }
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_and_the_list() {
        let catalogue = catalogue();
        let error = catalogue.get("l3_ecnp").err().map(|e| e.to_string()).unwrap_or_default();
        let names: Vec<&str> = catalogue.programs().iter().map(|p| p.name()).collect();
        let list = names.join(", ");
        assert_eq!(
            error,
            format!("there is no program `l3_ecnp`; did you mean `l3-ecmp`? (programs: {list})")
        );
    }
}
