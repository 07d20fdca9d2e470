//! Packets that the program colours meet the limits of their colour (model: tm §2).

use crate::flow::aim::config;
use crate::switch::world::{Frame, World, run};
use sluice_build::net::Ethernet;
use sluice_build::*;

/// A packet to front-panel port 9; the low bits of the source address are its colour.
#[stage_program]
fn coloured(ig: &GressBuilder<'_>, port: u64) {
    let eth = ig.header::<Ethernet>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let colour = ig.intrinsic::<tna::Color>();
    let start = ig.state().extract(eth);
    ig.start(start);
    ig.control(|c| {
        tm.ucast_egress_port = port;
        colour.packet_color = eth.src.slice::<1, 0, 2>();
    });
    ig.deparser().emit(eth);
}

#[test]
fn red_packets_are_dropped_at_a_part_of_the_limit_of_green_ones() {
    let b = Builder::new("coloured", "Colours packets");
    coloured(&b.ingress(), 144);
    let world = World::new(b.finish(&()).unwrap_or_else(|d| panic!("{}", d[0])), Vec::new());
    assert_eq!(world.dev_port(9), 144);
    let profile = [(
        "size = \"6336B\"\nbaf = 8",
        "size = \"0B\"\nstatic_th = \"176000B\"\nyellow_eighths = 4\nred_eighths = 2",
    )];
    // The limit is a thousand cells: 1,500 packets of one cell and one colour, with the port blocked.
    let most = [(0u8, 1_000usize), (1, 500), (3, 250)].map(|(colour, expected)| {
        let mut bytes = vec![0; 100];
        bytes[11] = colour;
        let frames: Vec<Frame> = (0..1_500u64).map(|n| Frame::new(0, n * 3_000, bytes.clone())).collect();
        let mut device = world.switch(world.engine(), config(&profile));
        device.block(world.ports.front(sluice_asic::port::FrontPort(9)).unwrap().dev_port, true).unwrap();
        let seen = run(&world, &mut device, &frames, 8);
        let mut names: Vec<&str> = seen.lost().map(|l| l.reason.name(&world.program)).collect();
        names.dedup();
        let rule = if colour == 0 { "queue_shared" } else { "queue_colour" };
        assert_eq!(names, [rule], "colour {colour}");
        (device.held().queues as usize, expected)
    });
    assert!(most.iter().all(|(held, expected)| held == expected), "{most:?}");
}
