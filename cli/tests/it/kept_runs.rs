//! Kept runs of `sluice run -o`: which changes of a program make a new run.

use crate::contest::run;
use crate::experiments::{LONE, folder, table, value};
use crate::support::{ok, text};
use sluice::embed::call;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Number of the runs that a folder has.
fn kept(out: &Path) -> usize {
    fs::read_dir(out.join("runs")).unwrap().count()
}

/// A user's program that routes like the programs of Sluice.
mod own {
    use sluice::prelude::net::ether_type::IPV4;
    use sluice::prelude::net::{Ethernet, Ipv4};
    use sluice::prelude::*;

    #[stage_program]
    fn ingress(ig: &GressBuilder<'_>, mark: u64) {
        let (ethernet, ipv4) = (ig.header::<Ethernet>(), ig.header::<Ipv4>());
        let tm = ig.intrinsic::<tna::ForTm>();
        let start = ig.state().extract(ethernet).select(ethernet.ether_type);
        let parse_ipv4 = ig.state().extract(ipv4);
        start.on(IPV4, parse_ipv4);
        ig.start(start);
        let no_route = ig.drop_label("No matching route");
        let path = ig.hash::<14>("crc_32c").inputs(list![ipv4.src, ipv4.dst]).build();
        let next_hops = ig.profile(128).selector(SelectorMode::Fair, path, 64, 32).build();
        let forward = ig.action(|a, port: Arg<9>| {
            tm.ucast_egress_port = port;
            ipv4.dscp = mark;
        });
        let unreachable = ig.action(|a| drop(no_route));
        let route = ig
            .table([lpm(ipv4.dst)])
            .actions([forward])
            .default(unreachable)
            .size(64)
            .profile(next_hops)
            .build();
        ig.control(|c| route.apply());
        ig.deparser().checksum(ipv4, ipv4.checksum, ipv4.summed()).emit(ethernet).emit(ipv4);
    }

    /// The program as its author has it after a change: of its code (`MARK`), or of its entries (`MEMBER`).
    pub(crate) struct Own<const MARK: u64, const MEMBER: bool>;

    impl<const MARK: u64, const MEMBER: bool> ProgramDef for Own<MARK, MEMBER> {
        const NAME: &'static str = "own";
        const SUMMARY: &'static str = "Routes over equal paths";
        type Params = ();

        fn declare(b: &Builder, (): &()) {
            ingress(&b.ingress(), MARK);
        }

        fn default_setup(_: &Program, _: &PortMap, (): &()) -> Result<Setup, SetupError> {
            Ok(Setup::default())
        }

        fn setup_at(
            program: &Program,
            ports: &PortMap,
            at: &Position,
            (): &(),
        ) -> Option<Result<Setup, SetupError>> {
            let mut ops = Ops::new(program);
            let mut setup = || {
                ops.routes(at, "route", "forward")?;
                if MEMBER {
                    ops.member("next_hops", 127, "forward", [front_port(ports, 0)?.1.into()])?;
                }
                Ok(())
            };
            let setup = setup();
            Some(setup.map(|()| Setup { ops: ops.into_vec(), port_speeds: Vec::new() }))
        }
    }
}

#[test]
fn a_change_in_the_program_of_a_user_is_run() {
    let dir = folder(&LONE.replace("name = \"ecmp\"", "name = \"own\""));
    let [file, out] = ["lone.toml", "out"].map(|name| dir.path().join(name));
    let run = |catalogue: sluice::prelude::Catalogue| {
        let words = ["run", text(&file), "-o", text(&out)].map(Into::into);
        let called = call(&catalogue, &words, &Arc::default());
        assert_eq!(called.code, 0, "{}", called.err);
        (kept(&out), value(&table(&out.join("sweep.csv"))[0], "digest").to_owned())
    };
    let first = run(sluice::catalogue![own::Own::<3, false>]);
    assert_eq!(first.0, 1);
    // Neither the same program nor another program of the catalogue is a reason to run again.
    assert_eq!(run(sluice::catalogue![own::Own::<3, false>]), first);
    let code = run(sluice::catalogue![own::Own::<4, false>]);
    let entries = run(sluice::catalogue![own::Own::<3, true>]);
    assert_eq!((code.0, entries.0), (2, 3));
    // The author takes the change back, and the first run holds again.
    assert_eq!(run(sluice::catalogue![own::Own::<3, false>]), (3, first.1));
}

#[test]
fn a_program_in_a_file_counts_by_what_it_says() {
    let topology = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns";
    let of_file = "file = \"p/ecmp.sluice\"\nentries = \"p/{switch}.toml\"";
    let dir = folder(&LONE.replace("name = \"ecmp\"", of_file));
    let [programs, out] = ["p", "out"].map(|name| dir.path().join(name));
    let network = ["--topology", topology, "--port-speed", "100G", "-o", text(&programs)];
    ok(&[&["programs", "ecmp", "--ir"], &network[..]].concat());
    ok(&[&["entries", "ecmp"], &network[..]].concat());
    let run_in = |folder: &Path, file: &str| {
        let (code, _, error) = run(folder, &["run", file, "-o", text(&out)]);
        assert_eq!((code, error.as_str()), (0, ""));
        kept(&out)
    };
    let run = || run_in(dir.path(), "lone.toml");
    assert_eq!(run(), 1);
    // The place of the files does not count.
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(run_in(elsewhere.path(), text(&dir.path().join("lone.toml"))), 1);
    let path = programs.join("ecmp.sluice");
    let program = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("// A comment changes nothing.\n{program}")).unwrap();
    assert_eq!(run(), 1);
    let changed = program.replace("No matching route", "No route");
    assert_ne!(changed, program);
    fs::write(&path, changed).unwrap();
    assert_eq!(run(), 2);
    // Entries of a file count by their text.
    let path = programs.join("leaf0.toml");
    let entries = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("# A comment.\n{entries}")).unwrap();
    assert_eq!(run(), 3);
}
