//! Port metadata in TOML.

use super::{Rank, Reader, Value, start};
use crate::ControlOp;
use crate::resolve::Problem;
use ::toml::de::DeTable;
use sluice_asic::port::DevPort;

impl Reader<'_> {
    /// Reads `[[port_metadata]]`.
    pub(super) fn port_metadata(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "port_metadata") {
            self.only(body, &["port", "values"], "port metadata key");
            let port = self.required_port(at, body, "port metadata", DevPort::COUNT - 1);
            let Some(values) = body.get("values") else {
                self.problems.push((at, Problem::new("this port metadata has no `values`")));
                continue;
            };
            let Some(named) = self.table(values, "`values`") else { continue };
            if let (Some(port), Some(values)) = (port, self.port_values(named)) {
                self.ops.push((Rank::Replication, at, ControlOp::SetPortMetadata { port, values }));
            }
        }
    }

    /// Reads fields by full name or its last part; fields left out are 0.
    fn port_values(&mut self, named: &DeTable<'_>) -> Option<Vec<u128>> {
        let resolver = self.resolver;
        let mut values = vec![0; resolver.program.port_metadata().count()];
        let before = self.problems.len();
        for (name, value) in named {
            let field = resolver.port_field(name.get_ref());
            let Some((at, data)) = self.ok(name.span().start, field) else { continue };
            let Some(text) = self.scalar(value, &format!("port metadata `{}`", data.name)) else { continue };
            let given = resolver.port_value(data, &text);
            if let Some(given) = self.ok(start(value), given) {
                values[at] = given;
            }
        }
        (self.problems.len() == before).then_some(values)
    }
}
