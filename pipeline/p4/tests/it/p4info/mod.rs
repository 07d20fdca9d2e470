//! What a controller must know of a program, as P4Runtime's message in text form. `p4info.txt` is the message of `p4info.p4`; a reader of
//! P4Runtime's protocol buffers accepts it. `UPDATE_EXPECT=1` writes it anew.

use expect_test::expect_file;
use sluice_asic::intrinsic::Architecture;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::Texts;
use sluice_p4::{Options, p4info, parse};

const PROGRAM: &str = include_str!("p4info.p4");

fn message() -> String {
    let texts = Texts::new().with("main.p4", PROGRAM);
    let options = Options { chip: Architecture::Tna, ..Options::default() };
    let mut parsed = parse(&WithPrelude::new(texts, Architecture::Tna), "main.p4", &options);
    let elaborated = parsed.elaborate();
    assert_eq!(parsed.diagnostics.errors(), 0, "{:?}", parsed.diagnostics.list());
    elaborated
        .map_or(String::new(), |(mut checked, pipe)| p4info::print(&parsed.ast, &mut checked, &pipe, "tna"))
}

#[test]
fn tables_actions_and_objects_have_their_messages() {
    expect_file!["p4info.txt"].assert_eq(&message());
}

/// Returns the block of a message with a name, in which a line with this text is.
fn block<'t>(message: &'t str, list: &str, line: &str) -> &'t str {
    let blocks = message.split("\n}\n").filter(|block| block.trim_start().starts_with(list));
    blocks.into_iter().find(|block| block.contains(line)).unwrap_or_default()
}

/// Names are without the pipe's, and what is hidden is left out.
#[test]
fn names_are_those_of_the_control_plane() {
    let message = message();
    let acl = block(&message, "tables {", "name: \"Ingress.acl.filter\"");
    for part in [
        "alias: \"filter\"",
        "name: \"hdr.ipv4.src\"",
        "name: \"hdr.ipv4.$valid$\"",
        "name: \"port\"",
        "name: \"hdr.ipv4.dst[31:24]\"",
        "match_type: TERNARY",
        "scope: DEFAULT_ONLY",
        "size: 64",
        "direct_resource_ids: ",
    ] {
        assert!(acl.contains(part), "{part} is not in {acl}");
    }
    // `NoAction` has the id that every compiler gives it, and is the default of a table that states none.
    let route = block(&message, "tables {", "name: \"Ingress.route\"");
    assert!(route.contains("id: 21257015") && route.contains("size: 512"), "{route}");
    assert!(!message.contains("secret"), "{message}");
    assert!(message.contains("name: \"packet_in\"") && message.contains("max_group_size: 120"));
}
