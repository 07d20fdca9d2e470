//! Small programs on chips on which one resource is scarce: every placement is enumerated. The placer must find none if there
//! is none. If there is one, the placer must find one, except in the listed cases: it takes memories in a fixed order, so it
//! refuses some programs that fill a stage to the last unit.

use sluice_asic::chip::ChipSpec;
use sluice_ir::{MatchKind, Program};
use sluice_place::{place, verify};
use sluice_samples::sketch::{Sketch, param, set};

/// Returns true if the placer finds a placement; the verifier must accept it.
fn fits(program: &Program, chip: &ChipSpec) -> bool {
    match place(program, chip) {
        Ok(placement) => {
            assert_eq!(verify(program, &placement), []);
            true
        }
        Err(_) => false,
    }
}

/// Returns true if `legal` holds for a list of `n` numbers below `below`.
fn any_list(n: usize, below: usize, legal: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    let mut list = vec![0; n];
    loop {
        if legal(&list) {
            return true;
        }
        let Some(at) = list.iter().position(|x| x + 1 < below) else { return false };
        list[at] += 1;
        list[..at].fill(0);
    }
}

/// Returns `tables` exact tables. If bit `n` of `dependencies` is set, the second table of pair `n` matches on a field that
/// the first one writes. Pairs are (0, 1), (0, 2), (1, 2), (0, 3) and so on.
fn dependent(tables: usize, dependencies: u32) -> (Program, Vec<(usize, usize)>) {
    let pairs: Vec<(usize, usize)> = (1..tables).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let set_pairs: Vec<(usize, usize)> =
        (0..pairs.len()).filter(|n| dependencies >> n & 1 == 1).map(|n| pairs[n]).collect();
    let mut s = Sketch::new("dependent");
    let keys: Vec<(String, u16)> = (0..tables).map(|t| (format!("key{t}"), 16)).collect();
    let keys: Vec<(&str, u16)> = keys.iter().map(|(name, width)| (name.as_str(), *width)).collect();
    let (header, keys) = s.header("h", &keys);
    s.state("parse_h", header, &[], vec![]);
    let outs: Vec<_> = (0..tables).map(|t| s.meta(&format!("out{t}"), 8)).collect();
    let mut block = Vec::new();
    for t in 0..tables {
        let put = s.action(&format!("put{t}"), &[8], vec![set(outs[t], param(0, 8))]);
        let nop = s.action(&format!("nop{t}"), &[], vec![]);
        let before = set_pairs.iter().filter(|(_, b)| *b == t).map(|(a, _)| (outs[*a], MatchKind::Exact));
        let key: Vec<_> = std::iter::once((keys[t], MatchKind::Exact)).chain(before).collect();
        let table = s.table(&format!("t{t}"), &key, &[put, nop], 64);
        block.push(s.apply(table));
    }
    s.control(block);
    (s.program, set_pairs)
}

#[test]
fn tables_with_dependencies_fit_exactly_if_some_assignment_to_stages_is_legal() {
    let mut found = [0, 0];
    for (tables, stages, ids) in [(3, 2, 2), (3, 3, 1), (4, 2, 2), (4, 3, 2)] {
        let mut chip = ChipSpec::tofino2();
        chip.mau.stages = stages as u32;
        chip.mau.logical_tables = ids as u32;
        for dependencies in 0..1 << (tables * (tables - 1) / 2) {
            let (program, pairs) = dependent(tables, dependencies);
            let possible = any_list(tables, stages, &mut |stage| {
                pairs.iter().all(|(a, b)| stage[*a] < stage[*b])
                    && (0..stages).all(|s| stage.iter().filter(|x| **x == s).count() <= ids)
            });
            assert_eq!(
                fits(&program, &chip),
                possible,
                "{tables} tables, {stages} stages of {ids}: {pairs:?}"
            );
            found[usize::from(possible)] += 1;
        }
    }
    assert!(found.iter().all(|n| *n > 30), "{found:?}");
}

/// Returns independent ternary tables: key bytes and entries in units of one block's.
fn ternary(tables: &[(usize, usize)]) -> Program {
    let mut s = Sketch::new("ternary");
    let mut block = Vec::new();
    let mut list = Vec::new();
    for (t, (bytes, _)) in tables.iter().enumerate() {
        let fields: Vec<(String, u16)> = (0..*bytes).map(|b| (format!("b{b}"), 8)).collect();
        let fields: Vec<(&str, u16)> = fields.iter().map(|(name, width)| (name.as_str(), *width)).collect();
        list.push(s.header(&format!("h{t}"), &fields));
    }
    for (header, _) in &list {
        s.state(&format!("parse_{header:?}"), *header, &[], vec![]);
    }
    for (t, (_, deep)) in tables.iter().enumerate() {
        let nop = s.action(&format!("nop{t}"), &[], vec![]);
        let key: Vec<_> = list[t].1.iter().map(|f| (*f, MatchKind::Ternary)).collect();
        let table = s.table(&format!("t{t}"), &key, &[nop], *deep as u32 * 512);
        block.push(s.apply(table));
    }
    s.control(block);
    s.program
}

/// Returns true if chains of these lengths can be in consecutive rows of the columns, of which bit `row` is set in
/// `taken` if the place is taken. Every order and every place is tried.
fn chains_fit(chains: &[usize], taken: &mut [u32], rows: usize) -> bool {
    let Some((first, rest)) = chains.split_first() else { return true };
    for column in 0..taken.len() {
        for row in 0..(rows + 1).saturating_sub(*first) {
            let mask = ((1 << first) - 1) << row;
            if taken[column] & mask == 0 {
                taken[column] |= mask;
                let fits = chains_fit(rest, taken, rows);
                taken[column] &= !mask;
                if fits {
                    return true;
                }
            }
        }
    }
    false
}

#[test]
fn ternary_tables_fit_if_some_division_over_stages_and_columns_is_legal_except_in_six_cases() {
    // A key of at most five bytes takes one block, one of up to 11 bytes two blocks in consecutive rows.
    let width = |bytes: usize| if bytes <= 5 { 1 } else { 2 };
    let (mut found, mut missed) = ([0, 0], Vec::new());
    for (stages, rows, columns) in [(1, 3, 2), (2, 3, 1), (2, 3, 2), (2, 4, 1)] {
        let mut chip = ChipSpec::tofino2();
        chip.mau.stages = stages as u32;
        chip.mau.tcam_rows = rows as u32;
        chip.mau.tcam_columns = columns as u32;
        let kinds: Vec<(usize, usize)> =
            [4, 8].into_iter().flat_map(|b| (1..=3).map(move |d| (b, d))).collect();
        for a in 0..kinds.len() {
            for b in a..kinds.len() {
                for c in b..kinds.len() {
                    let tables = [kinds[a], kinds[b], kinds[c]];
                    // Each chain of blocks may be in any stage.
                    let chains: Vec<usize> = tables
                        .iter()
                        .flat_map(|(bytes, deep)| std::iter::repeat_n(width(*bytes), *deep))
                        .collect();
                    let blocks: usize = chains.iter().sum();
                    let possible = blocks <= stages * rows * columns
                        && any_list(chains.len(), stages, &mut |stage| {
                            (0..stages).all(|s| {
                                let here: Vec<usize> =
                                    (0..chains.len()).filter(|n| stage[*n] == s).map(|n| chains[n]).collect();
                                chains_fit(&here, &mut vec![0; columns], rows)
                            })
                        });
                    let placed = fits(&ternary(&tables), &chip);
                    assert!(possible || !placed, "{stages} x {rows} x {columns}: {tables:?}");
                    if possible != placed {
                        missed.push((stages, rows, columns, tables));
                    }
                    found[usize::from(possible)] += 1;
                }
            }
        }
    }
    assert!(found.iter().all(|n| *n > 50), "{found:?}");
    // Each leaves at most one block free.
    let known = [
        (1, 3, 2, [(4, 2), (8, 1), (8, 1)]),
        (2, 3, 1, [(4, 2), (8, 1), (8, 1)]),
        (2, 3, 2, [(4, 2), (8, 2), (8, 2)]),
        (2, 3, 2, [(4, 3), (4, 3), (8, 3)]),
        (2, 3, 2, [(4, 3), (8, 1), (8, 3)]),
        (2, 3, 2, [(4, 3), (8, 2), (8, 2)]),
    ];
    assert_eq!(missed, known);
}

/// Returns independent exact tables with keys of 32 bits and 8 bits of action data: three entries to a word.
fn exact(entries: &[u32]) -> Program {
    let mut s = Sketch::new("exact");
    let keys: Vec<(String, u16)> = (0..entries.len()).map(|t| (format!("key{t}"), 32)).collect();
    let keys: Vec<(&str, u16)> = keys.iter().map(|(name, width)| (name.as_str(), *width)).collect();
    let (header, keys) = s.header("h", &keys);
    s.state("parse_h", header, &[], vec![]);
    let mut block = Vec::new();
    for (t, entries) in entries.iter().enumerate() {
        let out = s.meta(&format!("out{t}"), 8);
        let put = s.action(&format!("put{t}"), &[8], vec![set(out, param(0, 8))]);
        let nop = s.action(&format!("nop{t}"), &[], vec![]);
        let table = s.table(&format!("t{t}"), &[(keys[t], MatchKind::Exact)], &[put, nop], *entries);
        block.push(s.apply(table));
    }
    s.control(block);
    s.program
}

/// Returns true if tables with these numbers of RAMs fit into two rows of ten columns, with two search buses a row.
fn rows_hold(rams: &[usize]) -> bool {
    any_list(rams.len(), 11, &mut |low| {
        if low.iter().zip(rams).any(|(low, all)| low > all) {
            return false;
        }
        let high: Vec<usize> = low.iter().zip(rams).map(|(low, all)| all - low).collect();
        let holds =
            |row: &[usize]| row.iter().sum::<usize>() <= 10 && row.iter().filter(|n| **n > 0).count() <= 2;
        holds(low) && holds(&high)
    })
}

#[test]
fn exact_tables_fit_if_some_division_of_the_rams_is_legal_except_in_six_cases() {
    let (mut found, mut missed) = ([0, 0], Vec::new());
    for stages in [1, 2] {
        let mut chip = ChipSpec::tofino2();
        chip.mau.stages = stages as u32;
        chip.mau.sram_rows = 2;
        let sizes = [1, 4, 9, 12, 17];
        for a in 0..sizes.len() {
            for b in a..sizes.len() {
                for c in b..sizes.len() {
                    let rams: [usize; 3] = [sizes[a], sizes[b], sizes[c]];
                    // Three entries of 24 + 4 + 9 bits share a word of 128 bits. A part has four ways, so four RAMs.
                    let legal = |first: &[usize]| {
                        let rest: Vec<usize> =
                            rams.iter().zip(first).map(|(all, first)| all.saturating_sub(*first)).collect();
                        let parts = |part: &[usize]| -> Vec<usize> {
                            part.iter().map(|n| if *n == 0 { 0 } else { (*n).max(4) }).collect()
                        };
                        (stages == 2 || rest.iter().all(|n| *n == 0))
                            && rows_hold(&parts(first))
                            && rows_hold(&parts(&rest))
                    };
                    let possible = any_list(3, 18, &mut |first| legal(first));
                    let entries = rams.map(|n| n as u32 * 3 * 1024);
                    let placed = fits(&exact(&entries), &chip);
                    assert!(possible || !placed, "{stages} stages: {rams:?} RAMs");
                    if possible != placed {
                        missed.push((stages, rams));
                    }
                    found[usize::from(possible)] += 1;
                }
            }
        }
    }
    assert!(found.iter().all(|n| *n > 10), "{found:?}");
    // Each leaves at most two RAMs free.
    let known = [
        (1, [1, 1, 12]),
        (1, [1, 4, 12]),
        (1, [4, 4, 12]),
        (2, [1, 17, 17]),
        (2, [4, 17, 17]),
        (2, [9, 12, 17]),
    ];
    assert_eq!(missed, known);
}
