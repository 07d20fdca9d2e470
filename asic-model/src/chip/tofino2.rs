//! Tofino 2 as data. Sources: model: chip §1, §2, §4, §6, §9, §11; cycles §1, §5-§7; tm §1, §2, §4-§6, §8-§11.
//! Values that they do not give are listed as assumptions.

use super::{
    AluSpec, Assumption, BafRule, ChipSpec, DeparserSpec, Features, HashSpec, LatencySpec, MauSpec,
    ParserSpec, PhvSpec, PortSpec, PortSpeed, PowerSpec, SaluSpec, TmSpec, assumptions::assumption,
    assumptions::shared,
};
use crate::clock::{CLOCK_1_5_GHZ, CLOCK_1_3125_GHZ, CLOCK_1_GHZ};
use crate::units::{BitRate, Bytes, Cells, Duration};

pub(super) fn spec() -> ChipSpec {
    ChipSpec {
        name: "tofino2".to_owned(),
        doc: "Tofino 2: 4 pipes of 20 stages at 1.5 GHz, 32 ports of 400 Gb/s, 69.2 MB of buffer".to_owned(),
        mau: mau(),
        phv: phv(),
        parser: parser(),
        deparser: deparser(),
        salu: salu(),
        alu: AluSpec {
            max_sources: 2,
            constant_min: -4,
            constant_max: 7,
            load_const_bits_32: 21,
            compare: true,
            valid_ops: false,
        },
        latency: latency(),
        tm: tm(),
        ports: ports(),
        hash: hash(),
        features: features(),
        power: power(),
        assumptions: assumptions(),
    }
}

/// model: chip §1.1, §1.2; cycles §6.
fn mau() -> MauSpec {
    MauSpec {
        clock: CLOCK_1_5_GHZ,
        stages: 20,
        logical_tables: 16,
        long_branch_tags: 8,
        next_table_bits: 9,
        next_table_end: 0x1ff,
        successor_map_entries: 8,
        action_map_bits: 8,
        sram_rows: 8,
        sram_left_columns: 4,
        sram_right_columns: 6,
        sram_depth: 1024,
        sram_width: 128,
        map_ram_rows: 8,
        map_ram_columns: 6,
        map_ram_depth: 1024,
        map_ram_width: 11,
        tcam_rows: 12,
        tcam_columns: 2,
        tcam_depth: 512,
        tcam_width: 44,
        tcam_match_buses: 2,
        ternary_tables: 8,
        exact_xbar_groups: 8,
        exact_xbar_group_bytes: 16,
        ternary_xbar_groups: 12,
        ternary_xbar_group_bytes: 5,
        ternary_xbar_mid_bytes: 6,
        hash_tables: 16,
        hash_table_bits: 64,
        hash_groups: 8,
        hash_index_slices: 4,
        hash_index_bits: 10,
        hash_select_bits: 12,
        hash_dist_units: 2,
        hash_dist_slices: 3,
        gateway_rows: 8,
        gateways_per_row: 2,
        gateway_compare_rows: 4,
        gateway_bytes: 4,
        gateway_hash_bits: 12,
        gateway_payload_groups: 5,
        search_buses_per_row: 2,
        result_buses_per_row: 2,
        tind_buses_per_row: 2,
        stash_units_per_row: 2,
        imem_rows: 32,
        imem_colours: 2,
        action_bus_bytes: 128,
        action_bus_slots_8: 16,
        action_bus_slots_16: 24,
        action_bus_slots_32: 16,
        action_slots_per_size: 32,
        immediate_bits: 32,
        action_data_bits: 1024,
        random_bits: 64,
        meter_alu_rows: vec![3, 7, 11, 15],
        stats_alu_rows: vec![1, 5, 9, 13],
        meter_rows_per_alu: 4,
        alu_operand_byte: 0,
        alu_hash_bits: 51,
        stats_rows_per_alu: 3,
        overflow_rows: 6,
        idletime_buses: 20,
        version_bits: 4,
        overhead_bits: 64,
        pack_per_row: 5,
        pack_per_word: 9,
        exact_ways: 4,
        exact_moves: 3,
        exact_fill: 90,
        exact_way_rams: 80,
        atcam_rams_per_row: 5,
    }
}

/// model: chip §2.1.
fn phv() -> PhvSpec {
    PhvSpec {
        groups_32: 4,
        groups_8: 4,
        groups_16: 6,
        normal_per_group: 12,
        mocha_per_group: 4,
        dark_per_group: 4,
        tagalong_collections: 0,
        tagalong_32: 0,
        tagalong_8: 0,
        tagalong_16: 0,
        tagalong_base: 0,
        gress_group_32: 2,
        gress_group_8: 4,
        gress_group_16: 4,
        last_group_individual: false,
        hard_wired_gress: false,
        parser_width: 16,
        pov_bits: 128,
        valid_bits: false,
    }
}

/// model: chip §6.1, §6.3.
fn parser() -> ParserSpec {
    ParserSpec {
        instances: 36,
        tcam_rows: 256,
        state_bits: 8,
        match_halves: 0,
        match_bytes: 4,
        scratch_bytes: 4,
        window_bytes: 32,
        max_shift: 32,
        extract_8: 0,
        extract_16: 20,
        extract_32: 0,
        constant_bits_16: 16,
        constant_bits_32: 0,
        checksum_units: 5,
        checksum_rows: 32,
        counter_stack: 4,
        counter_init_rows: 16,
        ingress_depth: 16_368,
        egress_depth: 512,
        egress_min_depth: 0,
        clear_on_write: true,
        ingress_intrinsic_bytes: 8,
        port_metadata_bytes: 16,
        port_metadata_pad: 8,
        resubmit_bytes: 16,
        egress_intrinsic_min: 8,
        egress_intrinsic_full: 28,
        clot_tags: 64,
        clots_live: 16,
        clots_per_state: 2,
        clot_bytes: 64,
        clot_gap: 3,
        clot_last_byte: 384,
        line_rate: BitRate::from_gbps(400),
        fifo_packets: 64,
    }
}

/// model: chip §6.4.
fn deparser() -> DeparserSpec {
    DeparserSpec {
        entries: 128,
        entry_bytes: 8,
        chunks_per_group: 8,
        clots_per_group: 4,
        pov_bits: 128,
        max_header_bytes: 1024,
        checksum_units: 8,
        checksum_invertible: 4,
        constant_bytes: 8,
        digest_types: 8,
        digest_bytes: 48,
        mirror_types: 16,
        mirror_types_reserved: 0,
        mirror_bytes: 48,
        resubmit_types: 8,
        resubmit_bytes: 16,
        pktgen_bytes: 16,
        phvs_in_flight: 0,
        in_flight_extra_cycles: 0,
    }
}

/// model: chip §4.1, §4.3, §1.3.
fn salu() -> SaluSpec {
    SaluSpec {
        comparators: 4,
        compare_masks: true,
        ternary_matches: 2,
        ternary_match_bits: 64,
        max_value_bits: 64,
        max_pair_bits: 64,
        math_bits: 32,
        phv_operands: 2,
        phv_operand_bits: 64,
        operand_start_byte: 0,
        instructions: 4,
        constant_min: -8,
        constant_max: 7,
        compare_constant_min: -32,
        compare_constant_max: 31,
        register_file_rows: 4,
        register_file_bits: 34,
        output_words: 4,
        predicate_bits: 16,
        math_table_entries: 16,
        divide_bits: 16,
        lane_min_max: true,
        fast_clear: true,
        fast_clear_cycles: 1024,
        fifo: true,
    }
}

/// model: cycles §1, §5: the assembler's 23 and 13, not the compiler's power model.
fn latency() -> LatencySpec {
    LatencySpec {
        base: 23,
        base_predication: 13,
        tcam: 2,
        selector: 8,
        stateful_divide: 6,
        stateful: 4,
        lpf_wred: 4,
        action_contribution: 2,
        concurrent_contribution: 0,
        corner_turn: 0,
        forced_match_stage: 0,
        min_egress: 0,
        meter_alu_data: 15,
        parser_cycles_per_state: 1,
        parser_fixed: 30,
        deparser: 35,
        tm_enqueue: 80,
        tm_dequeue: 60,
        mac_rx: Duration::from_nanos(100),
        mac_tx: Duration::from_nanos(50),
        tx_ahead: Duration::from_nanos(40),
        resubmit: 20,
        recirculation: Duration::from_nanos(50),
    }
}

/// model: cycles §7.
fn power() -> PowerSpec {
    PowerSpec {
        sram_read: 16_600_000,
        sram_write: 17_600_000,
        tcam_search: 18_500_000,
        map_ram_read: 2_700_000,
        map_ram_write: 3_000_000,
        deferred_read: 2_500_000,
        deferred_write: 2_400_000,
        limit: 52_000_000_000,
    }
}

/// model: tm §1, §2, §4-§6, §8-§11.
fn tm() -> TmSpec {
    TmSpec {
        clock: CLOCK_1_3125_GHZ,
        shaper_clock: CLOCK_1_GHZ,
        cell: Bytes(176),
        cells: Cells(384 * 1024),
        global_limit: Cells(0x3e800),
        global_minimum: Cells(0x6000),
        port_groups: 9,
        ports_per_group: 8,
        mirror_port: 72,
        priority_groups: 128,
        cos_levels: 8,
        ingress_pools: 4,
        egress_pools: 4,
        queues_per_group: 128,
        queues_per_port: 16,
        queue_id_bits: 7,
        l1_nodes_per_group: 32,
        queue_profiles: 288,
        hysteresis_profiles: 32,
        hysteresis_unit: Cells(8),
        hysteresis_default: 4,
        cut_through_limit: Cells(127),
        baf_alpha_log2: vec![-6, -5, -4, -3, -2, -1, 0, 1, 2],
        baf_rule: BafRule::Alpha,
        baf_limit_bits: 19,
        colour_step_per_mille: 125,
        colour_default_per_mille: 750,
        queue_guarantee: Cells(2 * 18),
        unicast_cut_through_pool: Cells(0x200),
        multicast_cut_through_pool: Cells(0x6000),
        multicast_reserve: Cells(0x3000),
        negative_mirror_per_port: Cells(20),
        skid_pool: Cells(0),
        priorities: 8,
        weight_max: 1023,
        dwrr_quantum: Bytes(80),
        shaper_period: 80,
        shaper_mantissa_bits: 12,
        shaper_exponent_bits: 4,
        burst_mantissa_max: 255,
        burst_shift_max: 15,
        queue_burst: Bytes(16_384),
        port_burst: Bytes(9_216),
        frame_gap: Bytes(20),
        timestamp_bits: 32,
        depth_bits: 19,
        afc_fifo: 8,
        afc_credit_bits: 15,
        afc_cycles: 80,
        ghost_interval_cycles: 4,
        mirror_sessions: 256,
        coalescing_sessions: 16,
        mirror_session_bits: 8,
        multicast_groups: 65_536,
        multicast_ecmp_members: 32,
        multicast_lags: 256,
        multicast_node_blocks: 256,
        multicast_nodes_per_block: 4096,
        multicast_fifos: 4,
        multicast_fifo_limit: 0xc0,
        pktgen_apps: 16,
        pktgen_buffer: Bytes(16 << 10),
        pktgen_match_bytes: 16,
        pktgen_events: 5,
    }
}

/// model: tm §10; chip §9. Pipe 0 keeps local port 0 for PCIe and 2-5 for the CPU's Ethernet.
fn ports() -> PortSpec {
    let speed = |gbps, lanes, ingress_hold_cycles| PortSpeed {
        speed: BitRate::from_gbps(gbps),
        lanes,
        ingress_hold_cycles,
    };
    let pipe_0 = [1, 6, 7];
    let others = (1..4_u32).flat_map(|pipe| (0..8).map(move |local| pipe << 7 | local));
    PortSpec {
        pipes: 4,
        ports_per_pipe: 72,
        macs_per_pipe: 8,
        lanes_per_mac: 8,
        lane_rate: BitRate::from_gbps(50),
        first_front_local: 8,
        default_speed: BitRate::from_gbps(400),
        cpu_dev_port: 2,
        recirculation_dev_ports: pipe_0.into_iter().chain(others).collect(),
        pktgen_local_ports: (0..8).collect(),
        recirculation_rate: BitRate::from_gbps(400),
        speeds: vec![
            speed(400, 8, 8),
            speed(200, 4, 17),
            speed(100, 2, 35),
            speed(50, 1, 71),
            speed(25, 1, 71),
            speed(10, 1, 71),
        ],
    }
}

/// model: chip §3.5, §11.1.
fn hash() -> HashSpec {
    HashSpec {
        seed_bits: 52,
        parity_bit: 51,
        dist_bits: 16,
        dist_expanded_bits: 23,
        selector_members_per_word: 120,
        selector_max_words: 992,
        selector_max_modulus: 31,
        selector_max_shift: 5,
        selector_modulus_bits: 10,
        selector_offset_bits: 5,
        selector_fair_bits: 14,
        selector_resilient_bits: 51,
        multicast_bits: 13,
    }
}

/// model: chip §1.1, §2.2, §3.7; tm §5-§8, §10.
fn features() -> Features {
    Features {
        advanced_flow_control: true,
        ghost: true,
        concurrent_dependency: false,
        parallel_next_tables: true,
        always_run_action: true,
        memory_core_split: true,
        true_eop: true,
        mirror_overrides: true,
        mtu_truncation: true,
        deparser_pktgen: true,
        pktgen_gap_after_packet: true,
        mirror_deflect_on_drop: true,
        mocha_match_dependency: true,
    }
}

fn assumptions() -> Vec<Assumption> {
    let mut list = shared();
    list.extend([
        assumption(
            "latency.recirculation",
            "Time over a recirculation port, without serialisation.",
            super::assumptions::LAP,
        ),
        assumption(
            "ports.recirculation_rate",
            "All recirculation ports of a pipe share this rate.",
            "ConWeave's authors give 400 Gb/s for their recirculation port; the pipe's eight channels have the \
             lanes of one 400 Gb/s MAC (model: tm §10)",
        ),
        assumption(
            "salu.fast_clear_cycles",
            "Cycles in which a fast clear clears a whole register.",
            "not public; a fast clear is assumed to clear one row per cycle, in all RAMs of the register in parallel",
        ),
        assumption(
            "tm.afc_cycles",
            "Cycles from a deparser's flow-control word to its effect on the queue.",
            "the word takes the packet's way into the TM, and so the assumed latency.tm_enqueue: a packet that pauses its own queue \
             waits there only if this is not greater; with it the model reproduces the published measurement at 25 Gb/s for short \
             pings, whose length is not published (model: tm §5, §12)",
        ),
        assumption(
            "tm.afc_credit_bits",
            "A credit is one cell; a queue sends while its credit is above zero; sums saturate at these bits.",
            "the units of credits and their rule are not public (model: tm §5, §12)",
        ),
        assumption(
            "tm.ghost_interval_cycles",
            "Least number of cycles between two queue-depth updates in one pipe; every pipe gets updates of every queue, one \
             for all changes since the last update of the queue.",
            "the rate of ghost bubbles is not public; one slot in four leaves most of the pipe to packets",
        ),
        assumption(
            "phv.dark_per_group",
            "Dark containers are assigned to a gress one by one.",
            "parser and deparser do not reach them, so the deparser's gress groups do not apply",
        ),
    ]);
    list
}
