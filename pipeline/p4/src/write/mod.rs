//! P4_16 programs for TNA and T2NA, written from programs of the chip.
//!
//! [`write()`] is the other direction of [`lower`](crate::lower): its text, lowered again, is the program it was written from, except for
//! documentation, names of inline actions, and the order of declarations. Statements that a builder's author wrote straight in a
//! control stand straight in its `apply` block. Names stay, so that the control plane finds what it knows.
//!
//! P4 has no words for some properties of a program. Those that change what a switch does are annotations that begin with
//! `@sluice_`; the lowering reads them. A program with an operation that P4 does not have at all is refused.

mod action;
mod chips;
mod constant;
mod control;
mod deparser;
mod ghost;
mod inline;
mod layout;
mod names;
mod page;
mod parser;
mod register;
mod table;
mod unit;
mod unwritable;
mod value;
mod value_set;

pub use unwritable::Unwritable;

use constant::Constants;
use ghost::Ghost;
use inline::Inline;
use layout::Layout;
use names::Names;
use page::Page;
use rustc_hash::FxHashSet;
use sluice_asic::gress::Gress;
use sluice_asic::salu::MathUnit;
use sluice_ir::{Action, Profile, Program, Register};

/// Writes a program as P4_16: for both chips if both have all that it uses, otherwise for Tofino 2.
///
/// # Errors
/// Returns the parts of the program for which P4 has no words. The program must be legal.
pub fn write(program: &Program) -> Result<String, Vec<Unwritable>> {
    let unwritable = unwritable::all(program);
    if !unwritable.is_empty() {
        return Err(unwritable);
    }
    let names = Names::of(program);
    let ghost = Ghost::of(program);
    let mut writer = Writer {
        p: program,
        inline: Inline::of(program, &names),
        names,
        layout: Layout::of(program, &ghost.fields),
        constants: Constants::of(program),
        ghost,
        in_ghost: false,
        before: Page::default(),
        both_chips: chips::both(program),
        page: Page::default(),
        gress: Gress::Ingress,
        params: Vec::new(),
        param_types: Vec::new(),
        declared: FxHashSet::default(),
        profiles: Vec::new(),
        register_params: Vec::new(),
        math: Vec::new(),
    };
    writer.blocks();
    Ok(writer.whole())
}

/// The state of a writer.
struct Writer<'p> {
    p: &'p Program,
    names: Names,
    inline: Inline,
    layout: Layout,
    constants: Constants,
    ghost: Ghost,
    /// True while the ghost control is written.
    in_ghost: bool,
    /// Registers that ingress and the ghost control share.
    before: Page,
    /// True if the program runs on both chips.
    both_chips: bool,
    page: Page,
    /// The gress whose blocks are written.
    gress: Gress,
    /// The parameters of the action that is written.
    params: Vec<String>,
    /// Their types.
    param_types: Vec<String>,
    /// The actions of the control that are declared.
    declared: FxHashSet<Action>,
    /// The profiles that are declared.
    profiles: Vec<Profile>,
    /// The parameters of registers, by position.
    register_params: Vec<(Register, u8, String)>,
    /// The math units of the register action that is written.
    math: Vec<(MathUnit, String)>,
}

impl Writer<'_> {
    /// Writes parsers, controls, deparsers and the package.
    fn blocks(&mut self) {
        self.shared_registers();
        for gress in Gress::ALL {
            self.gress = gress;
            self.parser();
            self.control();
            self.deparser();
        }
        self.gress = Gress::Ingress;
        let ghost = !self.p.ghost.is_empty();
        if ghost {
            self.ghost_control();
        }
        self.page.gap();
        let mut blocks: Vec<String> = Vec::new();
        for gress in Gress::ALL {
            blocks.extend(["Parser()", "()", "Deparser()"].map(|block| format!("{}{block}", title(gress))));
        }
        blocks.extend(ghost.then(|| "Ghost()".to_owned()));
        self.page.list("Pipeline(", &blocks, ") pipe;");
        self.page.gap();
        self.page.line("Switch(pipe) main;");
    }

    /// Returns the text: comments, constants and types before the blocks.
    fn whole(self) -> String {
        let Writer { p, layout, constants, both_chips, before, page: blocks, .. } = self;
        let mut page = Page::default();
        page.comment(&format!("{}: {}.", p.name, p.doc.trim_end_matches('.')));
        if !p.params.is_empty() {
            let params: Vec<String> = p.params.iter().map(|d| format!("{}={}", d.key, d.value)).collect();
            page.comment(&format!("Written by `sluice programs {} --p4` with {}.", p.name, params.join(" ")));
        }
        page.gap();
        page.line("#include <core.p4>");
        if both_chips {
            page.line("#if __TARGET_TOFINO__ == 2");
            page.line("#include <t2na.p4>");
            page.line("#else");
            page.line("#include <tna.p4>");
            page.line("#endif");
        } else {
            page.line("#include <t2na.p4>");
        }
        constants.write(&mut page);
        layout.write(&mut page);
        register::write_types(p, &mut page);
        value_set::write_types(p, &mut page);
        page.gap();
        page.append(&before);
        page.gap();
        page.append(&blocks);
        page.into_text()
    }
}

/// Returns the name of a gress' control, with which those of its other blocks begin.
fn title(gress: Gress) -> &'static str {
    match gress {
        Gress::Ingress => "Ingress",
        Gress::Egress => "Egress",
    }
}
