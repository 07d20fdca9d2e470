//! Cost of each construct of a program in the engine: the same small program (one header, a port) with one construct
//! more. The difference to the bare one is the construct's price.

use crate::row::{Row, lazy};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_control::{ControlOp, ControlState, Then};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn};
use sluice_ir::text;
use sluice_ir::{ActionCall, KeyValue, MatchKind, Program};
use sluice_place::{Placement, place};

/// A construct: name, declarations with actions and tables, parser operations, statements.
type Construct = (&'static str, &'static str, &'static str, &'static str);

const CONSTRUCTS: &[Construct] = &[
    ("bare", "", "", ""),
    ("add to a field", "action x : ingress () { h.out = add(h.a, 32w7); }", "", "call x;"),
    ("four moves", "action x : ingress () { h.out = h.a; h.b = h.c; h.d = h.e; h.c = h.b; }", "", "call x;"),
    ("condition", "action x : ingress () { h.out = 32w1; }", "", "if (h.b == 16w0) { call x; }"),
    ("crc_32 over 10 bytes", "hash x : ingress { algorithm = crc_32; inputs = { h.a, h.b, h.out }; width = 32; }
        action do_x : ingress () { h.out = hash(x); }", "", "call do_x;"),
    ("counter", "counter x : ingress { kind = packets_and_bytes; size = 65536; }
        action do_x : ingress () { count(x, h.b); }", "", "call do_x;"),
    ("register, one action", "register x : ingress { element = \"32\"; size = 65536; }
        register_action add (x) { @out0 = @lo; @lo = add(@lo, 1); }
        action do_x : ingress () { h.out = execute(add, h.b); }", "", "call do_x;"),
    ("register, condition on a pair", "register x : ingress { element = \"32x2\"; size = 32768; }
        register_action flow (x) { if (serial(sub(h.a, @lo) > 100)) { @hi = h.a; } @lo = h.a; @out0 = @hi; }
        action do_x : ingress () { h.out = execute(flow, h.b); }", "", "call do_x;"),
    ("register, two actions", "register x : ingress { element = \"32\"; size = 65536; }
        register_action one (x) { @lo = add(@lo, 1); }
        register_action two (x) { @out0 = @lo; }
        action write : ingress () { execute(one, h.b); }
        action read : ingress () { h.out = execute(two, h.b); }
        table pick : ingress { key = { h.d : exact; } actions = { write; read; } default_action = read(); size = 4;
            const entries = { (0) : write(); } }", "", "apply pick;"),
    ("meter", "meter x : ingress { kind = bytes; size = 1024; initial = rates(1000000000, 10000, 2000000000, 20000); }
        action do_x : ingress () { h.out = meter(x, h.c[9:0]); }", "", "call do_x;"),
    ("random", "random x : ingress { width = 32; }
        action do_x : ingress () { h.out = random(x); }", "", "call do_x;"),
    ("exact table, 1000 entries", "action x : ingress (bit<32> v) { h.out = v; }
        action no : ingress () { }
        table t : ingress { key = { h.b : exact; } actions = { x; no; } default_action = no(); size = 1024; }", "", "apply t;"),
    ("longest prefix, 1000 entries", "action x : ingress (bit<32> v) { h.out = v; }
        action no : ingress () { }
        table t : ingress { key = { h.a : lpm; } actions = { x; no; } default_action = no(); size = 1024; }", "", "apply t;"),
    ("ternary, 1000 entries", "action x : ingress (bit<32> v) { h.out = v; }
        action no : ingress () { }
        table t : ingress { key = { h.a : ternary; h.b : ternary; } actions = { x; no; } default_action = no(); size = 1024; }", "", "apply t;"),
    ("range, 1000 entries", "action x : ingress (bit<32> v) { h.out = v; }
        action no : ingress () { }
        table t : ingress { key = { h.b : range; } actions = { x; no; } default_action = no(); size = 1024; }", "", "apply t;"),
    ("lookahead", "metadata : ingress { bit<16> m.x; }
        action x : ingress () { h.b = m.x; }", "m.x = lookahead(0);", "call x;"),
    ("sum of 64 bits, and a move", "metadata : ingress { bit<64> m.x; }
        action x : ingress () { m.x = sub(m.x, 64w7); } action y : ingress () { h.out = m.x[63:32]; }", "", "call x; call y;"),
    ("funnel shift", "action x : ingress () { h.out = funnel_shift(h.a, h.out, 5); }", "", "call x;"),
    ("fields taken out of a checksum", "metadata : ingress { bit<16> m.rest; }
        action x : ingress () { h.e = m.rest; }", "m.rest = subtract_checksum({ h.a, h.b, h.c, h.d });", "call x;"),
    ("checksum verified", "metadata : ingress { bit<1> m.bad; }
        action x : ingress () { h.out = 32w1; }", "m.bad = verify_checksum({ h.a, h.b, h.c, h.d, h.e });", "if (m.bad == 1w0) { call x; }"),
];

fn program((name, declarations, parser, control): &Construct) -> Program {
    let text = format!(
        "program bench;
        header h : ingress {{ bit<32> a; bit<16> b; bit<16> c; bit<16> d; bit<16> e; bit<32> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        {declarations}
        action to_port : ingress () {{ ig_tm.ucast_egress_port = 9w1; }}
        parser ingress {{ start = first; state first {{ extract(h); {parser} transition accept; }} }}
        control ingress {{ {control} call to_port; }}
        deparser ingress {{ emit(h); }}\n"
    );
    text::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A thousand entries with keys that packets meet.
fn entries(program: &Program) -> ControlState {
    let mut control = ControlState::new(program);
    for (table, data) in program.tables.iter().filter(|(_, t)| t.entries.is_empty()) {
        for n in 0..1000u128 {
            let key = data
                .keys
                .iter()
                .map(|k| {
                    let width = k.width(program);
                    match k.kind {
                        MatchKind::Exact => KeyValue::Exact(n),
                        MatchKind::Lpm => KeyValue::Lpm { value: n << 12, len: 20 },
                        MatchKind::Ternary if width == 32 => {
                            KeyValue::Ternary { value: n << 8, mask: 0x000f_ff00 }
                        }
                        MatchKind::Ternary => KeyValue::Ternary { value: 0, mask: 0 },
                        MatchKind::Range => KeyValue::Range { lo: n * 60, hi: n * 60 + 30 },
                    }
                })
                .collect();
            let then = Then::Call(ActionCall { action: data.actions[0], args: vec![n] });
            // A range table may be full of rows before: the rest is left out.
            let _ = control.apply(program, ControlOp::InsertEntry { table, key, priority: 0, then });
        }
    }
    control
}

/// The rows of one batch size, in one gress, packets of 66 B; the first is the bare program.
pub(crate) fn rows(packets: u64, batch: usize) -> Vec<Row> {
    let group = format!("constructs, batch {batch}");
    CONSTRUCTS
        .iter()
        .map(|construct| {
            let placed = lazy(|| {
                let program = program(construct);
                let placement = place(&program, &ChipSpec::tofino2()).expect("the program fits");
                let control = entries(&program);
                (program, placement, control)
            });
            Row::new(&group, construct.0, move || run(&placed, packets, batch))
        })
        .collect()
}

/// Loads packets; the run sends them through ingress until `packets` went through.
fn run(
    (program, placement, control): &(Program, Placement, ControlState),
    packets: u64,
    batch: usize,
) -> Box<dyn FnMut() -> u64> {
    let mut engine = Engine::new(program, placement, control).expect("an engine");
    let mut store = PacketStore::new(HeadLayout::default());
    let mut passes: Vec<Pass> = (0..2048u32)
        .map(|n| {
            let x = n.wrapping_mul(0x9e37_79b9);
            let mut frame = x.to_be_bytes().to_vec();
            frame.extend((n as u16 % 1000).to_be_bytes());
            frame.extend(x.to_be_bytes().repeat(15));
            let input = PassIn { port: 8, global_tstamp: u64::from(n) * 10, ..PassIn::default() };
            Pass::new(store.insert(&frame, 0), input)
        })
        .collect();
    Box::new(move || {
        let mut done = 0;
        while done < packets {
            for chunk in passes.chunks_mut(batch) {
                engine.run(Gress::Ingress, chunk, &mut store);
            }
            done += passes.len() as u64;
        }
        done
    })
}
