//! JUnit XML: a suite for each group, a test case for each verdict. Times are left out, so equal runs write equal files.

use super::{Ended, Verdict};

/// Returns the file.
pub(super) fn text(command: &str, verdicts: &[Verdict]) -> String {
    let mut suites: Vec<&str> = Vec::new();
    for verdict in verdicts {
        if !suites.contains(&verdict.suite.as_str()) {
            suites.push(&verdict.suite);
        }
    }
    let name = escaped(&format!("sluice {command}"));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\"{}>\n",
        counts(verdicts.iter())
    );
    for suite in suites {
        let own = || verdicts.iter().filter(|verdict| verdict.suite == suite);
        out += &format!("  <testsuite name=\"{}\"{}>\n", escaped(suite), counts(own()));
        own().for_each(|verdict| out += &case(verdict));
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

/// Returns the attributes with the numbers of tests, failures, errors and skipped tests.
fn counts<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> String {
    let [mut tests, mut failures, mut errors, mut skipped] = [0; 4];
    for verdict in verdicts {
        tests += 1;
        match verdict.ended {
            Ended::Passed => {}
            Ended::Failed(_) => failures += 1,
            Ended::Broken(_) => errors += 1,
            Ended::Skipped(_) => skipped += 1,
        }
    }
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

fn case(verdict: &Verdict) -> String {
    let mut start = format!(
        "    <testcase classname=\"{}\" name=\"{}\"",
        escaped(&verdict.suite),
        escaped(&verdict.name)
    );
    if let Some((file, line)) = &verdict.at {
        start += &format!(" file=\"{}\"", escaped(file));
        if let Some(line) = line {
            start += &format!(" line=\"{line}\"");
        }
    }
    let (tag, text) = match &verdict.ended {
        Ended::Passed => return start + "/>\n",
        Ended::Failed(text) => ("failure", text),
        Ended::Broken(text) => ("error", text),
        Ended::Skipped(text) => ("skipped", text),
    };
    let first = escaped(text.lines().next().unwrap_or_default());
    let text = escaped(text);
    format!("{start}>\n      <{tag} message=\"{first}\">{text}</{tag}>\n    </testcase>\n")
}

/// Returns the text as content of an element or an attribute. XML 1.0 (§2.2) has no way to write most control characters:
/// U+FFFD stands for each of them.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\'' => out += "&apos;",
            '"' => out += "&quot;",
            '\t' | '\n' | '\r' => out.push(c),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, text};
    use crate::output::verdict::examples;
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
        "#]].assert_eq(&text("test", &examples()));
    }

    #[test]
    fn text_of_every_kind_is_well_formed() {
        assert_eq!(escaped("a ]]> 'b' <!-- & -->"), "a ]]&gt; &apos;b&apos; &lt;!-- &amp; --&gt;");
        assert_eq!(escaped("\u{1b}[31mred\u{0}\u{ffff}\t\r\n\u{7f}é😀"), "�[31mred��\t\r\n\u{7f}é😀");
    }
}
