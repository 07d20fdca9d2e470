//! Scenarios of model: hashing §8 that need a network, by their numbers. The other scenarios are next to the code that
//! they test, under the same numbers.

use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_asic::hash::{PackedHash, splitmix64};
use sluice_asic::select::{GroupShape, Selector, SelectorMode, WORD_SLOTS};
use sluice_fabric::flows::{Flow, Flows, Generator, Workload};
use sluice_fabric::polarization::run::walk;
use sluice_fabric::polarization::{Compiled, GroupStats, Picker, Question, Results, Verdict, plan, run};
use sluice_fabric::topology::{Clos, DRing, Network, Wan};
use sluice_hashing::cv::{Cv, gcd};
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::{FlowFunction, Scheme, Setting, Terms};
use sluice_hashing::wcmp::Method;
use std::collections::BTreeMap;
use std::num::NonZero;

const LO: FlowFunction = FlowFunction::Rtag7(Rtag7Function::Crc32Lo);

fn question(scheme: Scheme, seed: u32) -> Question {
    let supply = Rtag7Function::UNCORRELATED.map(FlowFunction::Rtag7).to_vec();
    Question {
        scheme,
        terms: Terms { supply, seed, hash_bits: 16, width: 512, target: 50, order: Order::Interleaved },
        picker: Picker::Modulo16,
        members: None,
        method: Method::Split,
    }
}

/// Flows are walked on two threads: the results do not depend on threads (scenario 37).
const THREADS: NonZero<usize> = NonZero::new(2).unwrap();

fn of_flows(network: &Network, question: &Question, flows: &Generator) -> Results {
    run(network, question, Flows::Made(flows), THREADS).unwrap()
}

fn measured(network: &Network, question: &Question, flows: u64) -> Results {
    of_flows(network, question, &Generator::new(Workload::Uniform, network, flows, 42))
}

/// Returns, for each hash value of CRC32_LO with seed 0, how many of `count` five-tuples of model: hashing §7.5 have
/// it.
fn hashes(count: u64) -> Vec<u64> {
    let lo = |key: &[u8; 14]| LO.hash(key, false);
    let packed = PackedHash::new(&[&lo]);
    let draw = |n: u64| splitmix64(42u64.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut counts = vec![0; 1 << 16];
    for flow in 0..count {
        let (a, b) = (draw(2 * flow), draw(2 * flow + 1));
        let mut key = [0u8; 14];
        key[..4].copy_from_slice(&(a as u32).to_be_bytes());
        key[4..8].copy_from_slice(&((a >> 32) as u32).to_be_bytes());
        key[8] = if b & 1 == 1 { 6 } else { 17 };
        key[9..11].copy_from_slice(&((b >> 8) as u16).to_be_bytes());
        key[11..13].copy_from_slice(&((b >> 24) as u16).to_be_bytes());
        counts[usize::from(packed.eval(&key) as u16)] += 1;
    }
    counts
}

/// Returns the mean coefficient of variation of the second switch's ports, over the first switch's ports. The first
/// switch divides by m1, the second one, with another seed constant, by m2.
fn conditional(hashes: &[u64], m1: u16, m2: u16, constant: u16) -> f64 {
    let mut counts = vec![0u64; usize::from(m1) * usize::from(m2)];
    for (hash, flows) in (0..=u16::MAX).zip(hashes) {
        counts[usize::from(hash % m1) * usize::from(m2) + usize::from((hash ^ constant) % m2)] += flows;
    }
    counts.chunks(m2.into()).map(|row| Cv::of(row).value()).sum::<f64>() / f64::from(m1)
}

#[test]
fn scenario_05_06_07_two_switches_one_function() {
    let hashes = hashes(1_000_000);
    let seeds = [0, 0x1234_5678, 0xdead_beef].map(|s| Rtag7Function::Crc32Lo.seed_constant(s));
    for m in [2, 4, 8, 16] {
        for constant in seeds {
            let cv = conditional(&hashes, m, m, constant);
            assert!((cv - f64::from(m - 1).sqrt()).abs() < 1e-3, "{m}: {cv}");
        }
    }
    for m1 in 2..=16u16 {
        for m2 in 2..=16u16 {
            let g = gcd(m1.into(), m2.into());
            let cv = conditional(&hashes, m1, m2, 0);
            assert!((cv - (g as f64 - 1.0).sqrt()).abs() < 0.03, "{m1} {m2}: {cv}");
        }
    }
    // model: hashing §2, within 0.003: with the same seed, and with another seed.
    for ((m1, m2), same, other) in [
        ((8, 8), 2.6458, 2.6458),
        ((8, 4), 1.7321, 1.7321),
        ((4, 8), 1.7321, 1.7321),
        ((8, 16), 2.6458, 2.6458),
        ((6, 8), 1.0, 1.0),
        ((8, 6), 1.0, 1.0),
        ((16, 6), 1.0, 1.0),
        ((12, 8), 1.7321, 1.7321),
        ((6, 6), 2.2361, 1.0005),
        ((8, 7), 0.007, 0.007),
    ] {
        let found = [seeds[0], seeds[1]].map(|constant| conditional(&hashes, m1, m2, constant));
        assert!((found[0] - same).abs() < 0.003 && (found[1] - other).abs() < 0.003, "{m1} {m2}: {found:?}");
    }
    assert!(conditional(&hashes, 8, 7, 0) < 0.02 && conditional(&hashes, 8, 7, seeds[1]) < 0.02);
}

#[test]
fn scenario_10_low_entropy() {
    let network = Clos { blocks: 2, width: 8, parallel: 2 }.build().unwrap();
    for scheme in [Scheme::Recombine, Scheme::Coprime, Scheme::PerPort] {
        let flows = Generator::new(Workload::LowEntropy, &network, 20_000, 1);
        let results = of_flows(&network, &question(scheme, 0), &flows);
        assert_eq!((results.verdict, results.entropy), (Verdict::InsufficientEntropy, 4), "{scheme}");
    }
}

/// Runs a plan of the Clos with given functions at its eight points.
fn with_colours(network: &Network, colours: [usize; 8], picker: Picker, flows: u64) -> Results {
    let question = Question { picker, ..question(Scheme::Plain, 0) };
    let mut planned = plan(network, &question).unwrap();
    for (group, plan) in network.groups.iter().zip(&mut planned.groups) {
        plan.setting = Setting::of(question.terms.supply[colours[group.point as usize]]);
    }
    let compiled = Compiled::new(network, &planned, picker);
    let flows = Generator::new(Workload::Uniform, network, flows, 42);
    let counters = walk(&compiled, Flows::Made(&flows), THREADS);
    sluice_fabric::polarization::measure::results(network, &planned, &compiled, counters, 64, picker)
}

#[test]
fn scenario_26_recombine_vs_bad() {
    let network = Clos::default().build().unwrap();
    let flows = 200_000;
    let good = with_colours(&network, [0, 1, 0, 2, 1, 2, 0, 1], Picker::Modulo16, flows);
    let four = with_colours(&network, [0, 1, 2, 3, 0, 1, 2, 3], Picker::Modulo16, flows);
    let ideal = with_colours(&network, [0; 8], Picker::Ideal, flows);
    for results in [&good, &four] {
        for (point, best) in results.points.iter().zip(&ideal.points) {
            assert!(point.cv[0] <= best.cv[0] + 0.02, "{}: {:?} {:?}", point.name, point.cv, best.cv);
            assert_eq!((point.empty, point.failed), (0, 0), "{}", point.name);
        }
    }
    let bad = with_colours(&network, [0, 1, 2, 2, 3, 3, 4, 5], Picker::Modulo16, flows);
    let s4 = bad.point("s4-up").unwrap();
    assert!((s4.cv[0] - 2.6458).abs() < 1e-3, "{s4:?}");
    let s5 = bad.point("s5").unwrap();
    assert_eq!((s5.groups, s5.empty), (512, 448), "seven of eight S5 groups have no traffic");
    assert_eq!(bad.verdict, Verdict::Polarised);
    assert!((bad.cdf().last().unwrap() - 2.6458).abs() < 1e-3);
    // One function everywhere: model: hashing §3.5, first row.
    let one = with_colours(&network, [0; 8], Picker::Modulo16, flows);
    for (point, cv) in [("s2-up", 2.646), ("s5", 2.646), ("s4-down", 1.732), ("s3-down", 2.646)] {
        assert!((one.point(point).unwrap().cv[0] - cv).abs() < 0.001, "{point}");
    }
}

#[test]
fn scenario_27_recombine_fragile() {
    let mut network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    network.fail("s2-0-3", "s3-0-5").unwrap();
    assert!(network.fail("s2-0-3", "s4-0-0").is_err());
    let s3 = network.switch_named("s3-0-5").unwrap();
    let idle = |results: &Results| {
        let at = |g: &&GroupStats| network.groups[g.group as usize].switch == s3;
        results.groups.iter().filter(at).filter(|g| g.point == 2).map(|g| g.idle).sum::<u32>()
    };
    // Three colours reuse S1's function at S3, so the lost link removes one of its outcomes.
    assert_eq!(idle(&with_colours(&network, [0, 1, 0, 2, 1, 2, 0, 1], Picker::Modulo16, 40_000)), 1);
    assert_eq!(idle(&with_colours(&network, [0, 1, 2, 3, 4, 5, 0, 1], Picker::Modulo16, 40_000)), 0);
    // A plan made after the loss does not use S1's function again at S3.
    let mut three = question(Scheme::Recombine, 0);
    three.terms.supply.truncate(4);
    let planned = plan(&network, &three).unwrap();
    assert!(planned.notes.iter().any(|n| n.contains("links that are left")), "{:?}", planned.notes);
    let of = |point: u32| {
        let group = network.groups.iter().position(|g| g.point == point).unwrap();
        planned.groups[group].setting.function
    };
    assert_ne!(of(0), of(2));
    assert_eq!(idle(&measured(&network, &three, 40_000)), 0);
    // Coprime groups of the remaining links are even, and coprime with adjacent groups.
    let coprime = question(Scheme::Coprime, 0);
    let planned = plan(&network, &coprime).unwrap();
    let lost = network.groups.iter().position(|g| g.point == 1 && g.links.len() == 7).unwrap();
    let size = planned.groups[lost].table.len() as u64;
    for (group, plan) in network.groups.iter().zip(&planned.groups).filter(|(g, _)| [0, 2].contains(&g.point))
    {
        assert_eq!(
            gcd(size, plan.table.len() as u64),
            1,
            "{size} at S2, {} at {}",
            plan.table.len(),
            group.point
        );
    }
    let results = measured(&network, &coprime, 200_000);
    assert_eq!(results.verdict, Verdict::Balanced, "{:?}", results.points);
}

/// Returns the variations of all chips on the way up and at the top, in ascending order, as in model: hashing §3.5. The
/// groups of an S5 chip count together, because it sends to all blocks over the same links.
fn up_and_top(network: &Network, results: &Results) -> Vec<f64> {
    let mut loads: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
    for stats in &results.groups {
        let group = &network.groups[stats.group as usize];
        let name = &network.points[group.point as usize].0;
        if name.ends_with("-up") || name == "s5" {
            let sums = loads.entry((group.point, group.switch)).or_insert_with(|| vec![0; group.links.len()]);
            let links = results.loads(network, stats.group);
            sums.iter_mut().zip(links).for_each(|(sum, load)| *sum += load.flows);
        }
    }
    // A chip without traffic has the variation of a chip that sends all flows to one link.
    let idle = |loads: &Vec<u64>| loads.iter().all(|n| *n == 0);
    let cv = |l: &Vec<u64>| if idle(l) { (l.len() as f64 - 1.0).sqrt() } else { Cv::of(l).value() };
    let mut all: Vec<f64> = loads.values().map(cv).collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn scenario_28_clos_cdf() {
    // 60 draws of the baseline: each stage gets any of the nine functions, with replacement, and a separate seed. Each
    // draw has 400,000 flows, and so has the run with three colours.
    let network = Clos::default().build().unwrap();
    let all = Rtag7Function::ALL.map(FlowFunction::Rtag7).to_vec();
    let flows = 400_000;
    let mut bad = 0;
    for seed in 0..60 {
        let mut question = question(Scheme::PerStage, seed);
        question.terms.supply = all.clone();
        let cvs = up_and_top(&network, &measured(&network, &question, flows));
        bad += u32::from(cvs.last().is_some_and(|cv| *cv > 0.2));
    }
    assert!(bad > 30, "{bad} of 60 draws have a group above 0.2");
    let mut three = question(Scheme::Recombine, 0);
    three.terms.supply.truncate(3);
    let cvs = up_and_top(&network, &measured(&network, &three, flows));
    assert_eq!(cvs.len(), 5 * 64);
    let p99 = cvs[cvs.len() * 99 / 100];
    assert!(p99 < 0.06, "{p99}");
}

#[test]
fn scenario_28_on_two_blocks() {
    // The worst single group, without adding groups up: half of the baseline's draws leave one group far out of
    // balance.
    let network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    let all = Rtag7Function::ALL.map(FlowFunction::Rtag7).to_vec();
    let going_up = |r: &Results| {
        let up = |p: &&sluice_fabric::polarization::PointStats| p.name.ends_with("-up");
        r.points.iter().filter(up).map(|p| p.cv[2]).fold(0.0, f64::max)
    };
    let mut bad = 0;
    for seed in 0..20 {
        let mut question = question(Scheme::PerStage, seed);
        question.terms.supply = all.clone();
        bad += u32::from(going_up(&measured(&network, &question, 20_000)) > 0.6);
    }
    assert!(bad > 10, "{bad} of 20 draws");
    let good = measured(&network, &question(Scheme::Recombine, 0), 400_000);
    assert!(going_up(&good) < 0.06, "{:?}", good.points);
    assert_eq!(good.verdict, Verdict::Balanced);
}

#[test]
fn scenario_29_dring_coprime() {
    let network = DRing::default().build().unwrap();
    network.check().unwrap();
    let planned = plan(&network, &question(Scheme::Coprime, 0)).unwrap();
    // Sizes of neighbouring blocks are coprime, stage by stage.
    let size = |block: u32, stage: u32| {
        let here = |g: &usize| {
            let s = &network.switches[network.groups[*g].switch as usize];
            (s.block, s.stage) == (block, stage) && network.groups[*g].links.len() == 8
        };
        let first = (0..network.groups.len()).find(here).unwrap();
        planned.groups[first].table.len() as u64
    };
    // Every triple of source, transit and destination block: adjacent blocks have coprime sizes.
    let steps = [1, 2, 6, 7];
    let mut triples = 0;
    for stage in [2, 3] {
        for source in 0..8 {
            for transit in steps.map(|step| (source + step) % 8) {
                for destination in steps.map(|step| (transit + step) % 8).into_iter().filter(|d| *d != source)
                {
                    let [a, b, c] = [source, transit, destination].map(|block| size(block, stage));
                    assert_eq!((gcd(a, b), gcd(b, c)), (1, 1), "S{stage}: {source} {transit} {destination}");
                    triples += 1;
                }
            }
        }
    }
    assert_eq!(triples, 2 * 8 * 4 * 3);
    // Flows from one block: a transit S3 receives from two of eight source ports (model: hashing §5).
    let transit = |scheme| {
        let flows = Generator::new(Workload::Uniform, &network, 150_000, 42).from_block(0);
        let results = of_flows(&network, &question(scheme, 0), &flows);
        let first = |g: &&GroupStats| {
            let s = &network.switches[network.groups[g.group as usize].switch as usize];
            network.points[g.point as usize].0 == "transit-s3-down" && [1, 7].contains(&s.block)
        };
        let stats: Vec<f64> = results.groups.iter().filter(first).map(|g| g.cv_flows).collect();
        stats.iter().sum::<f64>() / stats.len() as f64
    };
    let (coprime, plain) = (transit(Scheme::Coprime), transit(Scheme::Plain));
    assert!(coprime < 0.15 && plain > 0.8, "{coprime} {plain}");
}

/// Runs the five-block DRing with transit groups of `members` members.
fn ring(members: u32, flows: u64) -> Results {
    let question = Question { members: Some(members), ..question(Scheme::Coprime, 0) };
    from_one_block(&question, flows)
}

/// Runs flows from one block of the five-block DRing.
fn from_one_block(question: &Question, flows: u64) -> Results {
    let network = DRing { blocks: 5, width: 8, parallel: 2 }.build().unwrap();
    of_flows(&network, question, &Generator::new(Workload::Uniform, &network, flows, 42).from_block(0))
}

#[test]
fn scenario_30_fig16_shape() {
    let transit = |q| {
        let results = ring(q, 1_000_000);
        let point = results.point("transit-s3-down").unwrap().clone();
        (point.cv[0].powi(2) - point.noise.powi(2)).max(0.0).sqrt()
    };
    let cvs = [9, 25, 41, 57, 73].map(transit);
    assert!(cvs.windows(2).all(|w| w[1] < w[0]), "{cvs:?}");
    assert!((cvs[0] - 0.294).abs() < 0.05 && cvs[3] < 0.07, "{cvs:?}");
    assert!(cvs[3] - cvs[4] < 0.015 && cvs[0] - cvs[3] > 0.2, "{cvs:?}");
}

#[test]
fn scenario_31_fig20_shape() {
    // Loads of the links between two neighbouring blocks: each S3 sends over them as source and as transit.
    let coprime = ring(57, 300_000);
    let up = coprime.point("s3-up").unwrap();
    assert!(up.max_min.unwrap() < 1.25, "{up:?}");
    // A repeated function: all stages of all blocks use the same one.
    let repeated = Question {
        terms: Terms { supply: vec![LO], ..question(Scheme::PerStage, 0).terms },
        ..question(Scheme::PerStage, 0)
    };
    let results = from_one_block(&repeated, 100_000);
    let up = results.point("s3-up").unwrap();
    assert!(up.max_min.is_none_or(|ratio| ratio > 2.0), "{up:?}");
}

#[test]
fn scenario_33_tofino_wide() {
    // 121 members take two words, so the share of entry j is not that of h % 121.
    let shape = GroupShape::balanced(121).unwrap();
    let selector = Selector::new(SelectorMode::Fair);
    let mut hits = vec![0u32; 240];
    for hash in 0..1u128 << 16 {
        let wide = hash | hash << 16 | hash << 32 | hash << 48 | hash << 64;
        hits[selector.pick(wide, &shape).unwrap() as usize] += 1;
    }
    let words = [&hits[..WORD_SLOTS as usize], &hits[WORD_SLOTS as usize..]].map(|w| w.iter().sum::<u32>());
    assert_eq!(words, [1 << 15; 2], "each word takes half, whatever its members");
    let (bits, width) = Picker::Fair.limits();
    let mut tofino = question(Scheme::Coprime, 0);
    (tofino.terms.hash_bits, tofino.terms.width, tofino.picker) = (bits, width, Picker::Fair);
    let network = Clos::default().build().unwrap();
    let planned = plan(&network, &tofino).unwrap();
    assert!(planned.groups.iter().all(|g| g.table.len() <= 120));
}

#[test]
fn scenario_34_hash_threshold_target() {
    let network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    let threshold = Question { picker: Picker::Threshold, ..question(Scheme::Coprime, 0) };
    let results = measured(&network, &threshold, 50_000);
    assert!(results.notes.iter().any(|n| n.contains("does not decorrelate")), "{:?}", results.notes);
    let s2 = results.point("s2-up").unwrap();
    assert!(s2.cv[0] > 1.0, "{s2:?}");
    let modulo = measured(&network, &question(Scheme::Coprime, 0), 50_000);
    assert!(modulo.point("s2-up").unwrap().cv[0] < 0.12);
}

#[test]
fn scenario_35_elephant() {
    let network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    let of = |picker| {
        let question = Question { picker, ..question(Scheme::Recombine, 0) };
        of_flows(&network, &question, &Generator::new(Workload::Zipf, &network, 100_000, 3))
    };
    for (real, ideal) in of(Picker::Modulo16).points.iter().zip(&of(Picker::Ideal).points) {
        assert!(real.cv_bytes > 3.0 * real.cv[2], "{}: bytes are far less even than flows", real.name);
        assert!(ideal.cv_bytes > 3.0 * ideal.cv[2], "{}: and no hash mends that", ideal.name);
    }
}

#[test]
fn scenario_37_determinism() {
    let network = DRing::default().build().unwrap();
    let question = question(Scheme::PerStage, 9);
    assert_eq!(plan(&network, &question), plan(&network, &question));
    let generator = Generator::new(Workload::Uniform, &network, 20_000, 42);
    let on = |threads: usize| {
        run(&network, &question, Flows::Made(&generator), NonZero::new(threads).unwrap()).unwrap()
    };
    let whole = on(1);
    assert!([2, 3, 7].map(on).iter().all(|results| *results == whole));
    // Halves add up to the whole, flow by flow.
    let planned = plan(&network, &question).unwrap();
    let compiled = Compiled::new(&network, &planned, question.picker);
    let flows: Vec<Flow> = generator.flows().collect();
    let mut sum = compiled.counters();
    for half in flows.chunks(10_000) {
        let mut counters = compiled.counters();
        half.iter().for_each(|flow| compiled.walk(flow, &mut counters));
        sum.add(&counters);
    }
    assert_eq!(sum, whole.counters);
    assert_eq!(run(&network, &question, Flows::Given(&flows), THREADS).unwrap(), whole);
}

#[test]
fn scenario_39_wan_site() {
    let network = Wan::default().build().unwrap();
    let worst = |scheme| {
        let results = measured(&network, &question(scheme, 0), 200_000);
        let beyond =
            |p: &sluice_fabric::polarization::PointStats| (p.cv[0].powi(2) - p.noise.powi(2)).max(0.0).sqrt();
        results.points.iter().map(beyond).fold(0.0, f64::max)
    };
    // The site splits over two supernodes, the supernode over four chips: gcd 2, half of the chips idle.
    let (plain, coprime) = (worst(Scheme::Plain), worst(Scheme::Coprime));
    assert!(plain > 0.9, "{plain}");
    assert!(coprime < 0.1, "{coprime}");
}

#[test]
fn scenario_40_replay_polarization() {
    // Captured behind one output of the first switch, replayed through a second one with another knob.
    let hashes = hashes(100_000);
    let spread = |knob: &dyn Fn(u16) -> u16| {
        let mut counts = [0u64; 8];
        for (hash, flows) in (0..=u16::MAX).zip(&hashes).filter(|(hash, _)| hash % 8 == 3) {
            counts[usize::from(knob(hash))] += flows;
        }
        Cv::of(&counts).value()
    };
    let constant = Rtag7Function::Crc32Lo.seed_constant(0x1234_5678);
    assert!(spread(&|h| (h ^ constant) % 8) > 2.6, "a new seed: flows stay together, so the hash is linear");
    assert!(spread(&|h| h.rotate_right(8) % 8) < 0.05, "a new offset parts them");
    assert!(spread(&|h| h % 57 % 8) < 0.08, "and so does a coprime size");
    assert!(spread(&|h| (splitmix64(u64::from(h)) % 8) as u16) < 0.05, "and a mixer that is not linear");
}

#[test]
fn reached_figures_of_the_paper() {
    // Coprime at most 0.1 where per-stage reaches 0.5; recombining below 0.05 where per-stage exceeds 0.6, every group
    // counted as it is: with flows enough, chance is small.
    let worst = |r: &Results| r.cdf().last().copied().unwrap();
    let mut drawn = question(Scheme::PerStage, 0);
    drawn.terms.supply = Rtag7Function::ALL.map(FlowFunction::Rtag7).to_vec();
    let drawn = |seed| Question { terms: Terms { seed, ..drawn.terms.clone() }, ..drawn.clone() };
    let coprime = ring(57, 2_000_000);
    assert!(worst(&coprime) <= 0.1, "{:#?}", coprime.points);
    let reached = (0..6).map(|seed| worst(&from_one_block(&drawn(seed), 60_000)));
    assert!(reached.fold(0.0, f64::max) > 0.5);
    let clos = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    let recombine = measured(&clos, &question(Scheme::Recombine, 0), 1_500_000);
    assert!(worst(&recombine) < 0.05, "{:#?}", recombine.points);
    let reached = (0..6).map(|seed| worst(&measured(&clos, &drawn(seed), 60_000)));
    assert!(reached.fold(0.0, f64::max) > 0.6);
}
