//! Writes of parsers: headers that they make, bits that they copy, and ones that they add.

use crate::parsers::{frame, run};
use crate::tables::bench::{agree, configured, parsed, placed};
use sluice_asic::chip::ChipSpec;
use sluice_ir::{Program, text};
use sluice_place::place;

/// Returns a program whose parser goes from `first` to a state of each kind of packet.
fn program(states: &str) -> Program {
    parsed(&format!(
        "program writes;
        header front : ingress {{ bit<8> kind; bit<8> a; bit<16> b; bit<16> vid; bit<16> port; bit<8> pcp; bit<8> pad; }}
        header tag : ingress {{ bit<3> pcp; bit<1> dei; bit<12> vid; bit<16> type; }}
        header made : ingress {{ bit<8> x; bit<24> y; }}
        metadata : ingress {{ bit<12> m.vid; bit<3> m.pcp; bit<16> m.type; bit<8> m.flags; bit<9> m.port; }}
        intrinsic : ingress {{ bit<9> ig.ingress_port; bit<9> ig_tm.ucast_egress_port; }}
        action tell : ingress () {{
            front.vid[11:0] = m.vid; front.pcp[2:0] = m.pcp; front.b = m.type; front.a = m.flags;
            front.port[8:0] = m.port;
        }}
        parser ingress {{
            start = first;
            state first {{
                extract(front); ig_tm.ucast_egress_port = 9w1;
                select (front.kind) {{ (1) : one; (2) : two; default : accept; }}
            }}
            {states}
        }}
        control ingress {{ call tell; }}
        deparser ingress {{ emit(front); emit(made); emit(tag); }}"
    ))
}

const STATES: &str = "
    state one { set_valid(made); made.x = 8w0x5a; made.y[15:0] = front.b; m.flags = 8w1; transition more; }
    state more { m.flags = or(m.flags, 8w6); m.port = ig.ingress_port; transition accept; }
    state two { extract(tag); m.vid = tag.vid; m.pcp = tag.pcp; m.type = tag.type; transition late; }
    state late { set_valid(made); made.y[23:16] = tag.type[7:0]; made.x = 8w0xff; transition accept; }";

#[test]
fn a_parser_makes_headers_and_copies_bits_of_earlier_states() {
    let p = program(STATES);
    assert_eq!(text::print(&parsed(&text::print(&p))), text::print(&p));
    let head = |kind: u8| vec![kind, 0x11, 0x22, 0x33, 0, 0, 0, 0, 0, 0];
    let tag = [0xa1, 0x23, 0x45, 0x67];
    let frames = [
        frame(&head(0)),
        frame(&head(1)),
        frame(&[head(2), tag.to_vec()].concat()),
        // The tag is cut short, so the packet is lost in state `two`.
        [head(2), vec![1, 2]].concat(),
    ];
    let out = run(&p, &frames);
    let wanted = [
        Ok(frame(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        // The header `made` is 5a, and y = 002233; flags are 1 or 6; the packet came in on port 8.
        Ok(frame(&[1, 7, 0, 0, 0, 0, 0, 8, 0, 0, 0x5a, 0, 0x22, 0x33])),
        // vid = 123, pcp = 5, type = 4567; made is ff, and y = 670000.
        Ok(frame(&[2, 0, 0x45, 0x67, 1, 0x23, 0, 0, 5, 0, 0xff, 0x67, 0, 0, 0xa1, 0x23, 0x45, 0x67])),
        Err(2),
    ];
    assert_eq!(out, wanted);
}

#[test]
fn a_parser_of_tofino_2_takes_a_header_back() {
    let p = program(
        "state one { extract(tag); select (tag.type) { (5) : gone; default : accept; } }
        state gone { set_invalid(tag); transition accept; }
        state two { transition accept; }",
    );
    let chip = ChipSpec::tofino2();
    let head = |last: u8| vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xa1, 0x23, 0, last];
    let ran = agree(&p, &placed(&p, &chip), &configured(&p, &[]), &[frame(&head(5)), frame(&head(6))]);
    let bytes: Vec<&[u8]> = ran.packets.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    assert_eq!(bytes, [frame(&head(5)[..10]), frame(&head(6))]);
    let found = format!("{:?}", place(&p, &ChipSpec::tofino()).unwrap_err());
    assert!(found.contains("a parser of tofino sets bits and clears none"), "{found}");
}

#[test]
fn copies_that_no_container_can_take_are_refused() {
    for (write, why) in [
        ("m.vid[3:0] = tag.vid[3:0];", "bits beside them in the container would be overwritten"),
        ("made.x = tag.vid[11:4]; made.y[7:0] = tag.vid[7:0];", "is at other bits of its byte"),
        ("m.flags = tag.vid[8:1];", "from bit 4 of a byte on"),
    ] {
        let states = format!(
            "state one {{ extract(tag); set_valid(made); {write} m.flags[0:0] = tag.dei; transition accept; }}
            state two {{ transition accept; }}"
        );
        let found = format!("{:?}", place(&program(&states), &ChipSpec::tofino2()).unwrap_err());
        assert!(found.contains(why), "{write}\n{found}");
    }
}
