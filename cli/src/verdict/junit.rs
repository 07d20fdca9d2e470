//! JUnit XML: a suite for each group, a test case for each verdict. Times are left out, so equal runs write equal files.

use super::{Ended, Verdict};
use crate::fail::Failure;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// Returns the file.
pub(super) fn text(command: &str, verdicts: &[Verdict]) -> Result<String, Failure> {
    let mut out = Writer::new_with_indent(Vec::new(), b' ', 2);
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut suites: Vec<&str> = Vec::new();
    for verdict in verdicts {
        if !suites.contains(&verdict.suite.as_str()) {
            suites.push(&verdict.suite);
        }
    }
    let name = format!("sluice {command}");
    let root = out.create_element("testsuites").with_attribute(("name", name.as_str()));
    let root = counts(root, verdicts.iter());
    root.write_inner_content(|out| {
        for suite in suites {
            let own = || verdicts.iter().filter(|verdict| verdict.suite == suite);
            let element = out.create_element("testsuite").with_attribute(("name", suite));
            counts(element, own())
                .write_inner_content(|out| own().try_for_each(|verdict| case(out, verdict)))?;
        }
        Ok(())
    })?;
    let mut text = String::from_utf8_lossy(&out.into_inner()).into_owned();
    text.push('\n');
    Ok(text)
}

type Element<'a> = quick_xml::writer::ElementWriter<'a, Vec<u8>>;

/// Adds the numbers of tests, failures, errors and skipped tests.
fn counts<'a, 'v>(element: Element<'a>, verdicts: impl Iterator<Item = &'v Verdict>) -> Element<'a> {
    let mut numbers = [0; 4];
    for verdict in verdicts {
        numbers[0] += 1;
        match verdict.ended {
            Ended::Passed => {}
            Ended::Failed(_) => numbers[1] += 1,
            Ended::Broken(_) => numbers[2] += 1,
            Ended::Skipped(_) => numbers[3] += 1,
        }
    }
    let names = ["tests", "failures", "errors", "skipped"];
    names
        .iter()
        .zip(numbers)
        .fold(element, |element, (name, number)| element.with_attribute((*name, number.to_string().as_str())))
}

fn case(out: &mut Writer<Vec<u8>>, verdict: &Verdict) -> io::Result<()> {
    let mut element = out
        .create_element("testcase")
        .with_attribute(("classname", verdict.suite.as_str()))
        .with_attribute(("name", verdict.name.as_str()));
    if let Some((file, line)) = &verdict.at {
        element = element.with_attribute(("file", file.as_str()));
        if let Some(line) = line {
            element = element.with_attribute(("line", line.to_string().as_str()));
        }
    }
    let (tag, text) = match &verdict.ended {
        Ended::Passed => return element.write_empty().map(|_| ()),
        Ended::Failed(text) => ("failure", text),
        Ended::Broken(text) => ("error", text),
        Ended::Skipped(text) => ("skipped", text),
    };
    element.write_inner_content(|out| {
        let first = text.lines().next().unwrap_or_default();
        let inner = out.create_element(tag).with_attribute(("message", first));
        inner.write_text_content(BytesText::new(text)).map(|_| ())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::verdict::examples;
    use expect_test::expect;

    #[test]
    fn suites_have_their_cases_and_counts() {
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="sluice test" tests="4" failures="1" errors="1" skipped="1">
              <testsuite name="a" tests="2" failures="1" errors="0" skipped="0">
                <testcase classname="a" name="sends"/>
                <testcase classname="a" name="drops &lt;nothing&gt;" file="a.toml" line="7">
                  <failure message="expected &quot;0&quot; &amp; found 3">expected &quot;0&quot; &amp; found 3</failure>
                </testcase>
              </testsuite>
              <testsuite name="b" tests="2" failures="0" errors="1" skipped="1">
                <testcase classname="b" name="reads" file="b.stf">
                  <error message="cannot read b.stf">cannot read b.stf</error>
                </testcase>
                <testcase classname="b" name="pauses">
                  <skipped message="the profile has no watchdog">the profile has no watchdog</skipped>
                </testcase>
              </testsuite>
            </testsuites>
        "#]].assert_eq(&text("test", &examples()).unwrap());
    }
}
