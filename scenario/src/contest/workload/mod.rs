//! Workloads: the messages that the hosts of a contest send.
//!
//! [`Workloads`] are the tables of a contest file. Each generator is a pure function of its setting, the hosts and the
//! seed; together they make a [`Plan`], in which a message may wait for others.

mod capacity;
mod capture;
mod collective;
mod fault;
pub(crate) mod flow_list;
#[cfg(test)]
pub(crate) mod handbook;
mod hosts;
mod incast;
mod keys;
mod kinds;
mod list;
mod operation;
mod permutation;
mod plan;
mod poisson;
mod setting;
mod sizes;

pub use capture::{Addresses, Captured};
pub use collective::{Collective, CollectiveOperation};
pub use fault::Fault;
pub use hosts::{HostTable, Selection, Station};
pub use incast::{Incast, Receiver};
pub use list::Listed;
pub use operation::{
    ChunkedRead, ErasureRead, ErasureWrite, KernelRdma, Operation, Operations, Pace, ReplicatedWrite,
    RequestResponse, SoftwareCosts, UserRdma,
};
pub use permutation::Permutation;
pub(super) use plan::MOST;
pub use plan::{Mark, Need, Plan, Planned, Sample, SampleKind, When};
pub use poisson::Poisson;
pub use setting::{Traffic, WorkloadSetting};
pub use sizes::Sizes;

use capacity::Rates;
use keys::Table;
use plan::{Builder, Ports};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use sluice_asic::toml_reader::line_of;
use sluice_asic::units::{Duration, Time};
use std::collections::BTreeMap;
use std::fmt;
use toml::{Spanned, Value};

/// Most workloads of a contest.
const MOST_WORKLOADS: usize = 64;

/// The workloads of a contest: the table `[workload]`, or several `[[workload]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workloads {
    /// The workloads, in the order of the file.
    pub list: Vec<WorkloadSetting>,
    tables: Vec<Table>,
}

impl<'de> Deserialize<'de> for Workloads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Workloads, D::Error> {
        struct Tables;

        impl<'de> Visitor<'de> for Tables {
            type Value = Vec<Table>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table [workload], or several [[workload]]")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Table>, A::Error> {
                let mut table = Table::new();
                while let Some((key, value)) = map.next_entry::<String, Spanned<Value>>()? {
                    table.insert(key, value);
                }
                Ok(vec![table])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Table>, A::Error> {
                let mut tables = Vec::new();
                while let Some(table) = seq.next_element()? {
                    tables.push(table);
                }
                Ok(tables)
            }
        }

        let tables = deserializer.deserialize_any(Tables)?;
        Ok(Workloads { list: Vec::new(), tables })
    }
}

impl Workloads {
    /// Reads the tables. `text` is that of the file.
    ///
    /// # Errors
    /// If a key is unknown, missing or out of range, or two workloads have the same name. The error says line and key.
    pub(super) fn read(&mut self, text: &str) -> Result<(), String> {
        let tables = std::mem::take(&mut self.tables);
        if tables.is_empty() || tables.len() > MOST_WORKLOADS {
            return Err(format!("found {} workloads, expected 1 to {MOST_WORKLOADS}", tables.len()));
        }
        for table in &tables {
            let line =
                |(key, value): (&String, &Spanned<Value>)| (key.clone(), line_of(text, value.span().start));
            let lines: BTreeMap<String, usize> = table.iter().map(line).collect();
            let place = lines.clone();
            let setting = WorkloadSetting::of(table, lines).map_err(|fault| placed(&fault, &place, None))?;
            if self.list.iter().any(|other| other.name == setting.name) {
                let what =
                    format!("another workload is called `{}`; give each a `name` of its own", setting.name);
                return Err(placed(&Fault::new("name", what), &place, None));
            }
            self.list.push(setting);
        }
        Ok(())
    }

    /// Reads the distributions, lists and captures that the workloads name. `read` returns the content of a file.
    ///
    /// # Errors
    /// If `read` fails, or a file has not the expected content. The error says line and key.
    pub fn open(&mut self, read: impl Fn(&str) -> Result<Vec<u8>, String>) -> Result<(), String> {
        for number in 0..self.list.len() {
            let opened = self.list[number].traffic.open(&read);
            opened.map_err(|fault| self.fault(number, &fault))?;
        }
        Ok(())
    }

    /// Returns the time at which the last workload ends.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.list.iter().map(|w| w.begin + w.time).max().unwrap_or_default()
    }

    /// Returns the time in which messages begin that count: from the first end of a warm-up to the last end of a workload.
    #[must_use]
    pub fn window(&self) -> (Duration, Duration) {
        let first = self.list.iter().map(|w| w.begin + w.warm_up).min();
        (first.unwrap_or_default(), self.time())
    }

    /// Takes the places in the file from the same workloads with other values.
    pub(super) fn place_as(&mut self, base: &Workloads) {
        for (own, base) in self.list.iter_mut().zip(&base.list) {
            own.lines.clone_from(&base.lines);
        }
    }

    /// Returns the time from which the messages of a workload count.
    #[must_use]
    pub fn warm(&self, workload: u8) -> Time {
        let setting = self.list.get(usize::from(workload));
        setting.map_or(Time::ORIGIN, |w| Time::ORIGIN + w.begin + w.warm_up)
    }

    /// Returns the messages of all workloads. Equal seeds give equal messages. `transports` has the names of the hosts'
    /// transports.
    ///
    /// # Errors
    /// If a selection has no hosts, a host cannot carry the load, a host has no possible receiver, a list or a capture
    /// does not fit the network, or there are too many messages. The error says line and key.
    pub fn plan(&self, hosts: &HostTable, transports: &[String], seed: u64) -> Result<Plan, String> {
        let mut plan = Plan::default();
        for (number, setting) in self.list.iter().enumerate() {
            let planned = self
                .check_load(number, hosts)
                .and_then(|()| setting.plan(number as u8, &mut plan, hosts, transports, seed));
            planned.map_err(|fault| self.fault(number, &fault))?;
        }
        Ok(plan)
    }

    /// Checks the load of the workloads that run when one begins.
    fn check_load(&self, number: usize, hosts: &HostTable) -> Result<(), Fault> {
        let now = &self.list[number];
        let mut rates = Rates::new(hosts.len());
        for other in self.list.iter().filter(|w| w.begin <= now.begin && now.begin < w.begin + w.time) {
            let added = other.traffic.load(hosts, &mut rates);
            // The other workload's own faults are reported when it is planned.
            if std::ptr::eq(other, now) {
                added?;
            }
        }
        rates.check(hosts, if now.lines.contains_key("period") { "period" } else { "load" })
    }

    /// Returns an error of a workload with its place.
    fn fault(&self, number: usize, fault: &Fault) -> String {
        let setting = &self.list[number];
        let name = (self.list.len() > 1).then_some(setting.name.as_str());
        placed(fault, &setting.lines, name)
    }
}

/// Returns an error with its line: the key's, or the first one of the table.
fn placed(fault: &Fault, lines: &BTreeMap<String, usize>, name: Option<&str>) -> String {
    let line = lines.get(&*fault.key).or_else(|| lines.values().min());
    let line = line.map_or(String::new(), |line| format!("line {line}: "));
    let name = name.map_or(String::new(), |name| format!(" `{name}`"));
    format!("{line}workload{name}.{}: {}", fault.key, fault.what)
}

impl WorkloadSetting {
    /// Adds the workload's messages.
    fn plan(
        &self,
        number: u8,
        plan: &mut Plan,
        hosts: &HostTable,
        transports: &[String],
        seed: u64,
    ) -> Result<(), Fault> {
        let transport = match &self.transport {
            None => 0,
            Some(name) => list::transport(name, transports).map_err(|what| Fault::new("transport", what))?,
        };
        let begin = Time::ORIGIN + self.begin;
        let ports = match &self.traffic {
            Traffic::Poisson(_) => Ports::First(self.ports.unwrap_or(4)),
            _ => Ports::Drawn(self.ports.unwrap_or(1)),
        };
        let into =
            &mut Builder::new(plan, hosts, (number, transport), seed, (begin, begin + self.time), ports);
        match &self.traffic {
            Traffic::Poisson(poisson) => poisson.plan(into),
            Traffic::Incast(incast) => incast.plan(into),
            Traffic::Permutation(permutation) => permutation.plan(into),
            Traffic::Collective(collective) => collective.plan(into),
            Traffic::Operations(operations) => operations.plan(into),
            Traffic::Listed(listed) => listed.plan(transports, into),
            Traffic::Captured(captured) => captured.plan(into),
        }
    }
}

impl Traffic {
    /// Reads the files that the traffic names.
    fn open(&mut self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<(), Fault> {
        match self {
            Traffic::Poisson(poisson) => poisson.sizes.open("sizes", read),
            Traffic::Incast(incast) => incast.sizes.open("sizes", read),
            Traffic::Permutation(permutation) => permutation.sizes.open("sizes", read),
            Traffic::Collective(_) => Ok(()),
            Traffic::Operations(operations) => match &mut operations.operation {
                Operation::Request(request) => {
                    request.request.open("request", read)?;
                    request.response.open("response", read)
                }
                Operation::ReplicatedWrite(write) => write.sizes.open("sizes", read),
                Operation::ErasureWrite(write) => write.sizes.open("sizes", read),
                Operation::ErasureRead(erasure) => erasure.sizes.open("sizes", read),
                Operation::ChunkedRead(chunked) => chunked.sizes.open("sizes", read),
                Operation::UserRdma(transfer) => transfer.sizes.open("sizes", read),
                Operation::KernelRdma(disk) => disk.sizes.open("sizes", read),
            },
            Traffic::Listed(listed) => listed.open(read),
            Traffic::Captured(captured) => captured.open(read),
        }
    }

    /// Adds the mean rates of hosts; only traffic that does not adapt to the network has them.
    fn load(&self, hosts: &HostTable, rates: &mut Rates) -> Result<(), Fault> {
        match self {
            Traffic::Poisson(poisson) => poisson.load(hosts, rates),
            Traffic::Incast(incast) => incast.load(hosts, rates),
            Traffic::Operations(operations) => operations.load(hosts, rates),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
