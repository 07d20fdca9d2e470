//! Runs scenarios: builds a device for each profile and case, runs the steps, and evaluates the comparisons.

use super::device::DeviceRun;
use super::host::HostRun;
use super::outcome::{Check, Outcome, Point};
use crate::buffer::device::bench::Bench;
use crate::buffer::device::forward::{Forwarder, NoSwitch};
use crate::buffer::device::timeline::{Device, Onlooker, Watches};
use crate::buffer::file::cases;
use crate::buffer::file::profile;
use crate::buffer::file::scenario::{Case, Refused, Scenario, ScenarioFile, Setting};
use crate::buffer::numbers::names::Names;
use crate::language::expr::Expr;
use sluice_asic::chip::ChipSpec;
use sluice_asic::tm::buffer::{BufferFile, Problems};
use sluice_asic::units::{BitRate, Duration};
use sluice_switch::{BufferSetup, QueueSetup, SwitchConfig};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the text of a profile by name.
pub type Profiles<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// Name in place of a profile for scenarios about hosts.
pub(crate) const HOST: &str = "host";

/// Runner of scenarios; it keeps the placed program of each chip.
#[derive(Default)]
pub struct Lab {
    worlds: BTreeMap<String, Forwarder>,
    onlooker: Option<Onlooker>,
}

/// Reason why a device was not built.
enum NoBench {
    /// The profile is rejected.
    Refused(Refusal),
    /// Any other error.
    Other(String),
}

/// A rejection of a profile, with the failed checks.
struct Refusal {
    checks: BTreeSet<&'static str>,
    text: String,
}

impl From<&Problems> for Refusal {
    fn from(problems: &Problems) -> Self {
        Refusal { checks: problems.list.iter().map(|p| p.check.name()).collect(), text: problems.to_string() }
    }
}

impl From<String> for NoBench {
    fn from(text: String) -> Self {
        NoBench::Other(text)
    }
}

impl Lab {
    /// Starts recording a timeline of every device, at multiples of `every` or, with `None`, at every change.
    pub fn watch(&mut self, every: Option<Duration>, make: Watches) {
        self.onlooker = Some(Onlooker { every, make });
    }

    /// Runs the wanted scenarios of a file on each of their profiles, then reports the rows that are not run.
    pub fn run(
        &mut self,
        file: &ScenarioFile,
        profiles: &Profiles<'_>,
        wanted: &dyn Fn(&str) -> bool,
        done: &mut dyn FnMut(Outcome),
    ) {
        for scenario in file.scenario.iter().map(|s| s.get_ref()).filter(|s| wanted(&s.id)) {
            if scenario.is_of_host() {
                done(self.scenario(file, scenario, HOST, profiles));
                continue;
            }
            let names = scenario.device.over(&file.device).profiles.unwrap_or_default();
            if names.is_empty() {
                let mut outcome = blank(file, scenario, "");
                outcome.error = Some("no profile; expected `device = { profiles = [..] }`".to_owned());
                done(outcome);
            }
            for name in &names {
                done(self.scenario(file, scenario, name, profiles));
            }
        }
        for row in file.skip.iter().filter(|row| wanted(&row.id)) {
            done(Outcome {
                id: row.id.clone(),
                source: row.source.clone(),
                title: row.title.clone(),
                origin: file.origin.clone(),
                profile: String::new(),
                checks: Vec::new(),
                points: Vec::new(),
                saved: BTreeMap::new(),
                error: None,
                not_applicable: Some(row.reason.clone()),
            });
        }
    }

    /// Runs a scenario of a file on a profile; a scenario about a host has none.
    pub fn scenario(
        &mut self,
        file: &ScenarioFile,
        scenario: &Scenario,
        profile: &str,
        profiles: &Profiles<'_>,
    ) -> Outcome {
        let mut outcome = blank(file, scenario, profile);
        let mut saved = BTreeMap::new();
        let cases = match cases::cases(scenario) {
            Ok(cases) => cases,
            Err(e) => {
                outcome.error = Some(format!("{}: {e}", file.origin));
                return outcome;
            }
        };
        for case in &cases {
            let result = self.case(file, scenario, case, profile, profiles, &mut outcome.checks);
            match result {
                Ok(own) => {
                    let sweeps = !scenario.sweep.is_empty();
                    outcome
                        .points
                        .extend(sweeps.then(|| Point { case: case.name.clone(), saved: own.clone() }));
                    saved.extend(own.into_iter().map(|(k, v)| (format!("{}.{k}", case.name), v)));
                }
                Err(e) => {
                    let place =
                        if case.name.is_empty() { String::new() } else { format!("case {}: ", case.name) };
                    outcome.error = Some(format!("{}: {place}{e}", file.origin));
                    return outcome;
                }
            }
        }
        for expr in &scenario.compare {
            let line = file.line(expr);
            match compare(expr.get_ref(), &scenario.names, &saved) {
                Ok((passed, actual)) => outcome.checks.push(Check {
                    case: String::new(),
                    line,
                    what: expr.get_ref().to_string(),
                    expected: "true".to_owned(),
                    actual,
                    unit: "",
                    passed,
                    stated: false,
                }),
                Err(e) => outcome.error = Some(format!("{}:{line}: {e}", file.origin)),
            }
        }
        outcome.saved = saved
            .into_iter()
            .map(|(name, number)| (name.trim_start_matches('.').to_owned(), number))
            .collect();
        outcome
    }

    fn case(
        &mut self,
        file: &ScenarioFile,
        scenario: &Scenario,
        case: &Case,
        profile: &str,
        profiles: &Profiles<'_>,
        checks: &mut Vec<Check>,
    ) -> Result<BTreeMap<String, i128>, String> {
        if let Some(host) = case.host.as_ref().or(scenario.host.as_ref()) {
            let mut run = HostRun::new(file, host, [&case.names, &scenario.names], &case.name)?;
            let result = run.steps(&scenario.steps);
            checks.append(&mut run.checks);
            return result.map(|()| run.saved);
        }
        let setting = case.device.over(&scenario.device.over(&file.device));
        let changes = [&file.device.change, &scenario.device.change, &case.device.change];
        let changes: Vec<&toml::Table> = changes.into_iter().flatten().collect();
        let text = profile::changed(&profiles(profile)?, &changes);
        let bench = text.map_err(NoBench::Other).and_then(|text| self.bench(profile, &text, &setting));
        if let Some(refused) = case.refused.as_ref().or(scenario.refused.as_ref()) {
            checks.extend(refusal(&case.name, refused, bench.err()));
            return Ok(BTreeMap::new());
        }
        let mut bench = bench.map_err(|e| match e {
            NoBench::Refused(refusal) => refusal.text,
            NoBench::Other(text) => text,
        })?;
        if let Some(Onlooker { every, make }) = &mut self.onlooker {
            bench.watch(*every, make(Device { id: &scenario.id, profile, case: &case.name })?);
        }
        let mut run = DeviceRun {
            file,
            bench,
            defined: [&case.names, &scenario.names],
            saved: BTreeMap::new(),
            case: &case.name,
            checks: Vec::new(),
            computed: Cell::new(false),
            work: super::work::Work::of_device(),
        };
        let result = run.steps(&scenario.steps);
        checks.append(&mut run.checks);
        result.and_then(|()| run.bench.end_watch()).map(|()| run.saved)
    }

    fn bench(&mut self, name: &str, text: &str, setting: &Setting) -> Result<Bench, NoBench> {
        let unreadable = |e: sluice_asic::tm::buffer::BufferFileError| {
            NoBench::Refused(Refusal { checks: BTreeSet::new(), text: e.to_string() })
        };
        let file = BufferFile::parse(name, text).map_err(unreadable)?;
        let own = if ChipSpec::NAMES.contains(&name) { name } else { "tofino2" };
        let world = self.world(setting.chip.as_deref().unwrap_or(own))?;
        let speed = setting.speed.unwrap_or(BitRate::from_gbps(100));
        let ports = world.ports(speed, setting.ports)?;
        let buffer = BufferSetup { file, seed: setting.seed.unwrap_or(1) };
        let queues = QueueSetup { strict: setting.weights.is_none(), ..QueueSetup::default() };
        let config = SwitchConfig {
            buffer: Some(buffer),
            queues,
            queue_weights: setting.weights.clone().unwrap_or_default(),
            ..SwitchConfig::default()
        };
        Bench::new(world, ports, config).map_err(|e| match e {
            NoSwitch::Profile(problems) => NoBench::Refused(Refusal::from(&*problems)),
            NoSwitch::Other(text) => NoBench::Other(text),
        })
    }

    fn world(&mut self, chip: &str) -> Result<&Forwarder, String> {
        if !self.worlds.contains_key(chip) {
            let names = ChipSpec::NAMES.join(", ");
            let spec =
                ChipSpec::from_name(chip).ok_or_else(|| format!("no chip `{chip}`; chips are {names}"))?;
            self.worlds.insert(chip.to_owned(), Forwarder::new(&spec)?);
        }
        self.worlds.get(chip).ok_or_else(|| format!("no chip `{chip}`"))
    }
}

fn blank(file: &ScenarioFile, scenario: &Scenario, profile: &str) -> Outcome {
    Outcome {
        id: scenario.id.clone(),
        source: scenario.source.clone(),
        title: scenario.title.clone(),
        origin: file.origin.clone(),
        profile: profile.to_owned(),
        checks: Vec::new(),
        points: Vec::new(),
        saved: BTreeMap::new(),
        error: None,
        not_applicable: None,
    }
}

/// Checks that a profile is rejected as expected.
fn refusal(case: &str, wanted: &Refused, found: Option<NoBench>) -> Vec<Check> {
    let check = |what: &str, expected: String, actual: String, passed| Check {
        case: case.to_owned(),
        line: 0,
        what: what.to_owned(),
        expected,
        actual,
        unit: "",
        passed,
        stated: true,
    };
    let expected = match wanted.checks.is_empty() {
        true => "unreadable".to_owned(),
        false => wanted.checks.join(", "),
    };
    let refusal = match found {
        None => return vec![check("profile refused for", expected, "accepted".to_owned(), false)],
        Some(NoBench::Other(text)) => return vec![check("profile refused for", expected, text, false)],
        Some(NoBench::Refused(refusal)) => refusal,
    };
    let names: Vec<&str> = refusal.checks.iter().copied().collect();
    let same = wanted.checks.iter().map(String::as_str).collect::<BTreeSet<_>>() == refusal.checks;
    let actual = if names.is_empty() { "unreadable".to_owned() } else { names.join(", ") };
    let mut checks = vec![check("profile refused for", expected, actual, same)];
    for word in &wanted.mentions {
        let has = refusal.text.contains(word.as_str());
        let actual = if has { word.clone() } else { refusal.text.clone() };
        checks.push(check("the diagnostic says", word.clone(), actual, has));
    }
    checks
}

/// Evaluates a comparison of saved numbers. Returns true if it holds, and the numbers.
fn compare(
    expr: &Expr,
    defined: &BTreeMap<String, Expr>,
    saved: &BTreeMap<String, i128>,
) -> Result<(bool, String), String> {
    let none = BTreeMap::new();
    let names = Names { bench: None, defined: [&none, defined], saved, depth: Cell::new(0) };
    let passed = expr.value(&names)? != 0;
    let used = expr.names();
    let values: Vec<String> =
        used.iter().filter_map(|name| saved.get(*name).map(|v| format!("{name} = {v}"))).collect();
    Ok((passed, values.join(", ")))
}
