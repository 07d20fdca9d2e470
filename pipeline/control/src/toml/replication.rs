//! Mirror sessions and multicast groups in TOML.

use super::{Rank, Reader, Value, start};
use crate::resolve::Problem;
use crate::{ControlOp, MulticastNode};
use ::toml::de::{DeTable, DeValue};
use sluice_asic::port::DevPort;
use sluice_asic::tm::{HashIndex, MirrorOverrides, MirrorSession};

impl Reader<'_> {
    /// Reads `[[mirror]]`.
    pub(super) fn mirrors(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "mirror") {
            let keys = [
                "session",
                "port",
                "queue",
                "cos",
                "max_length",
                "groups",
                "ingress",
                "egress",
                "overrides",
                "hashes",
                "deflect_on_drop",
            ];
            self.only(body, &keys, "mirror key");
            let id = self.required_at_most(at, body, "session", "mirror session", u16::MAX);
            if let (Some(id), Some(session)) = (id, self.mirror(body)) {
                self.ops.push((
                    Rank::Replication,
                    at,
                    ControlOp::SetMirrorSession { id, session: Some(session) },
                ));
            }
        }
    }

    fn mirror(&mut self, body: &DeTable<'_>) -> Option<MirrorSession> {
        // Start from the defaults of `to_port`; the port is replaced or removed below.
        let mut session = MirrorSession::to_port(DevPort::new(0)?);
        session.port = None;
        if let Some(value) = body.get("port") {
            let port = self.dev_port(value, "`port`", DevPort::COUNT - 1)?;
            session.port = DevPort::new(port);
        }
        if let Some(value) = body.get("queue") {
            session.qid = self.at_most(value, "`queue`", u8::MAX.into())? as u8;
        }
        if let Some(value) = body.get("cos") {
            session.cos = self.at_most(value, "`cos`", 7)? as u8;
        }
        if let Some(value) = body.get("max_length") {
            session.max_length = self.at_most(value, "`max_length`", u16::MAX)?;
        }
        if let Some(value) = body.get("groups") {
            let groups = self.numbers(value, "`groups`")?;
            if groups.len() > 2 {
                return self
                    .fail(start(value), Problem::new("a mirror session has at most two multicast groups"));
            }
            session.groups = [groups.first().copied(), groups.get(1).copied()];
        }
        if let Some(value) = body.get("hashes") {
            let [a, b] = self.numbers(value, "`hashes`")?[..] else {
                return self.fail(start(value), Problem::new("a mirror session has two hashes"));
            };
            session.hashes = [a, b];
        }
        session.deflect_on_drop = self.flag(body, "deflect_on_drop", false)?;
        for (key, on) in [("ingress", &mut session.ingress), ("egress", &mut session.egress)] {
            match body.get(key).map(|v| (v, v.get_ref())) {
                None => {}
                Some((_, DeValue::Boolean(value))) => *on = *value,
                Some((value, _)) => return self.expected(value, &format!("`{key}`"), "true or false"),
            }
        }
        if let Some(value) = body.get("overrides") {
            session.overrides = self.overrides(value)?;
        }
        Some(session)
    }

    fn overrides(&mut self, value: &Value<'_>) -> Option<MirrorOverrides> {
        let DeValue::Array(list) = value.get_ref() else {
            return self.expected(value, "`overrides`", "an array of words");
        };
        let mut overrides = MirrorOverrides::default();
        for word in list.iter() {
            match self.text(word, "an override")? {
                "port" => overrides.port = true,
                "cos" => overrides.cos = true,
                "multicast" => overrides.multicast = true,
                "deflect_on_drop" => overrides.deflect_on_drop = true,
                "hash_1" => overrides.hash = Some(HashIndex::First),
                "hash_2" => overrides.hash = Some(HashIndex::Second),
                other => {
                    let known = ["port", "cos", "multicast", "deflect_on_drop", "hash_1", "hash_2"];
                    let problem = Problem::unknown("override", other, known);
                    return self.fail(start(word), problem);
                }
            }
        }
        Some(overrides)
    }

    /// Reads `[[multicast]]`.
    pub(super) fn multicast(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "multicast") {
            self.only(body, &["group", "nodes"], "multicast key");
            let id = self.required_at_most(at, body, "group", "multicast group", u16::MAX);
            let Some(list) = body.get("nodes") else {
                self.problems.push((at, Problem::new("this multicast group has no `nodes`")));
                continue;
            };
            let nodes: Vec<Option<MulticastNode>> =
                self.tables(list, "nodes").into_iter().map(|(at, node)| self.node(at, node)).collect();
            let nodes: Option<Vec<MulticastNode>> = nodes.into_iter().collect();
            if let (Some(id), Some(nodes)) = (id, nodes) {
                self.ops.push((Rank::Replication, at, ControlOp::SetMulticastGroup { id, nodes }));
            }
        }
    }

    fn node(&mut self, at: usize, body: &DeTable<'_>) -> Option<MulticastNode> {
        self.only(body, &["rid", "ports", "level1_exclusion", "one_of", "ecmp"], "multicast node key");
        let rid = body.get("rid").map_or(Some(0), |v| self.at_most(v, "`rid`", u16::MAX));
        let level1_exclusion = match body.get("level1_exclusion") {
            None => None,
            Some(v) => Some(self.at_most(v, "`level1_exclusion`", u16::MAX)?),
        };
        let Some(ports) = body.get("ports") else {
            return self.fail(at, Problem::new("this multicast node has no `ports`"));
        };
        let ports = self.dev_ports(ports)?;
        let one_of = self.flag(body, "one_of", false)?;
        let ecmp = match body.get("ecmp") {
            None => None,
            Some(v) => Some(self.at_most(v, "`ecmp`", u8::MAX.into())? as u8),
        };
        Some(MulticastNode { rid: rid?, level1_exclusion, ports, one_of, ecmp })
    }

    /// Reads `[[exclusion]]`.
    pub(super) fn exclusions(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "exclusion") {
            self.only(body, &["id", "ports"], "exclusion key");
            let id = self.required_at_most(at, body, "id", "level-2 exclusion", u16::MAX);
            let Some(ports) = body.get("ports") else {
                self.problems.push((at, Problem::new("this level-2 exclusion has no `ports`")));
                continue;
            };
            let ports = self.dev_ports(ports);
            if let (Some(id), Some(ports)) = (id, ports) {
                self.ops.push((Rank::Replication, at, ControlOp::SetExclusionPorts { id, ports }));
            }
        }
    }

    fn dev_ports(&mut self, value: &Value<'_>) -> Option<Vec<u16>> {
        self.list(value, "`ports`", |s, v| s.dev_port(v, "a number of `ports`", u16::MAX))
    }

    fn numbers(&mut self, value: &Value<'_>, what: &str) -> Option<Vec<u16>> {
        self.list(value, what, |s, v| s.at_most(v, &format!("a number of {what}"), u16::MAX))
    }

    fn list(
        &mut self,
        value: &Value<'_>,
        what: &str,
        mut read: impl FnMut(&mut Self, &Value<'_>) -> Option<u16>,
    ) -> Option<Vec<u16>> {
        let DeValue::Array(list) = value.get_ref() else {
            return self.expected(value, what, "an array of numbers");
        };
        let list: Vec<Option<u16>> = list.iter().map(|v| read(self, v)).collect();
        list.into_iter().collect()
    }

    /// Reads a dev_port: a number, or the name of a port.
    fn dev_port(&mut self, value: &Value<'_>, what: &str, most: u16) -> Option<u16> {
        let DeValue::String(text) = value.get_ref() else { return self.at_most(value, what, most) };
        let resolver = self.resolver;
        let plain = resolver.plain(text).map(|plain| plain.parse::<u16>().ok());
        match self.ok(start(value), plain)? {
            Some(port) => Some(port),
            None => self.expected(value, what, "a dev_port or a name such as \"port 8\""),
        }
    }

    /// Reads the port under `port`, which is required.
    pub(super) fn required_port(
        &mut self,
        at: usize,
        body: &DeTable<'_>,
        what: &str,
        most: u16,
    ) -> Option<u16> {
        match body.get("port") {
            Some(value) => self.dev_port(value, "`port`", most),
            None => self.fail(at, Problem::new(format!("this {what} has no `port`"))),
        }
    }

    pub(super) fn at_most(&mut self, value: &Value<'_>, what: &str, most: u16) -> Option<u16> {
        let number = self.number(value, what)?;
        match u16::try_from(number).ok().filter(|n| *n <= most) {
            Some(number) => Some(number),
            None => {
                self.fail(start(value), Problem::new(format!("{what} is {number}; expected at most {most}")))
            }
        }
    }

    pub(super) fn required_at_most(
        &mut self,
        at: usize,
        body: &DeTable<'_>,
        key: &str,
        what: &str,
        most: u16,
    ) -> Option<u16> {
        match body.get(key) {
            Some(value) => self.at_most(value, &format!("`{key}`"), most),
            None => self.fail(at, Problem::new(format!("this {what} has no `{key}`"))),
        }
    }
}
