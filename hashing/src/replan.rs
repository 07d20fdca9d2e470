//! Failures: what the selector does without the controller, and the new plan.

use super::coprime::{Choice, NoSize, Request, choose};
use super::cv::gcd;
use super::replicas::{Order, layout, replicas};
use sluice_asic::select::{GroupShape, Selector, SelectorMode};

/// A group after one of its ports went down, before the controller acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degraded {
    /// Number by which the chip divides after the failure.
    pub divisor: u32,
    /// Greatest common factor of the divisor with a size upstream; 1 if there is none.
    pub shared: u32,
    /// Number of the 2^14 hash values that moved although their port is up.
    pub moved: u32,
}

/// Returns the effect on a Tofino selector if `port` of a group of `ports` ports in `members` members goes down. A fair
/// selector divides by the remaining members; a resilient one divides by all members and tries again
/// (model: hashing §6). `None` if one selector word cannot hold the group.
#[must_use]
pub fn degraded(request: &Request, members: u32, port: u32, mode: SelectorMode) -> Option<Degraded> {
    let table = layout(&replicas(request.ports, members), request.order);
    let whole = GroupShape::balanced(members).ok().filter(|shape| shape.words().len() == 1)?;
    let mut left = whole.clone();
    for (slot, _) in (0u32..).zip(&table).filter(|(_, p)| **p == port) {
        left.set_active(slot, false).ok()?;
    }
    let selector = Selector::new(mode);
    let port_of = |slot: Option<u32>| slot.and_then(|s| table.get(s as usize)).copied();
    let moved = (0..1u32 << 14)
        .filter(|hash| {
            // A resilient selector reads further bits to try again; here they repeat the first ones.
            let hash = u128::from(*hash);
            let hash = hash | hash << 14 | hash << 28 | hash << 42;
            let before = port_of(selector.pick(hash, &whole));
            before != Some(port) && before != port_of(selector.pick(hash, &left))
        })
        .count() as u32;
    let divisor = if mode == SelectorMode::Resilient { members } else { left.live() };
    let shared = request.paths.iter().flatten().map(|q| gcd(u64::from(*q), divisor.into()) as u32);
    Some(Degraded { divisor, shared: shared.max().unwrap_or(1), moved })
}

/// Plans the group again for the remaining ports.
///
/// # Errors
/// If no size is admissible.
pub fn replan(request: &Request, failed: u32) -> Result<Choice, NoSize> {
    choose(&Request { ports: request.ports.saturating_sub(failed), ..request.clone() })
}

/// Returns the number of hash values, of 2^`hash_bits` (at most 20 bits), whose port changes if a group of `ports`
/// ports goes from size `from` to size `to`; and the number of all hash values.
#[must_use]
pub fn moved(hash_bits: u32, ports: u32, from: u32, to: u32, order: Order) -> (u32, u32) {
    let all = 1u32 << hash_bits.min(20);
    let tables = [from, to].map(|q| layout(&replicas(ports, q), order));
    let port = |table: &Vec<u32>, hash: u32| {
        let index = (hash as usize).checked_rem(table.len());
        index.and_then(|i| table.get(i)).copied()
    };
    ((0..all).filter(|hash| port(&tables[0], *hash) != port(&tables[1], *hash)).count() as u32, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_32_tofino_fair_fail() {
        // One of 57 ports: a group in which each port has one member.
        let request = Request { ports: 57, ..Request::tofino(57, &[8]) };
        let fair = degraded(&request, 57, 13, SelectorMode::Fair).unwrap();
        assert_eq!((fair.divisor, fair.shared), (56, 8));
        assert!(fair.moved > 15_000, "{fair:?}");
        let resilient = degraded(&request, 57, 13, SelectorMode::Resilient).unwrap();
        assert_eq!(resilient, Degraded { divisor: 57, shared: 1, moved: 0 });
        // Eight ports in 57 members: seven or eight replicas fail at once.
        let request = Request::tofino(8, &[8]);
        let fair = degraded(&request, 57, 0, SelectorMode::Fair).unwrap();
        assert_eq!((fair.divisor, fair.shared), (49, 1));
        let fair = degraded(&request, 57, 1, SelectorMode::Fair).unwrap();
        assert_eq!((fair.divisor, fair.shared), (50, 2));
        assert_eq!(degraded(&request, 121, 1, SelectorMode::Fair), None);
    }

    #[test]
    fn the_new_plan_is_coprime_again() {
        let choice = replan(&Request::tofino(8, &[8]), 1).unwrap();
        assert!(choice.members % 2 == 1 && choice.candidates.len() > 1);
        assert!(replan(&Request::tofino(8, &[8]), 8).is_err());
    }

    #[test]
    fn scenario_36_flow_stickiness() {
        let (moved, all) = moved(16, 8, 8, 57, Order::Interleaved);
        let share = f64::from(moved) / f64::from(all);
        assert!((share - 7.0 / 8.0).abs() < 0.01, "{share}");
        assert_eq!(super::moved(16, 8, 57, 57, Order::Interleaved).0, 0);
    }
}
