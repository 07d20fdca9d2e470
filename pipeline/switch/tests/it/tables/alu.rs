//! Every ALU instruction in every size of container: the bytes that it writes, compared with its meaning over the
//! integers; and instructions that a chip lacks.

use crate::tables::bench::{agree, parsed, placed};
use sluice_asic::alu::{AluClass, AluOp};
use sluice_asic::chip::ChipSpec;
use sluice_control::ControlState;
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify::{for_chip, has_errors};

/// One action per instruction, chosen by the first byte; shifts are by 3, other instructions take `h.b`.
fn program(ops: &[AluOp], width: u32) -> Program {
    let mut text = format!(
        "program alu;
        header h : ingress {{ bit<8> op; bit<{width}> a; bit<{width}> b; bit<{width}> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action send : ingress () {{ ig_tm.ucast_egress_port = 9w8; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        deparser ingress {{ emit(h); }}\n"
    );
    let (mut list, mut entries) = (String::new(), String::new());
    for (n, op) in ops.iter().enumerate() {
        let b = if op.class() == AluClass::Shift { format!("{width}w3") } else { "h.b".to_owned() };
        text += &format!("action do_{op} : ingress () {{ h.out = {op}(h.a, {b}); }}\n");
        list += &format!("do_{op}; ");
        entries += &format!("({n}) : do_{op}(); ");
    }
    text += &format!(
        "table pick : ingress {{ key = {{ h.op : exact; }} actions = {{ {list} send; }} default_action = send();
        size = 32; const entries = {{ {entries} }} }}
        control ingress {{ apply pick; call send; }}\n"
    );
    parsed(&text)
}

/// Returns the result of an instruction over the integers, modulo 2^width.
fn meaning(op: AluOp, a: u64, b: u64, width: u32) -> u64 {
    let (mask, half) = ((1_i128 << width) - 1, 1_i128 << (width - 1));
    let signed = |v: u64| if i128::from(v) >= half { i128::from(v) - 2 * half } else { i128::from(v) };
    let (ua, ub, sa, sb) = (i128::from(a), i128::from(b), signed(a), signed(b));
    let bits = |f: fn(bool, bool) -> bool| {
        (0..width).fold(0, |v, i| v | i128::from(f(ua >> i & 1 == 1, ub >> i & 1 == 1)) << i)
    };
    let exact: i128 = match op {
        AluOp::Add => ua + ub,
        AluOp::Sub => ua - ub,
        AluOp::Saddu => (ua + ub).min(mask),
        AluOp::Ssubu => (ua - ub).max(0),
        AluOp::Sadds => (sa + sb).clamp(-half, half - 1),
        AluOp::Ssubs => (sa - sb).clamp(-half, half - 1),
        AluOp::Minu => ua.min(ub),
        AluOp::Maxu => ua.max(ub),
        AluOp::Mins => sa.min(sb),
        AluOp::Maxs => sa.max(sb),
        AluOp::Setz => 0,
        AluOp::Nor => bits(|a, b| !(a | b)),
        AluOp::Andca => bits(|a, b| !a & b),
        AluOp::Andcb => bits(|a, b| a & !b),
        AluOp::Nota => bits(|a, _| !a),
        AluOp::Notb => bits(|_, b| !b),
        AluOp::Xor => bits(|a, b| a ^ b),
        AluOp::Nand => bits(|a, b| !(a & b)),
        AluOp::And => bits(|a, b| a & b),
        AluOp::Xnor => bits(|a, b| a == b),
        AluOp::AluA | AluOp::Set => ua,
        AluOp::AluB => ub,
        AluOp::Orca => bits(|a, b| !a | b),
        AluOp::Orcb => bits(|a, b| a | !b),
        AluOp::Or => bits(|a, b| a | b),
        AluOp::Sethi => mask,
        AluOp::Shl => ua << 3,
        AluOp::Shru => ua >> 3,
        AluOp::Shrs => sa >> 3,
        AluOp::Gtequ => i128::from(ua >= ub),
        AluOp::Gteqs => i128::from(sa >= sb),
        AluOp::Ltu => i128::from(ua < ub),
        AluOp::Lts => i128::from(sa < sb),
        AluOp::Lequ => i128::from(ua <= ub),
        AluOp::Leqs => i128::from(sa <= sb),
        AluOp::Gtu => i128::from(ua > ub),
        AluOp::Gts => i128::from(sa > sb),
        AluOp::Eq => i128::from(ua == ub),
        AluOp::Neq => i128::from(ua != ub),
    };
    (exact & mask) as u64
}

fn field(value: u64, width: u32) -> Vec<u8> {
    value.to_be_bytes()[8 - width as usize / 8..].to_vec()
}

#[test]
fn every_instruction_in_every_container() {
    let chips = [ChipSpec::tofino(), ChipSpec::tofino2()];
    for width in [8, 16, 32] {
        let top = u64::MAX >> (64 - width);
        let values = [0, 1, 2, 7, 0x55 & top, top / 2, top / 2 + 1, top - 1, top];
        for ops in AluOp::ALL.chunks(13) {
            for chip in &chips {
                let has = |op: &&AluOp| op.class() != AluClass::Compare || chip.alu.compare;
                let ops: Vec<AluOp> = ops.iter().filter(has).copied().collect();
                if ops.is_empty() {
                    continue;
                }
                let p = program(&ops, width);
                let placement = placed(&p, chip);
                assert!(sluice_place::verify(&p, &placement).is_empty());
                let mut wanted = Vec::new();
                let mut frames = Vec::new();
                for (n, op) in ops.iter().enumerate() {
                    for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))) {
                        wanted.push((*op, a, b));
                        let parts = [vec![n as u8], field(a, width), field(b, width), vec![0xee; 60]];
                        frames.push(parts.concat());
                    }
                }
                let ran = agree(&p, &placement, &ControlState::new(&p), &frames);
                let at = 1 + width as usize / 4;
                for ((op, a, b), (_, bytes)) in wanted.into_iter().zip(&ran.packets) {
                    let found = &bytes[at..at + width as usize / 8];
                    assert_eq!(
                        found,
                        field(meaning(op, a, b, width), width),
                        "{op} {a:#x} {b:#x} at {width} bits"
                    );
                }
            }
        }
    }
}

#[test]
fn tofino_1_does_not_compare() {
    let compares: Vec<AluOp> =
        AluOp::ALL.iter().filter(|o| o.class() == AluClass::Compare).copied().collect();
    let p = program(&compares, 16);
    let found = for_chip(&p, &ChipSpec::tofino());
    let texts: Vec<String> = found.iter().map(|d| format!("{}: {}", d.text, d.help)).collect();
    assert_eq!(texts.len(), compares.len());
    assert_eq!(
        texts[0],
        "action `do_gtequ` sets `h.out` by `gtequ`, but tofino has no comparing ALU: decide it by an `if` and set the \
         field in its branches"
    );
    assert!(!has_errors(&for_chip(&p, &ChipSpec::tofino2())));
    assert!(sluice_place::place(&p, &ChipSpec::tofino()).is_err(), "{}", text::print(&p));
}
