//! Replication: a group of m ports as q members.

use super::cv::Cv;
use std::fmt;
use std::str::FromStr;

/// Order of replicas in the member table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Entry j is port j mod m: exactly h % q % m.
    #[default]
    Interleaved,
    /// The replicas of each port are adjacent: the same shares with another correlation (model: hashing §4.3).
    Blocked,
}

impl Order {
    /// Both orders with their names.
    pub const ALL: [(&'static str, Order); 2] =
        [("interleaved", Order::Interleaved), ("blocked", Order::Blocked)];
}

impl FromStr for Order {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Order, &'static str> {
        Order::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, o)| *o)
            .ok_or("expected interleaved or blocked")
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Order::ALL.iter().find(|(_, o)| o == self).map_or("", |(name, _)| name))
    }
}

/// Returns the number of replicas of each of `ports` ports among `members` members: port i has one more if i < members
/// mod ports. Empty if there are no ports.
#[must_use]
pub fn replicas(ports: u32, members: u32) -> Vec<u32> {
    let (Some(each), Some(more)) = (members.checked_div(ports), members.checked_rem(ports)) else {
        return Vec::new();
    };
    (0..ports).map(|port| each + u32::from(port < more)).collect()
}

/// Returns the port of each entry of the member table, for these numbers of replicas.
#[must_use]
pub fn layout(replicas: &[u32], order: Order) -> Vec<u32> {
    let ports = || (0u32..).zip(replicas);
    match order {
        Order::Blocked => ports().flat_map(|(port, n)| std::iter::repeat_n(port, *n as usize)).collect(),
        Order::Interleaved => {
            let most = replicas.iter().copied().max().unwrap_or(0);
            let round = |r: u32| ports().filter(move |(_, n)| r < **n).map(|(port, _)| port);
            (0..most).flat_map(round).collect()
        }
    }
}

/// Returns the precision loss of replication: sqrt(r·(m−r))/q with r = q mod m (model: hashing §4.3).
#[must_use]
pub fn precision(ports: u32, members: u32) -> Cv {
    let replicas: Vec<u64> = replicas(ports, members).into_iter().map(u64::from).collect();
    Cv::of(&replicas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_11_ecmp_replicas() {
        for ports in 1..=64 {
            for members in ports..=256 {
                let list = replicas(ports, members);
                assert_eq!(list.iter().sum::<u32>(), members);
                assert!(list.iter().max().unwrap() - list.iter().min().unwrap() <= 1);
                let r = u128::from(members % ports);
                let (numerator, denominator) = precision(ports, members).squared();
                let closed = r * (u128::from(ports) - r) * denominator;
                assert_eq!(numerator * u128::from(members).pow(2), closed, "{ports} {members}");
            }
        }
    }

    #[test]
    fn scenario_12_interleave_equiv() {
        for (ports, members) in [(8, 57), (8, 9), (3, 7), (16, 113), (5, 5), (1, 4)] {
            let table = layout(&replicas(ports, members), Order::Interleaved);
            for hash in 0..65_536u32 {
                assert_eq!(table[(hash % members) as usize], hash % members % ports);
            }
        }
        // model: hashing §7.4.
        assert_eq!(layout(&replicas(8, 9), Order::Blocked), [0, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(layout(&replicas(8, 9), Order::Interleaved), [0, 1, 2, 3, 4, 5, 6, 7, 0]);
    }

    #[test]
    fn precision_table() {
        // model: hashing §4.3.
        let table: [(u32, &[(u32, f64)]); 7] = [
            (2, &[(3, 0.3333), (5, 0.2), (7, 0.1429), (9, 0.1111)]),
            (3, &[(4, 0.3536), (5, 0.2828), (7, 0.2020), (8, 0.1768)]),
            (4, &[(5, 0.3464), (7, 0.2474), (9, 0.1925), (17, 0.1019), (57, 0.0304)]),
            (6, &[(7, 0.3194), (11, 0.2033), (25, 0.0894), (49, 0.0456)]),
            (
                8,
                &[
                    (9, 0.2940),
                    (17, 0.1556),
                    (25, 0.1058),
                    (33, 0.0802),
                    (41, 0.0645),
                    (49, 0.0540),
                    (57, 0.0464),
                    (65, 0.0407),
                    (73, 0.0362),
                    (89, 0.0297),
                    (121, 0.0219),
                ],
            ),
            (16, &[(17, 0.2278), (33, 0.1174), (57, 0.1393), (65, 0.0596), (113, 0.0343)]),
            (32, &[(33, 0.1687), (65, 0.0857), (97, 0.0574), (257, 0.0217)]),
        ];
        for (ports, rows) in table {
            for (members, cv) in rows {
                let found = precision(ports, *members).value();
                assert!((found - cv).abs() < 0.00006, "{ports} {members}: {found}");
            }
        }
    }
}
