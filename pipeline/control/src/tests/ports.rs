//! Names of ports in files, and ports that a device does not have.

use crate::{ControlOp, ControlState, DeviceOp, EntryError, Script, Then, entries, lines, template, toml};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_ir::Program;
use sluice_samples::router::router;

/// The 32 ports of Tofino 2 at 400G: port n is dev_port 128 * (n / 8) + 8 + 8 * (n % 8) (model: chip §9).
fn ports() -> PortMap {
    PortMap::default_for(&ChipSpec::from_name("tofino2").unwrap()).unwrap()
}

type Load = fn(&Program, &PortMap, &str, &str, &mut ControlState) -> Result<Script, Vec<EntryError>>;

fn load(load: Load, text: &str) -> Result<(Script, ControlState), String> {
    let program = router();
    let mut control = ControlState::new(&program);
    let script = load(&program, &ports(), text, "my.toml", &mut control);
    script.map(|script| (script, control)).map_err(|e| e[0].to_string())
}

fn member(port: &str) -> String {
    format!(
        "[[profile.nexthops.member]]\nid = 1\naction = \"set_nexthop\"\n\
         args = {{ port = {port}, dmac = \"02:00:00:00:00:04\" }}\n"
    )
}

/// Returns the first argument of the only member.
fn port_of(control: &ControlState) -> u128 {
    let program = router();
    control.profiles[program.profile_named("nexthops").unwrap()].members[&1].args[0]
}

#[test]
fn a_number_is_a_dev_port_and_a_name_says_which() {
    for (written, dev) in [("136", 136), ("\"port 8\"", 136), ("\"dev_port 136\"", 136), ("\"port:31\"", 448)]
    {
        let (_, control) = load(toml::load_on, &member(written)).unwrap();
        assert_eq!(port_of(&control), dev, "{written}");
    }
    let line = "act_prof_create_member nexthops no_route\n\
                act_prof_create_member nexthops set_nexthop port:8 02:00:00:00:00:04\n";
    assert_eq!(port_of(&load(lines::load_on, line).unwrap().1), 136);
}

#[test]
fn names_are_read_wherever_a_port_is_named() {
    let file = "[[mirror]]\nsession = 3\nport = \"port 0\"\n[[multicast]]\ngroup = 5\nnodes = [{ ports = [\"port 1\", 24] }]\n\
                [[exclusion]]\nid = 4\nports = [\"port 2\"]\n[[port]]\nport = \"port 8\"\nup = false\n\
                [[queue]]\nport = \"dev_port 8\"\nqueue = 3\npaused = true\n[[deflection]]\npipe = 0\nport = \"port 3\"\nqueue = 1\n";
    let (_, control) = load(toml::load_on, file).unwrap();
    let text = "mirroring_add 3 port:0\nport_down port:8\nqueue_pause port:0 3\ndeflection_set 0 port:3 1\n";
    let (_, by_lines) = load(lines::load_on, text).unwrap();
    assert_eq!(control.replication.sessions[&3].port.unwrap().number(), 8);
    assert_eq!(control.replication.groups[&5][0].ports, [16, 24]);
    assert_eq!(control.replication.exclusions[&4], [24]);
    assert_eq!(control.device, by_lines.device);
    assert!(control.device.down.contains(&136) && control.device.paused.contains(&(8, 3)));
    assert_eq!(control.device.deflections[&0], (32, 1));
    let changes = lines::parse_changes_on(&router(), &ports(), "@1ms port_up port:31\n", "later").unwrap();
    assert_eq!(changes.ops[0].op, ControlOp::Device(DeviceOp::SetPort { port: 448, up: true }));
}

#[test]
fn a_name_that_is_no_port_says_what_is() {
    for (written, words) in [
        ("\"port 32\"", &["my.toml:4", "front-panel port 32", "ports 0 to 31", "sluice explain ports"][..]),
        ("\"dev_port 500\"", &["dev:500", "its dev_ports are"]),
        ("\"dev_port 512\"", &["`dev_port 512` is not a port", "dev_port 136"]),
        ("\"port eight\"", &["my.toml:4", "`eight` is not a port", "front-panel port such as `3` or `1/0`"]),
    ] {
        let error = load(toml::load_on, &member(written)).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{written}: {error}");
        }
    }
    let unknown = toml::parse(&router(), &member("\"port 8\""), "my.toml").unwrap_err();
    assert!(unknown[0].text.contains("the device is not known"), "{}", unknown[0]);
}

#[test]
fn ports_that_the_device_lacks_or_that_recirculate_are_found_unless_usual() {
    let (program, ports) = (router(), ports());
    let none = ControlState::new(&program);
    let script = |port: &str| load(toml::load_on, &member(port)).unwrap();
    let missing = |port: &str, usual| script(port).0.missing_ports(&program, &ports, usual);
    assert_eq!(missing("136", &none), []);
    let errors = missing("500", &none);
    assert_eq!((errors.len(), errors[0].line), (1, 1));
    assert!(errors[0].to_string().contains("argument `port`: dev:500"), "{}", errors[0]);
    assert_eq!(missing("500", &script("500").1), [], "the program runs with it");

    let unlikely = |port: &str, usual: &ControlState| script(port).0.unlikely_ports(&program, &ports, usual);
    let warnings = unlikely("7", &none);
    let wanted = "my.toml:1: dev_port 7 is a recirculation port, so packets come back into ingress; \
                  front-panel port 7 is dev_port 64, or \"port 7\"";
    assert_eq!(warnings, [wanted]);
    assert!(unlikely("7", &script("7").1).is_empty() && unlikely("8", &none).is_empty());
}

#[test]
fn printed_entries_say_which_port_a_dev_port_is() {
    let program = router();
    for (port, comment) in [
        ("136", "dev_port 136 is port 8"),
        ("7", "dev_port 7 is a recirculation port"),
        ("2", "dev_port 2 is the CPU port"),
        ("500", "dev_port 500 does not exist"),
    ] {
        let (_, control) = load(toml::load_on, &member(port)).unwrap();
        let text = entries::print_on(&program, &ports(), &control);
        assert!(
            text.contains(&format!("port = {port}, dmac = \"02:00:00:00:00:04\" }}  # {comment}\n")),
            "{text}"
        );
        let (_, again) = load(toml::load_on, &text).unwrap();
        assert_eq!(again, control);
        assert!(!entries::print(&program, &control).contains("# dev_port"));
    }
}

#[test]
fn a_template_shows_entries_that_lead_from_one_to_the_next() {
    let program = router();
    let state = format!(
        "{}[[profile.nexthops.group]]\nid = 7\nmembers = [1]\n\
         [[table.ipv4_lpm]]\nkey = {{ \"ipv4.dst\" = \"10.1.0.0/16\" }}\ngroup = 7\n",
        member("136")
    );
    let (_, control) = load(toml::load_on, &state).unwrap();
    let text = template::print_on(&program, &ports(), &control);
    let lines = text.lines().filter(|l| !l.starts_with("##"));
    let example: Vec<&str> =
        lines.map(|l| l.strip_prefix("# ").or(l.strip_prefix('#')).unwrap_or(l)).collect();
    let example = example.join("\n");
    for words in [
        "port = \"port 8\", dmac = \"02:00:00:00:00:04\" }  # dev_port 136 is port 8",
        "id = 7\nmembers = [{ member = 1, weight = 1 }]",
        "key = { \"ipv4.dst\" = \"10.1.0.0/16\" }\ngroup = 7",
    ] {
        assert!(example.contains(words), "{words}\n{example}");
    }
    let (_, applied) = load(toml::load_on, &example).unwrap();
    let table = program.table_named("ipv4_lpm").unwrap();
    let thens: Vec<&Then> = applied.tables[table].entries().map(|(_, e)| &e.then).collect();
    assert_eq!(thens, [&Then::Group(7)]);
}
