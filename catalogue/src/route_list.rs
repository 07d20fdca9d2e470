//! Lists of routes as people have them: FRR's `show ip route` as text or JSON, Linux's `ip route`, and CSV.
//!
//! A list becomes the [`Position`] of a switch without neighbours, from which a program makes its entries as it does in a
//! network.

mod csv;
mod frr;
mod json;
mod linux;

use crate::position::{Neighbor, PortUse, Position, Prefix, Route};
use sluice_asic::port::{Port, PortMap};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// Routes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteList {
    origin: String,
    routes: Vec<ListedRoute>,
    notes: Vec<String>,
}

/// A route of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedRoute {
    line: usize,
    to: Prefix,
    hops: Vec<Hop>,
}

/// A next hop of a route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Hop {
    line: usize,
    /// Address of the gateway; none if the destination is attached.
    via: Option<Ipv4Addr>,
    /// Name of the port; none if it follows from a route to the gateway.
    port: Option<String>,
    weight: u32,
}

/// A mistake in a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {message}")]
pub struct RouteListError {
    /// The file, as the caller named it.
    pub origin: String,
    /// Line, from 1. In JSON, that of the prefix.
    pub line: usize,
    /// The mistake: the text found, and the form expected.
    pub message: String,
}

/// Routes that a reader finds in a file, its mistakes, and numbers of the routes that are left out.
#[derive(Default)]
struct ReadRoutes {
    routes: Vec<ListedRoute>,
    /// Line and description.
    mistakes: Vec<(usize, String)>,
    ipv6: usize,
    discarding: usize,
    unused: usize,
}

impl ReadRoutes {
    fn wrong(&mut self, line: usize, message: impl Into<String>) {
        self.mistakes.push((line, message.into()));
    }

    /// Starts a route; returns false if it is one of IPv6, which is counted, or a mistake.
    fn start(&mut self, line: usize, to: &str) -> bool {
        match prefix(to) {
            Ok(Some(to)) => self.routes.push(ListedRoute { line, to, hops: Vec::new() }),
            Ok(None) => self.ipv6 += 1,
            Err(text) => self.wrong(line, text),
        }
        matches!(prefix(to), Ok(Some(_)))
    }

    /// Adds a next hop to the route that was started last.
    fn hop(&mut self, hop: Hop) {
        if let Some(route) = self.routes.last_mut() {
            route.hops.push(hop);
        }
    }
}

/// Interfaces that are no ports of a switch unless a port map names them.
const INNER: [&str; 6] = ["lo", "eth0", "docker", "Loopback", "mgmt", "usb"];

fn is_inner(name: &str) -> bool {
    INNER.iter().any(|inner| match *inner {
        "lo" | "eth0" => name == *inner,
        prefix => name.starts_with(prefix),
    })
}

/// Parses `10.0.0.0/8`, an address, or `default`. `None` stands for a prefix of IPv6.
fn prefix(text: &str) -> Result<Option<Prefix>, String> {
    let wrong = || format!("found `{text}`; expected a prefix such as `10.1.0.0/16`");
    let (address, len) = text.split_once('/').unwrap_or((text, ""));
    if text == "default" {
        return Ok(Some(Prefix { address: Ipv4Addr::UNSPECIFIED, len: 0 }));
    }
    if address.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok(None);
    }
    let address: Ipv4Addr = address.parse().map_err(|_| wrong())?;
    let len = if len.is_empty() && !text.contains('/') { Some(32) } else { len.parse::<u8>().ok() };
    let len = len.filter(|len| *len <= 32).ok_or_else(wrong)?;
    let prefix = Prefix { address, len };
    let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
    if address.to_bits() & !mask != 0 {
        return Err(format!(
            "`{text}` has bits beyond its length; the prefix is {}/{len}",
            Ipv4Addr::from_bits(address.to_bits() & mask)
        ));
    }
    Ok(Some(prefix))
}

impl RouteList {
    /// Parses a file; its form is recognised by its contents.
    ///
    /// # Errors
    /// Returns every line that is not understood, and a file without a route.
    pub fn parse(origin: &str, text: &str) -> Result<RouteList, Vec<RouteListError>> {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        let found = match first.unwrap_or_default() {
            start if start.starts_with('{') => json::read(text),
            start if start.contains(',') && csv::is_csv(start) => csv::read(text),
            start if frr::is_frr(start) => frr::read(text),
            _ => linux::read(text),
        };
        let error = |(line, message)| RouteListError { origin: origin.to_owned(), line, message };
        if !found.mistakes.is_empty() {
            return Err(found.mistakes.into_iter().map(error).collect());
        }
        if found.routes.is_empty() && found.ipv6 == 0 {
            let text = "the file has no route; expected the output of `show ip route`, `show ip route json` or `ip route`, or \
                        lines `prefix,port` such as `10.1.0.0/16,Ethernet0`";
            return Err(vec![error((1, text.to_owned()))]);
        }
        let mut notes = Vec::new();
        let mut note = |count: usize, what: &str| {
            if count > 0 {
                notes.push(format!("{origin}: {count} {what}"));
            }
        };
        note(
            found.ipv6,
            "routes of IPv6 are left out: hosts of Sluice have IPv6 addresses that follow from IPv4",
        );
        note(
            found.discarding,
            "routes that discard packets are left out: a packet without a route is the program's affair",
        );
        note(
            found.unused,
            "routes that are not in use (not selected, of other VRFs, local or broadcast) are left out",
        );
        Ok(RouteList { origin: origin.to_owned(), routes: found.routes, notes })
    }

    /// Returns the place of a switch that has these routes, and notes on what was left out. `port` finds a port by the name
    /// that the file has for it.
    ///
    /// # Errors
    /// Returns every next hop whose port is not known.
    pub fn position<'p>(
        &self,
        ports: &'p PortMap,
        port: impl Fn(&str) -> Result<&'p Port, String>,
    ) -> Result<(Position, Vec<String>), Vec<RouteListError>> {
        let mut place = PortResolver {
            list: self,
            port,
            mistakes: Vec::new(),
            inner: BTreeSet::new(),
            uses: BTreeMap::new(),
        };
        let (mut routes, mut twice) = (Vec::<Route>::new(), 0);
        let mut known = BTreeSet::new();
        for listed in &self.routes {
            let Some(hops) = place.hops(listed) else { continue };
            if !known.insert(listed.to) {
                twice += 1;
                continue;
            }
            routes.push(Route { to: listed.to, ports: hops, hops: 1 });
        }
        if !place.mistakes.is_empty() {
            return Err(place.mistakes);
        }
        let mut notes = self.notes.clone();
        if !place.inner.is_empty() {
            let names = place.inner.into_iter().collect::<Vec<_>>().join(", ");
            notes.push(format!(
                "{}: routes over {names} are left out: they are no ports of the switch",
                self.origin
            ));
        }
        if twice > 0 {
            notes.push(format!(
                "{}: {twice} routes to a prefix that an earlier line has are left out",
                self.origin
            ));
        }
        let used = place.uses.into_iter().filter_map(|(front, gateway)| {
            let port = ports.front(front)?;
            let neighbor = Neighbor::Host(gateway);
            Some(PortUse { port: front, dev_port: port.dev_port.number(), speed: port.speed, neighbor })
        });
        let position = Position {
            number: 0,
            name: "switch".to_owned(),
            stage: 1,
            block: 0,
            ports: used.collect(),
            routes,
            subnets: Vec::new(),
            hosts: Vec::new(),
        };
        Ok((position, notes))
    }

    /// Returns the port of the attached route that reaches a gateway.
    fn attached(&self, via: Ipv4Addr) -> Option<&str> {
        let attached = self.routes.iter().filter(|route| route.to.contains(via));
        let hop = attached
            .filter_map(|route| Some((route.to.len, route.hops.iter().find(|hop| hop.via.is_none())?)))
            .max_by_key(|(len, _)| *len);
        hop.and_then(|(_, hop)| hop.port.as_deref())
    }
}

/// Resolves the ports of a list.
struct PortResolver<'l, F> {
    list: &'l RouteList,
    port: F,
    mistakes: Vec<RouteListError>,
    /// Interfaces that are no ports.
    inner: BTreeSet<String>,
    /// Ports in use, each with a gateway behind it.
    uses: BTreeMap<sluice_asic::port::FrontPort, Ipv4Addr>,
}

impl<'p, F: Fn(&str) -> Result<&'p Port, String>> PortResolver<'_, F> {
    fn wrong(&mut self, line: usize, message: String) {
        self.mistakes.push(RouteListError { origin: self.list.origin.clone(), line, message });
    }

    /// Returns the ports of a route with their weights; `None` if it has none.
    fn hops(&mut self, route: &ListedRoute) -> Option<Vec<(sluice_asic::port::FrontPort, u32)>> {
        let mut weights = BTreeMap::new();
        for hop in &route.hops {
            let name = hop.port.as_deref().or_else(|| hop.via.and_then(|via| self.list.attached(via)));
            let Some(name) = name else {
                let via = hop.via.map_or(String::new(), |via| format!(" {via}"));
                self.wrong(
                    hop.line,
                    format!("next hop{via} has no port, and no attached route reaches it; expected the name of a port"),
                );
                continue;
            };
            match (self.port)(name).map(Port::front) {
                Ok(Some(front)) => {
                    *weights.entry(front).or_insert(0) += hop.weight.max(1);
                    self.uses.entry(front).or_insert(hop.via.unwrap_or(route.to.address));
                }
                Ok(None) => self
                    .wrong(hop.line, format!("`{name}` is not on the front panel; expected a port that is")),
                Err(_) if is_inner(name) => {
                    self.inner.insert(name.to_owned());
                }
                Err(text) => self.wrong(hop.line, text),
            }
        }
        (!weights.is_empty()).then(|| weights.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
