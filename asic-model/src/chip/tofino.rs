//! Tofino as data. Sources: model: chip §1, §2, §4, §6, §9, §11; cycles §1, §5-§7; tm §1, §2, §4, §8-§11. Values that
//! they do not give are listed as assumptions.

use super::{
    AluSpec, Assumption, BafRule, ChipSpec, DeparserSpec, Features, HashSpec, LatencySpec, MauSpec,
    ParserSpec, PhvSpec, PortSpec, PortSpeed, PowerSpec, SaluSpec, TmSpec, assumptions::assumption,
    assumptions::shared,
};
use crate::clock::CLOCK_1_22_GHZ;
use crate::units::{BitRate, Bytes, Cells, Duration};

pub(super) fn spec() -> ChipSpec {
    ChipSpec {
        name: "tofino".to_owned(),
        doc: "Tofino: 4 pipes of 12 stages at 1.22 GHz, 64 ports of 100 Gb/s, 22.9 MB of buffer".to_owned(),
        mau: mau(),
        phv: phv(),
        parser: parser(),
        deparser: deparser(),
        salu: salu(),
        alu: AluSpec {
            max_sources: 2,
            constant_min: -8,
            constant_max: 7,
            load_const_bits_32: 21,
            compare: false,
            valid_ops: true,
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

/// model: chip §1.1, §1.2. The clock is what the driver logs for its "1.25 GHz" setting (model: cycles §6).
fn mau() -> MauSpec {
    MauSpec {
        clock: CLOCK_1_22_GHZ,
        stages: 12,
        logical_tables: 16,
        long_branch_tags: 0,
        next_table_bits: 8,
        next_table_end: 0xff,
        successor_map_entries: 8,
        action_map_bits: 7,
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
        gateway_payload_groups: 1,
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
        alu_operand_byte: 8,
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
        normal_per_group: 16,
        mocha_per_group: 0,
        dark_per_group: 0,
        tagalong_collections: 8,
        tagalong_32: 4,
        tagalong_8: 4,
        tagalong_16: 6,
        tagalong_base: 256,
        gress_group_32: 4,
        gress_group_8: 8,
        gress_group_16: 8,
        last_group_individual: true,
        hard_wired_gress: true,
        parser_width: 0,
        pov_bits: 256,
        valid_bits: true,
    }
}

/// model: chip §6.1, §6.3.
fn parser() -> ParserSpec {
    ParserSpec {
        instances: 18,
        tcam_rows: 256,
        state_bits: 8,
        match_halves: 1,
        match_bytes: 2,
        scratch_bytes: 0,
        window_bytes: 32,
        max_shift: 32,
        extract_8: 4,
        extract_16: 4,
        extract_32: 4,
        constant_bits_16: 4,
        constant_bits_32: 3,
        checksum_units: 2,
        checksum_rows: 32,
        counter_stack: 0,
        counter_init_rows: 16,
        ingress_depth: 16_368,
        egress_depth: 160,
        egress_min_depth: 65,
        clear_on_write: false,
        ingress_intrinsic_bytes: 8,
        port_metadata_bytes: 8,
        port_metadata_pad: 0,
        resubmit_bytes: 8,
        egress_intrinsic_min: 2,
        // The fields of model: chip §10 with their padding to whole bytes.
        egress_intrinsic_full: 25,
        clot_tags: 0,
        clots_live: 0,
        clots_per_state: 0,
        clot_bytes: 0,
        clot_gap: 0,
        clot_last_byte: 0,
        line_rate: BitRate::from_gbps(100),
        fifo_packets: 64,
    }
}

/// model: chip §6.4.
fn deparser() -> DeparserSpec {
    DeparserSpec {
        entries: 192,
        entry_bytes: 4,
        chunks_per_group: 0,
        clots_per_group: 0,
        pov_bits: 256,
        max_header_bytes: 480,
        checksum_units: 6,
        checksum_invertible: 0,
        constant_bytes: 0,
        digest_types: 8,
        digest_bytes: 48,
        mirror_types: 8,
        mirror_types_reserved: 1,
        mirror_bytes: 32,
        resubmit_types: 8,
        resubmit_bytes: 8,
        pktgen_bytes: 0,
        phvs_in_flight: 288,
        in_flight_extra_cycles: 11,
    }
}

/// model: chip §4.1, §4.3, §1.3.
fn salu() -> SaluSpec {
    SaluSpec {
        comparators: 2,
        compare_masks: false,
        ternary_matches: 0,
        ternary_match_bits: 0,
        max_value_bits: 32,
        max_pair_bits: 32,
        math_bits: 32,
        phv_operands: 2,
        phv_operand_bits: 32,
        operand_start_byte: 8,
        instructions: 4,
        constant_min: -8,
        constant_max: 7,
        compare_constant_min: -8,
        compare_constant_max: 7,
        register_file_rows: 4,
        register_file_bits: 32,
        output_words: 1,
        predicate_bits: 4,
        math_table_entries: 16,
        divide_bits: 0,
        lane_min_max: false,
        fast_clear: false,
        fast_clear_cycles: 0,
        fifo: false,
    }
}

/// model: cycles §1, §5.
fn latency() -> LatencySpec {
    LatencySpec {
        base: 20,
        base_predication: 11,
        tcam: 2,
        selector: 8,
        stateful_divide: 0,
        stateful: 4,
        lpf_wred: 4,
        action_contribution: 2,
        concurrent_contribution: 1,
        corner_turn: 4,
        forced_match_stage: 6,
        min_egress: 160,
        meter_alu_data: 13,
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
        sram_read: 24_082_786,
        sram_write: 44_162_145,
        tcam_search: 24_968_928,
        map_ram_read: 4_876_712,
        map_ram_write: 5_677_397,
        deferred_read: 5_513_527,
        deferred_write: 3_806_366,
        limit: 40_000_000_000,
    }
}

/// model: tm §1, §2, §4, §8-§11.
fn tm() -> TmSpec {
    TmSpec {
        clock: CLOCK_1_22_GHZ,
        shaper_clock: CLOCK_1_22_GHZ,
        cell: Bytes(80),
        cells: Cells(280 * 1024),
        global_limit: Cells(280 * 1024),
        global_minimum: Cells(0),
        port_groups: 18,
        ports_per_group: 4,
        mirror_port: 72,
        priority_groups: 128,
        cos_levels: 8,
        ingress_pools: 4,
        egress_pools: 4,
        queues_per_group: 32,
        queues_per_port: 8,
        queue_id_bits: 5,
        l1_nodes_per_group: 0,
        queue_profiles: 16,
        hysteresis_profiles: 32,
        hysteresis_unit: Cells(8),
        hysteresis_default: 4,
        cut_through_limit: Cells(15),
        baf_alpha_log2: vec![-6, -5, -4, -3, -2, -1, 0, 1, 2],
        baf_rule: BafRule::Alpha,
        baf_limit_bits: 0,
        colour_step_per_mille: 125,
        colour_default_per_mille: 750,
        queue_guarantee: Cells(40),
        unicast_cut_through_pool: Cells(0x1000),
        multicast_cut_through_pool: Cells(0x2000),
        multicast_reserve: Cells(0x3000),
        negative_mirror_per_port: Cells(20),
        skid_pool: Cells(0),
        priorities: 8,
        weight_max: 1023,
        dwrr_quantum: Bytes(80),
        shaper_period: 80,
        shaper_mantissa_bits: 10,
        shaper_exponent_bits: 4,
        burst_mantissa_max: 15,
        burst_shift_max: 15,
        queue_burst: Bytes(16_384),
        port_burst: Bytes(9_216),
        frame_gap: Bytes(20),
        timestamp_bits: 18,
        depth_bits: 19,
        afc_fifo: 0,
        afc_credit_bits: 0,
        afc_cycles: 0,
        ghost_interval_cycles: 0,
        mirror_sessions: 1024,
        coalescing_sessions: 8,
        mirror_session_bits: 10,
        multicast_groups: 65_536,
        multicast_ecmp_members: 32,
        multicast_lags: 256,
        multicast_node_blocks: 204,
        multicast_nodes_per_block: 4096,
        multicast_fifos: 4,
        multicast_fifo_limit: 0xc0,
        pktgen_apps: 8,
        pktgen_buffer: Bytes(16 << 10),
        pktgen_match_bytes: 4,
        pktgen_events: 5,
    }
}

/// model: tm §10; chip §9.
fn ports() -> PortSpec {
    let speed = |gbps, lanes, ingress_hold_cycles| PortSpeed {
        speed: BitRate::from_gbps(gbps),
        lanes,
        ingress_hold_cycles,
    };
    PortSpec {
        pipes: 4,
        ports_per_pipe: 72,
        macs_per_pipe: 16,
        lanes_per_mac: 4,
        lane_rate: BitRate::from_gbps(25),
        first_front_local: 0,
        default_speed: BitRate::from_gbps(100),
        cpu_dev_port: 64,
        recirculation_dev_ports: vec![
            68, 69, 70, 71, 192, 193, 194, 195, 196, 197, 198, 199, 324, 325, 326, 327, 448, 449, 450, 451,
            452, 453, 454, 455,
        ],
        pktgen_local_ports: vec![68, 69, 70, 71],
        recirculation_rate: BitRate::from_gbps(100),
        speeds: vec![
            speed(100, 4, 35),
            speed(50, 2, 71),
            speed(40, 4, 71),
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

/// model: chip §1.1, §3.7; tm §5-§8, §10.
fn features() -> Features {
    Features {
        advanced_flow_control: false,
        ghost: false,
        concurrent_dependency: true,
        parallel_next_tables: false,
        always_run_action: false,
        memory_core_split: false,
        true_eop: false,
        mirror_overrides: false,
        mtu_truncation: false,
        deparser_pktgen: false,
        pktgen_gap_after_packet: false,
        mirror_deflect_on_drop: false,
        mocha_match_dependency: false,
    }
}

fn assumptions() -> Vec<Assumption> {
    let mut list = shared();
    list.extend([
        assumption(
            "tm.pktgen_events",
            "Trigger events that one packet generator application holds.",
            "public for Tofino 2 only; Tofino is assumed to hold as many",
        ),
        assumption(
            "latency.recirculation",
            "Time over a recirculation port, without serialisation.",
            "half of the assumed MAC receive time, because the loop has no line code or cable; not measured on this chip",
        ),
        assumption(
            "ports.recirculation_rate",
            "All recirculation ports of a pipe share this rate.",
            "the ports form one channel group, like the four channels of a 100 Gb/s MAC (model: tm §10)",
        ),
        assumption(
            "tm.queue_guarantee",
            "Guaranteed cells per queue after reset.",
            "the driver's default of two packets of 1600 B, in cells of 80 B (model: tm §2)",
        ),
        assumption(
            "tm.global_limit",
            "Cells that all ports together may use.",
            "no smaller limit is known for this chip, so ports may use the whole buffer",
        ),
        assumption(
            "phv.tagalong_collections",
            "All containers of a tagalong collection belong to one gress.",
            "the sources count tagalong containers by collection and do not mention a division of one between gresses",
        ),
    ]);
    list
}
