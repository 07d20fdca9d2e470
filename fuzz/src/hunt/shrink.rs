//! Shrinks a failing input.

use super::input::Input;

/// Most runs that shrinking takes.
const MOST: u32 = 2000;

/// Returns a smaller input, of at least one packet, for which `fails` still returns true: with fewer packets and changes,
/// one port, short payloads and short gaps.
#[must_use]
pub fn shrink(input: &Input, mut fails: impl FnMut(&Input) -> bool) -> Input {
    let mut left = MOST;
    let mut small = Input { pieces: Vec::new(), ..input.clone() };
    let mut accept = |small: &mut Input, candidate: Input| {
        let smaller = candidate != *small && !candidate.shots.is_empty() && left > 0 && {
            left -= 1;
            fails(&candidate)
        };
        if smaller {
            *small = candidate;
        }
        smaller
    };
    drop_parts(&mut small, &mut accept, |i| i.ops.len(), |i, from, to| _ = i.ops.drain(from..to));
    drop_parts(&mut small, &mut accept, |i| i.shots.len(), |i, from, to| _ = i.shots.drain(from..to));
    for at in 0..small.shots.len() {
        simplify(&mut small, at, &mut accept);
    }
    // Ports and times matter less often than bytes do.
    if let Some(port) = small.shots.first().map(|s| s.port) {
        let mut one = small.clone();
        one.shots.iter_mut().for_each(|s| s.port = port);
        accept(&mut small, one);
    }
    for gap in [0, 100, 1_000, 100_000] {
        let mut soon = small.clone();
        let first = soon.shots.first().map_or(0, |s| s.at);
        let within = |at: u64| (first.min(1_000)) + (at.saturating_sub(first)).min(gap);
        soon.shots.iter_mut().for_each(|s| s.at = within(s.at));
        soon.shots.sort_by_key(|s| s.at);
        if soon.ops.is_empty() && accept(&mut small, soon) {
            break;
        }
    }
    drop_parts(&mut small, &mut accept, |i| i.shots.len(), |i, from, to| _ = i.shots.drain(from..to));
    small
}

/// Removes as many items as possible: halves first, single items last.
fn drop_parts(
    small: &mut Input,
    accept: &mut impl FnMut(&mut Input, Input) -> bool,
    count: impl Fn(&Input) -> usize,
    drop: impl Fn(&mut Input, usize, usize),
) {
    let mut size = count(small).div_ceil(2);
    while size > 0 {
        let mut from = 0;
        while from < count(small) {
            let to = (from + size).min(count(small));
            let mut candidate = small.clone();
            drop(&mut candidate, from, to);
            if !accept(small, candidate) {
                from = to;
            }
        }
        size /= 2;
    }
}

/// Shortens and simplifies one packet.
fn simplify(small: &mut Input, at: usize, accept: &mut impl FnMut(&mut Input, Input) -> bool) {
    for len in [14, 34, 60, 64, 128] {
        if small.shots[at].bytes.len() > len {
            let mut candidate = small.clone();
            candidate.shots[at].bytes.truncate(len);
            if accept(small, candidate) {
                break;
            }
        }
    }
    let headers = small.shots[at].bytes.len();
    for from in (0..headers).step_by(16).rev() {
        let mut candidate = small.clone();
        let bytes = &mut candidate.shots[at].bytes;
        let to = (from + 16).min(headers);
        bytes[from..to].fill(0);
        accept(small, candidate);
    }
}
