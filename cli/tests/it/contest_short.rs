//! A short form of every shipped contest: the same file, with less time for messages and one seed.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::Duration;
use sluice_control::ControlState;
use sluice_fabric::deploy::Files;
use sluice_fabric::host::message::Message;
use sluice_fabric::topology::built;
use sluice_ir::Program;
use sluice_pcaps::capture::unpacked;
use sluice_scenario::contest::workload::Traffic;
use sluice_scenario::contest::{Contest, ContestSetup, Results, RunError, Trial, checks, run_contest};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Time in which messages begin. The hosts of the smallest contest send about 70 messages in it, those of the largest one 200.
const TIME: Duration = Duration::from_micros(12);

/// The folder of the shipped contests.
struct Folder(PathBuf);

impl Files for Folder {
    type Error = String;

    fn entries(
        &self,
        name: &str,
        _: &Program,
        _: &PortMap,
        _: &ControlState,
        _: &mut ControlState,
    ) -> Result<Vec<String>, String> {
        Err(format!("no shipped contest has a file of entries, found {name}"))
    }

    fn buffer(&self, name: &str, _: &ChipSpec) -> Result<BufferFile, String> {
        let text = fs::read_to_string(self.0.join(name)).map_err(|e| format!("{name}: {e}"))?;
        BufferFile::parse(name, &text).map_err(|e| e.to_string())
    }
}

/// The shipped contests, each with its folder. The lone flows and the first look run whole in other tests.
fn shipped() -> Vec<(Folder, Contest)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests");
    let mut found = Vec::new();
    for folder in [folder.clone(), folder.join("reference")] {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let whole = name.starts_with("lone-flows") || name == "first.toml";
            path.extension().is_some_and(|e| e == "toml") && !whole
        });
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path).unwrap();
            if Contest::is_one(&text) {
                let contest = Contest::parse(&path.display().to_string(), &text).unwrap();
                found.push((Folder(folder.clone()), contest));
            }
        }
    }
    found
}

fn run(contest: &mut Contest, folder: &Folder, threads: usize) -> Results {
    let plan = built(&contest.topology).unwrap();
    let read = |name: &str| {
        let file = fs::read(folder.0.join(name)).map_err(|e| format!("{name}: {e}"))?;
        unpacked(file, 1 << 24).map_err(|e| e.to_string())
    };
    contest.workload.open(read).unwrap();
    let catalogue = sluice_generated::catalogue();
    let chip = match &contest.chip {
        None => ChipSpec::tofino2(),
        Some(name) => ChipSpec::from_toml(&fs::read_to_string(folder.0.join(name)).unwrap(), name).unwrap(),
    };
    let setup = ContestSetup { plan: &plan, catalogue: &catalogue, chip, files: folder, threads, store: &() };
    run_contest(contest, &setup, &|_| true).unwrap()
}

#[test]
fn every_shipped_contest_runs_to_its_end_in_a_short_form() {
    let contests = shipped();
    assert!(contests.len() >= 7);
    let mut ids = BTreeSet::new();
    for (folder, mut contest) in contests {
        let name = contest.origin.clone();
        assert!(ids.insert(contest.id.clone()), "{name}: another contest has the id {}", contest.id);
        // One port for each pair of hosts, so that ConWeave's control plane installs a fourth of the flows.
        for workload in &mut contest.workload.list {
            (workload.time, workload.warm_up) = (TIME, Duration::ZERO);
            workload.ports = Some(1);
            if let Traffic::Listed(listed) = &mut workload.traffic {
                listed.ports = Some(1);
            }
        }
        contest.set_seeds(1).unwrap();
        let whole = contest.program.len();
        for program in &mut contest.program {
            if let Some(flows) = program.as_mut().params.get_mut("flows") {
                *flows = 4096.into();
                program.as_mut().params.insert("known".to_owned(), 1.into());
            }
        }
        // Programs that differ in parameters alone are alike in so short a time: one of each, and of each buffer, is run.
        let mut taken = BTreeSet::new();
        contest.program.retain(|program| {
            let program = program.get_ref();
            taken.insert((program.name.clone(), program.buffer.clone()))
        });
        let results = run(&mut contest, &folder, 2);
        let messages = |place: usize| -> Vec<(u32, Message)> {
            let sent = &results.series[place].runs[0].sent;
            let mut all: Vec<_> =
                sent.iter().map(|s| (s.completion.message.pair, s.completion.message)).collect();
            all.sort_by_key(|(pair, _)| *pair);
            all
        };
        for (place, series) in results.series.iter().enumerate() {
            let (label, [run]) = (&series.label, series.runs.as_slice()) else {
                panic!("{name}: one seed, one run")
            };
            assert_eq!(run.unfinished, [], "{name}: {label}");
            assert!(run.sent.len() > 20 && messages(place) == messages(0), "{name}: {label}");
            // Nothing is lost between the hosts, and nothing stays in the network.
            for count in ["unaccounted", "dropped", "stray", "deadlocks"] {
                assert_eq!(run.count(count), 0, "{name}: {label}: {count}");
            }
            let packets: u64 = run.sent.iter().map(|s| s.completion.message.bytes.div_ceil(1_000)).sum();
            assert_eq!(run.count("sent") - run.count("resent"), packets, "{name}: {label}");
        }
        // Expectations name programs and numbers that are there; whether they hold is for the whole contest.
        if contest.program.len() == whole {
            assert_eq!(checks(&contest, &results).error, None, "{name}");
        }
    }
}

#[test]
fn a_dry_run_estimates_the_packet_hops_that_a_run_counts() {
    // Payload of a full packet, the packets that one acknowledgement is for, and frames of the connection. Random arrivals leave no
    // queue that loses packets.
    let kinds = [
        ("recovery = \"go-back-n\"", 1_000, Some((1, 0))),
        // 1500 bytes without the headers of IPv4 and TCP and without timestamps; every other packet is acknowledged. Each message
        // has SYN, SYN-ACK, and the acknowledgements of SYN-ACK and FIN.
        ("tcp = {}", 1_448, Some((2, 4))),
        ("udp = { rate = \"1Gbps\" }", 1_472, None),
    ];
    let plan = built("leaf-spine:leaves=2,spines=2,hosts=2").unwrap();
    let catalogue = sluice_generated::catalogue();
    for (keys, payload, answered) in kinds {
        let answers = |packets: u64| answered.map_or(0, |(each, more)| packets.div_ceil(each) + more);
        let text = format!(
            "name = \"n\"\ntopology = \"leaf-spine:leaves=2,spines=2,hosts=2\"\nport_speed = \"100G\"\nseeds = [7]\n[workload]\n\
             sizes = \"solar\"\nload = 10\ntime = \"300us\"\nbetween_switches = true\n[[program]]\nname = \"ecmp\"\n[hosts]\n\
             cable = \"500ns\"\n{keys}\n"
        );
        let contest = Contest::parse("f", &text).unwrap();
        let (chip, files) = (ChipSpec::tofino2(), &Folder(PathBuf::new()));
        let setup = ContestSetup { plan: &plan, catalogue: &catalogue, chip, files, threads: 1, store: &() };
        let results = run_contest(&contest, &setup, &|_| true).unwrap();
        let sent =
            results.series[0].runs[0].sent.iter().map(|sent| sent.completion.message.bytes.div_ceil(payload));
        let sent: Vec<u64> = sent.collect();
        let trial = Trial::new(&contest, &setup, 0).unwrap();
        let mut looks = Vec::new();
        let mut look = |hops| {
            looks.push(hops);
            true
        };
        let whole: Result<bool, RunError<String>> = trial.run(&mut look);
        // Every frame crosses a leaf, a spine and a leaf.
        let expected: u64 = sent.iter().map(|packets| (packets + answers(*packets)) * 3).sum();
        assert!(whole.unwrap() && sent.len() > 10 && looks.len() > 10, "{keys}: {} messages", sent.len());
        assert_eq!((trial.amount.packets, trial.amount.hops), (sent.iter().sum(), expected), "{keys}");
        let counted = looks[looks.len() - 1];
        assert_eq!((looks[0], counted), (0, expected), "{keys}");
        // A trial ends when it is told to.
        let mut calls = 0;
        let mut once = |_| {
            calls += 1;
            false
        };
        let cut: Result<bool, RunError<String>> = trial.run(&mut once);
        assert_eq!((cut.unwrap(), calls), (false, 1));
    }
}
