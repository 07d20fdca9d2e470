//! Coverage of a program as text, JSON and HTML.

use maud::{Markup, html as markup};
use serde_json::{Map, Value, json};
use sluice_charts::{Page, share_bar};
use sluice_exec::cover::{Class, Coverage, PointData, Points, Share};

/// A point with its count.
type Row<'p> = (&'p PointData, u64);

fn rows<'p>(points: &'p Points, coverage: &Coverage, class: Class) -> Vec<Row<'p>> {
    let numbered = (0u32..).zip(points.list());
    let of = numbered.filter(|(_, p)| p.point.class() == class);
    of.map(|(n, p)| (p, coverage.count(n))).collect()
}

/// Returns true if the point was not reached and is not proven unreachable.
fn uncovered(row: &Row<'_>) -> bool {
    row.1 == 0 && row.0.unreachable.is_none()
}

/// Returns the name of a point with its place in the author's text, if that is known.
fn named(point: &PointData) -> String {
    match point.place.as_str() {
        "" => point.name.clone(),
        place => format!("{} [{place}]", point.name),
    }
}

/// Returns the coverage as a table, then every point that was not reached.
#[must_use]
pub fn text(program: &str, points: &Points, coverage: &Coverage) -> String {
    let mut out = format!("coverage of {program}\n");
    let line = |name: &str, share: Share, never: usize| {
        let never = if never > 0 { format!("  ({never} proven unreachable)") } else { String::new() };
        format!("  {name:<14} {:>4} of {:>4}  {:>3} %{never}\n", share.hit, share.total, share.percent())
    };
    for (class, key, _) in Class::TABLE {
        let all = rows(points, coverage, class);
        let never = all.iter().filter(|(p, n)| *n == 0 && p.unreachable.is_some()).count();
        out += &line(key, coverage.share(points, class), never);
    }
    out += &line("all", coverage.overall(points), 0);
    for (class, key, _) in Class::TABLE {
        for (point, _) in rows(points, coverage, class).iter().filter(|row| uncovered(row)) {
            out += &format!("  uncovered: {key}: {}\n", named(point));
        }
    }
    for (class, key, _) in Class::TABLE {
        for (point, n) in rows(points, coverage, class) {
            if let (Some(why), 0) = (point.unreachable, n) {
                out += &format!("  unreachable: {key}: {}: {why}\n", named(point));
            }
        }
    }
    out
}

/// Returns the shares per class, and every point with its count.
#[must_use]
pub fn json(program: &str, points: &Points, coverage: &Coverage) -> Value {
    let mut list = Vec::new();
    for (class, key, _) in Class::TABLE {
        for (point, packets) in rows(points, coverage, class) {
            list.push(json!({
                "class": key, "point": named(point), "packets": packets, "unreachable": point.unreachable,
            }));
        }
    }
    json!({
        "schema": "sluice.coverage/1",
        "program": program,
        "coverage": shares(points, coverage),
        "points": list,
    })
}

/// Returns `{class: {hit, total}}` for every class.
#[must_use]
pub fn shares(points: &Points, coverage: &Coverage) -> Value {
    let share = |class| {
        let Share { hit, total } = coverage.share(points, class);
        json!({ "hit": hit, "total": total })
    };
    Value::Object(
        Class::TABLE.iter().map(|(c, key, _)| ((*key).to_owned(), share(*c))).collect::<Map<_, _>>(),
    )
}

/// Returns the coverage as one page without external files.
#[must_use]
pub fn html(program: &str, points: &Points, coverage: &Coverage) -> String {
    let page = Page::new(&format!("Coverage of {program}")).header(table(points, coverage));
    lists(page, points, coverage).html()
}

/// Returns the table of the shares; each class links to its list ([`lists`]).
#[must_use]
pub fn table(points: &Points, coverage: &Coverage) -> Markup {
    markup! {
        div.wide { table {
            thead { tr { th.l { "class" } th { "reached" } th { "of" } th { "%" } th.l { "" } th.l { "meaning" } } }
            tbody { @for (class, key, doc) in Class::TABLE {
                @let share = coverage.share(points, class);
                tr {
                    td.l { a href={ "#" (key) } { (key) } }
                    td { (share.hit) }
                    td { (share.total) }
                    td { (share.percent()) }
                    td.l { (share_bar(share.percent() as f64 / 100.0)) }
                    td.l { (doc) }
                }
            } }
        } }
    }
}

/// Adds a section for each class, with all its points.
#[must_use]
pub fn lists(mut page: Page, points: &Points, coverage: &Coverage) -> Page {
    for (class, key, doc) in Class::TABLE {
        let list = markup! {
            p.note { (doc) }
            div.wide { table {
                thead { tr { th.l { "point" } th { "packets" } } }
                tbody { @for row in rows(points, coverage, class) {
                    @let class = match (uncovered(&row), row.1) {
                        (true, _) => Some("missing"),
                        (false, 0) => Some("muted"),
                        _ => None,
                    };
                    tr class=[class] {
                        td.l { (named(row.0)) }
                        td {
                            @match (row.1, row.0.unreachable) {
                                (0, Some(why)) => (why),
                                (n, _) => (n),
                            }
                        }
                    }
                } }
            } }
        };
        page = page.section(key, key, &list);
    }
    page
}

#[cfg(test)]
mod tests {
    use sluice_asic::chip::ChipSpec;
    use sluice_exec::cover::{Class, Coverage, Points};

    const PROGRAM: &str = "program covered;
    header a : ingress { bit<8> kind; bit<8> x; }
    header b : ingress { bit<8> y; bit<8> z; }
    intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
    action one : ingress () { ig_tm.ucast_egress_port = 9w1; }
    action two : ingress () { ig_tm.ucast_egress_port = 9w2; }
    table fixed : ingress {
        key = { a.x : ternary; }
        actions = { one; two; }
        default_action = one();
        size = 4;
        const entries = { (1) : two(); (_) : one(); }
    }
    parser ingress {
        start = first;
        state first {
            extract(a);
            select (a.kind) { (1) : second; default : accept; }
        }
        state second { extract(b); transition accept; }
    }
    control ingress { apply fixed; }
    deparser ingress { emit(a); emit(b); }\n";

    #[test]
    fn reports_name_what_is_missing() {
        let program = sluice_ir::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e}"));
        let points = Points::of(&program, &ChipSpec::tofino2());
        let coverage = Coverage::new(&points);
        let text = super::text(&program.name, &points, &coverage);
        assert!(text.contains("uncovered: transitions: ingress first -> second (0x1)"), "{text}");
        assert!(text.contains("unreachable: tables_miss: fixed: its entries match every packet"), "{text}");
        let json = super::json(&program.name, &points, &coverage);
        let keys: Vec<&String> = json["coverage"].as_object().map(|o| o.keys().collect()).unwrap_or_default();
        let mut expected: Vec<&str> = Class::TABLE.iter().map(|(_, key, _)| *key).collect();
        expected.sort_unstable();
        assert_eq!(keys, expected);
        let page = super::html(&program.name, &points, &coverage);
        assert!(page.contains("ingress first -&gt; second (0x1)") && page.ends_with("</html>"), "{page}");
    }
}
