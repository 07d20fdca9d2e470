//! Verdicts of rows and claims with numbers worked out by hand.

use super::*;
use sluice_scenario::contest::{Figure, FigureTable};
use std::collections::BTreeMap;

fn found() -> Evidence {
    let point = |load: &str, a: &[i128], b: &[i128]| {
        let of = |values: &[i128]| BTreeMap::from([("avg".to_owned(), Figure(values.to_vec()))]);
        let figures = FigureTable::new([("a".to_owned(), of(a)), ("b".to_owned(), of(b))].into(), a.len());
        FoundPoint { axes: vec![("workload.load".into(), load.into())], figures, ..FoundPoint::default() }
    };
    let points = vec![point("30", &[1000, 1100], &[2000, 2200]), point("50", &[1500, 1500], &[1600, 1400])];
    Evidence { parts: [(String::new(), points)].into(), outcomes: Vec::new() }
}

fn experiment(text: &str) -> Experiment {
    let head = "id = \"p/x\"\ntitle = \"t\"\nfigures = \"f\"\ndeviations = []\n[[contest]]\nfile = \"c\"\n";
    Experiment::parse("x", &format!("{head}{text}")).unwrap()
}

fn published() -> Published {
    let text = "[[paper]]\nid = \"p\"\ntitle = \"P\"\n[[value]]\nid = \"p/a\"\nvalue = 1.2\nread = \"table\"\nside = \
                \"paper\"\nsource = \"s\"\n[[value]]\nid = \"p/far\"\nvalue = 3.0\nread = \"text\"\nside = \"paper\"\nsource = \
                \"s\"\n[[value]]\nid = \"p/none\"\nread = \"none\"\nside = \"paper\"\nsource = \"s\"\n";
    Published::parse(text).unwrap()
}

fn verdicts(text: &str) -> Result<Judgement, String> {
    judge(&experiment(text), &found(), &published(), &[Rival::new("b")])
}

#[test]
fn a_row_agrees_if_its_whole_interval_is_in_the_tolerance() {
    // The mean is 1.05; with two seeds the half-interval is 12.706 * 0.05 = 0.635. At the load 50 both seeds have 1.5.
    let row = |load: u32, id: &str, within: u32| {
        format!(
            "[[row]]\nwhat = \"w\"\nat = {{ \"workload.load\" = {load} }}\nhere = \"a.avg\"\nper = 1000\npublished = \
             \"{id}\"\nwithin = {within}\n"
        )
    };
    let of = |text: String| verdicts(&text).unwrap().rows.remove(0);
    let near = of(row(30, "p/a", 0));
    assert_eq!((near.verdict, near.here.mean), (Verdict::Undecided, 1.05));
    assert!((near.ratio.unwrap() - 0.875).abs() < 1e-12);
    // The interval is 0.415 to 1.685. Of 1.2, 53 % are 0.636: wider than the interval's half, but 0.564 is above its low end.
    // 66 % are 0.792, and 0.408 is below it.
    let found = [52, 53, 65, 66].map(|within| of(row(30, "p/a", within)).verdict);
    let [undecided, disagrees, agrees] = [Verdict::Undecided, Verdict::Disagrees, Verdict::Agrees];
    assert_eq!(found, [undecided, disagrees, disagrees, agrees]);
    // An interval of 0.415 to 1.685 misses 3 ± 0.3, although it is wider.
    assert_eq!(of(row(30, "p/far", 10)).verdict, Verdict::Disagrees);
    // 1.5 is 25 % above 1.2.
    assert_eq!(of(row(50, "p/a", 24)).verdict, Verdict::Disagrees);
    assert_eq!(of(row(50, "p/a", 26)).verdict, Verdict::Agrees);
    assert_eq!(of(row(50, "p/none", 0)).verdict, Verdict::NoNumber);
    assert!(
        verdicts(&row(70, "p/a", 1))
            .unwrap_err()
            .contains("no run has workload.load = 70; there are load = 30")
    );
    assert!(verdicts(&row(50, "p/b", 1)).unwrap_err().contains("no published value `p/b`"));
}

#[test]
fn a_claim_holds_at_all_its_points() {
    let claim = |expect: &str, at: &str| {
        format!(
            "[[claim]]\nwhat = \"w\"\nsource = \"s\"\n{at}\nexpect = \"{expect}\"\nbecause = \"chance\"\n"
        )
    };
    // At the load 50 the differences are -100 and 100: the interval is 0 plus or minus 1271, the bound of 3000 is beyond it.
    let all = verdicts(&claim("a.avg < b.avg", "")).unwrap();
    assert_eq!((all.verdict(), all.summary().as_str()), (Verdict::Undecided, "0 of 1 agree, 1 undecided"));
    assert!(
        !all.is_unexplained() && all.claims[0].numbers[1].starts_with("load = 50 UNDECIDED: "),
        "{all:?}"
    );
    let all = verdicts(&claim("a.avg > b.avg + 3000", "")).unwrap();
    assert_eq!(all.verdict(), Verdict::Disagrees);
    let all = verdicts(&claim("a.avg + (a.avg > 1400) * 3000 < b.avg", "")).unwrap();
    assert_eq!(all.verdict(), Verdict::Disagrees);
    assert_eq!(all.doubts().collect::<Vec<_>>(), [(Verdict::Disagrees, "w", "chance")]);
    assert!(all.claims[0].numbers[1].starts_with("load = 50 FAILS: a.avg 1500, b.avg 1500"), "{all:?}");
    // The differences are -100 and -200: the interval is -150 plus or minus 635. Without 900, it is -1050 plus or minus 635.
    let one = verdicts(&claim("a.avg + 900 < b.avg", "at = { \"workload.load\" = 30 }")).unwrap();
    assert_eq!(one.verdict(), Verdict::Undecided);
    let one = verdicts(&claim("a.avg < b.avg", "at = { \"workload.load\" = 30 }")).unwrap();
    assert_eq!(one.verdict(), Verdict::Agrees);
}

#[test]
fn one_seed_decides_nothing() {
    let of = |values: &[i128]| BTreeMap::from([("avg".to_owned(), Figure(values.to_vec()))]);
    let judged = |values: &[i128]| {
        let figures = FigureTable::new([("a".to_owned(), of(values))].into(), values.len());
        let points = vec![FoundPoint { figures, ..FoundPoint::default() }];
        let found = Evidence { parts: [(String::new(), points)].into(), outcomes: Vec::new() };
        let text = "[[row]]\nwhat = \"r\"\nhere = \"a.avg\"\nper = 1000\npublished = \"p/a\"\n[[claim]]\nwhat = \"c\"\n\
                    source = \"s\"\nexpect = \"a.avg < 2000\"\n[[claim]]\nwhat = \"e\"\nsource = \"s\"\n\
                    expect = \"a.avg == 1200\"\n";
        judge(&experiment(text), &found, &published(), &[]).unwrap()
    };
    let (one, two) = (judged(&[1200]), judged(&[1200, 1200]));
    assert_eq!((one.summary().as_str(), one.tally().undecided), ("0 of 3 agree, 3 undecided", 3));
    assert_eq!(
        one.causes()[0],
        ("r", "is undecided because: the seeds are too few, or differ too much.".to_owned())
    );
    assert_eq!(two.summary(), "agrees (3 of 3)");
    assert!(one.is_unexplained() && !two.is_unexplained());
    let all: Tally = [one.tally(), two.tally(), two.tally()].into_iter().sum();
    assert_eq!((all, all.compared()), (Tally { agree: 6, undecided: 3, disagree: 0 }, 9));
}

#[test]
fn rivals_have_the_same_numbers() {
    let row = "[[row]]\nwhat = \"w\"\nat = { \"workload.load\" = 30 }\nhere = \"a.avg * 2\"\nper = 1000\n";
    let rivals = verdicts(row).unwrap().rivals;
    assert_eq!(
        (rivals[0].here.mean, rivals[0].rivals[0].0.as_str(), rivals[0].rivals[0].1.mean),
        (2.1, "b", 4.2)
    );
}

#[test]
fn numbers_have_four_digits() {
    for (value, text) in [(0.0, "0"), (1.0, "1"), (0.048_312, "0.04831"), (12_345.6, "12346"), (-1.5, "-1.5")]
    {
        assert_eq!(significant(value), text);
    }
}
