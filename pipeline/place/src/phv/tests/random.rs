//! Random programs: whatever is allocated is legal.

use super::*;
use proptest::prelude::*;
use sluice_ir::{Home, Loc, Primitive};
use sluice_random::{Draw, Limits, Widths, numbered};

/// Many fields of these widths, and so few statements that the allocator refuses some programs and takes others.
fn limits(widths: Widths) -> Limits {
    let few = Limits { statements: 2, depth: 1, actions: 1, primitives: 2, ..Limits::default() };
    Limits { widths, header_fields: 6, metadata: 8, ..few }
}

fn programs(widths: Widths) -> impl Strategy<Value = Program> {
    let words = proptest::collection::vec(any::<u32>(), 0..=700);
    words.prop_map(move |words| sluice_random::program(&mut Draw::new(&words), &limits(widths)))
}

/// Takes out whatever reads a field to write another: what is left sets fields to values from outside.
fn still(mut program: Program) -> Program {
    let set_from_outside =
        |p: &Primitive| matches!(&p.kind, PrimitiveKind::Set(_, Expr::Param(..) | Expr::Const(..)));
    program.actions.values_mut().for_each(|a| a.body.retain(set_from_outside));
    let extracts = |op: &ParserOp| matches!(op.kind, ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_));
    program.states.values_mut().for_each(|s| s.ops.retain(extracts));
    program.pipes.iter_mut().for_each(|pipe| pipe.deparser.checksums.clear());
    program
}

/// Adds an action that copies every header field of ingress that is whole bytes to metadata of its own.
fn with_copies(mut program: Program) -> Program {
    let fields: Vec<(Field, u16)> = program
        .fields
        .iter()
        .filter(|(_, d)| d.gress == Gress::Ingress && matches!(d.home, Home::Header(_)) && d.width % 8 == 0)
        .map(|(f, d)| (f, d.width))
        .collect();
    for (n, (field, width)) in fields.into_iter().enumerate() {
        let copy = program.add_field(Gress::Ingress, format!("copy.{n}"), width, Home::Metadata);
        let action = program.actions.keys().nth(n % program.actions.len()).unwrap();
        let kind = set(copy, Expr::Field(field));
        program.actions[action].body.push(Primitive { kind, loc: Loc::default() });
    }
    program
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn headers_alone_always_fit_and_are_clean(program in programs(Widths::Any).prop_map(still)) {
        for chip in chips() {
            let allocation = allocated(&program, &chip);
            prop_assert_eq!(findings(&program, &chip, &allocation), Vec::<String>::new());
        }
    }

    /// With copies and arithmetic a program may be refused, but never silently wrong, and with a reason.
    #[test]
    fn any_program_is_clean_or_refused(program in programs(Widths::Any)) {
        for chip in chips() {
            match allocate(&program, &chip, &Options::default(), &cfgs(&program)) {
                Ok(a) => prop_assert_eq!(findings(&program, &chip, &a), Vec::<String>::new()),
                Err(found) => prop_assert!(!found.is_empty() && found.iter().all(|d| !d.text.is_empty())),
            }
        }
    }

    /// Fields of a whole number of bytes that are only copied whole are cut alike: nothing is refused, except for want of containers.
    #[test]
    fn whole_byte_fields_can_be_copied_to_metadata(program in programs(Widths::Bytes).prop_map(still)) {
        let program = with_copies(program);
        for chip in chips() {
            let found = allocate(&program, &chip, &Options::default(), &cfgs(&program));
            let refused = found.err().map_or(Vec::new(), |found| texts(&found));
            prop_assert!(refused.iter().all(|text| text.contains(" find no place; ")), "{refused:?}");
        }
    }
}

/// The properties mean nothing for widths and values that no program has, or if all are refused.
#[test]
fn random_programs_have_what_allocation_tells_apart() {
    let mut seen = [0; 8];
    for n in 0..64 {
        let program = numbered(n, &limits(Widths::Any));
        let fits = allocate(&program, &chips()[1], &Options::default(), &cfgs(&program)).is_ok();
        let width = |f: &Field| program.fields[*f].width;
        let sets = program.actions.values().flat_map(|a| &a.body).filter_map(|p| match &p.kind {
            PrimitiveKind::Set(to, value) => Some((to, value)),
            _ => None,
        });
        let values: Vec<_> = sets.collect();
        let some = |is: &dyn Fn(&Field, &Expr) -> bool| values.iter().any(|(to, value)| is(to, value));
        let found = [
            fits,
            program.fields.values().any(|d| d.width == 128),
            program.fields.values().any(|d| d.width > 8 && d.width % 8 != 0),
            some(&|_, value| matches!(value, Expr::Param(..))),
            some(&|to, value| matches!(value, Expr::Field(from) if width(from) == width(to))),
            some(&|_, value| matches!(value, Expr::Slice(..))),
            some(&|_, value| matches!(value, Expr::Cast(..))),
            some(&|to, value| matches!(value, Expr::Alu(..)) && !matches!(width(to), 8 | 16 | 32)),
        ];
        seen.iter_mut().zip(found).for_each(|(n, found)| *n += usize::from(found));
    }
    assert!(seen.iter().all(|n| *n >= 8), "of 64 programs: {seen:?}");
}
