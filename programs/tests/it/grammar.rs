//! The grammar of the text form and the texts of the shipped programs.

use sluice_ir::text::{grammar, print};
use sluice_programs::catalogue;

#[test]
fn texts_of_shipped_programs_follow_the_grammar() {
    let shipped = catalogue();
    assert!(shipped.programs().len() >= 17);
    for program in shipped.programs() {
        let text = print(&program.build(&[]).unwrap());
        grammar::accepts(&text).unwrap_or_else(|e| panic!("{}: {e}", program.name()));
    }
}
