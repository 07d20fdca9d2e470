//! Builder API in which stage programs are written: typed handles, the operators on them, and the
//! declarations that together make an [`ir::Program`](sluice_ir::Program).
//!
//! The builder checks widths at compile time and single declarations when they are made. Rules about whole
//! programs are checked by the verifier, which [`Builder::finish`] runs. The builder knows no chip and no
//! particular program.
//!
//! # A complete program
//!
//! ```
//! use sluice_build::net::{Ethernet, Ipv4};
//! use sluice_build::*;
//! use sluice_ir as ir;
//! use sluice_ir::verify;
//!
//! #[derive(params::Params)]
//! pub struct Params {
//!     /// IPv4 routes that the table holds
//!     pub routes: u32,
//! }
//!
//! /// Per-packet metadata
//! #[derive(Header)]
//! pub struct Meta {
//!     /// 1 when the IPv4 header checksum is wrong
//!     pub bad_checksum: Bits<1>,
//! }
//!
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>, p: &Params) -> TableRef {
//!     let (ethernet, ipv4) = (ig.header::<Ethernet>(), ig.header::<Ipv4>());
//!     let m = ig.metadata::<Meta>();
//!     let tm = ig.intrinsic::<tna::ForTm>();
//!
//!     let start = ig.state().extract(ethernet).select(ethernet.ether_type);
//!     let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, list![
//!         ipv4.version, ipv4.ihl, ipv4.dscp, ipv4.ecn, ipv4.total_len, ipv4.identification, ipv4.flags,
//!         ipv4.frag_offset, ipv4.ttl, ipv4.protocol, ipv4.checksum, ipv4.src, ipv4.dst,
//!     ]);
//!     start.on(0x0800, parse_ipv4);
//!     ig.start(start);
//!
//!     let bad_packet = ig.drop_label("TTL used up, or a wrong IPv4 header checksum");
//!     let no_route = ig.drop_label("No route to the destination");
//!     let discard = ig.action(|a| drop(no_route));
//!     /// Sends the packet to a port, one hop further
//!     let forward = ig.action(|a, port: Arg<9>, mac: Arg<48>| {
//!         tm.ucast_egress_port = port;
//!         ethernet.dst = mac;
//!         ipv4.ttl -= 1;
//!     });
//!     /// Destination prefix to port
//!     let route = ig.table([lpm(ipv4.dst)]).actions([forward]).default(discard).size(p.routes).build();
//!
//!     ig.control(|c| {
//!         if ipv4.is_valid() {
//!             if m.bad_checksum || ipv4.ttl <= 1 {
//!                 drop(bad_packet);
//!             } else {
//!                 route.apply();
//!             }
//!         }
//!     });
//!     ig.deparser()
//!         .checksum(ipv4, ipv4.checksum, list![
//!             ipv4.version, ipv4.ihl, ipv4.dscp, ipv4.ecn, ipv4.total_len, ipv4.identification, ipv4.flags,
//!             ipv4.frag_offset, ipv4.ttl, ipv4.protocol, ipv4.src, ipv4.dst,
//!         ])
//!         .emit(ethernet)
//!         .emit(ipv4);
//!     route
//! }
//!
//! fn program(p: &Params) -> Result<(ir::Program, TableRef), Vec<verify::Diag>> {
//!     let b = Builder::new("tiny-router", "Forwards IPv4 by longest prefix");
//!     let route = ingress(&b.ingress(), p);
//!     Ok((b.finish(p)?, route))
//! }
//!
//! let (program, route) = program(&Params { routes: 1024 }).map_err(|d| d[0].to_string())?;
//! assert_eq!(program.tables[route.id()].name, "route");
//! assert_eq!(program.tables[route.id()].size, 1024);
//! # Ok::<(), String>(())
//! ```
//!
//! # What the attribute does
//!
//! [`macro@stage_program`] is written on a function whose first parameter, of any name, is the gress builder that
//! declarations are made on. The attribute rewrites two things and knows no types:
//!
//! - **Names.** `/// doc` above `let x = ig.thing(..)` gives the thing its name and documentation
//!   ([`GressBuilder::named`]). In a loop the names are `x`, `x_1`, `x_2`.
//! - **Data-plane closures.** In a closure passed to a method of the first parameter, Rust's `=`, `+=`, `==`,
//!   `<`, `&&`, `||`, `!`, `if` and `match` describe operations on packets. `for` stays Rust: it is unrolled
//!   while the program is built, and [`rows!`] is a decision table. `let` is refused, because it would make a second name for a field and not a
//!   copy of its value.
//!
//! Everything else is ordinary Rust: helper functions, loops, constants, parameters. A condition on Rust
//! values only (`if p.telemetry`) is decided while the program is built.
//!
//! # Without the attribute
//!
//! | data-plane code | plain Rust |
//! |---|---|
//! | `x = y + 1;` | `c.set(x, y + 1);` |
//! | `t.apply();`, `s.apply();`, `drop(l);`, `h.set_valid();` | `c.run(t.apply());`, `c.run(s.apply());`, .. |
//! | `if a == b { .. } else { .. }` | <code>c.if_(a.eq(b), \|c\| ..).else_(\|c\| ..);</code> |
//! | `if t.apply().hit() { .. }` | <code>c.if_(t.apply().hit(), \|c\| ..);</code> |
//! | `match f { 1 => .., _ => .. }` | <code>c.if_(f.eq(1), \|c\| ..).else_(\|c\| ..);</code> |
//! | `match t.apply().action_run() { x => .., _ => {} }` | <code>c.switch(t.apply().action_run()).case(x, \|c\| ..);</code> |
//! | <code>\|a, port: Arg<9>\| ..</code> | `let port = a.arg::<9>("port");` in the closure |
//! | `a && b`, `!a` | `and(a, b)` or `a & b`, `not(a)` or `!a` |
//! | `rows! { (x); a => (1); _ => (0); }` | <code>c.rows(\|r\| { r.row(a).cell(\|c\| c.set(x, 1)); r.otherwise().cell(..); });</code> |
//!
//! # Registers
//!
//! A register keeps state between packets. A register action is the operation of one packet on one element.
//! In its closure, `r.value` is the element (`r.lo` and `r.hi` of a pair) and `r.out` the result of the
//! access. Statements run in order: `r.out = r.value` before a write returns the old value, after the write
//! the new value.
//!
//! ```
//! # use sluice_build::{*, net::Ipv4};
//! # use sluice_ir as ir;
//! # #[derive(Header)]
//! # pub struct Meta { pub now: Bits<32>, pub slot: Bits<16>, pub candidate: Bits<32>, pub member: Bits<32> }
//! #[stage_program]
//! fn flowlets(ig: &GressBuilder<'_>, gap: u64) {
//!     let m = ig.metadata::<Meta>();
//!     /// Time of the flowlet's last packet, and the member in use
//!     let flowlet = ig.register_pair::<32>(65536);
//!     /// Keeps the member while the flow is busy; after a gap takes the candidate
//!     let touch = ig.register_action(flowlet, |r| {
//!         if m.now - r.lo > gap {
//!             r.hi = m.candidate;
//!         }
//!         r.lo = m.now;
//!         r.out = r.hi;
//!     });
//!     ig.control(|c| m.member = touch.execute(m.slot));
//! }
//! # let b = Builder::new("flowlets", "Keeps flowlets together");
//! # flowlets(&b.ingress(), 100);
//! ```
//!
//! Elements and fields are compared as unsigned numbers, unless [`signed`] or [`serial`] is used. A
//! comparison with a sum or difference is always serial (RFC 1982), because sums wrap at the element's width:
//! `m.now - r.lo > gap` holds until the clock has advanced by half of its range.
//!
//! An access that only reads or only writes an element needs no declared action: [`RegisterRef::read`] and
//! [`RegisterRef::write`].
//!
//! # Subcontrols and decision tables
//!
//! [`GressBuilder::subcontrol`] records a block of data-plane code where its registers and tables are declared;
//! `apply()` inserts the block. So a role of a switch is one function: its state, its actions and the code that uses
//! them, without a struct of handles in between. [`rows!`] is a decision table in data-plane code: the places that a
//! decision sets, then a line per row.
//!
//! ```
//! # use sluice_build::*;
//! # #[derive(Header)]
//! # pub struct Meta { pub row: Bits<16>, pub now: Bits<32>, pub late: Bits<1>, pub fresh: Bits<1>, pub path: Bits<8>,
//! #     pub good: Bits<8>, pub moves: Bits<1> }
//! # fn parsed(ig: &GressBuilder<'_>) -> Meta { ig.named("m", "").metadata::<Meta>() }
//! #[stage_program]
//! fn source(ig: &GressBuilder<'_>, m: Meta) -> SubcontrolRef {
//!     /// Path of each flow
//!     let path = ig.register::<8>(4096);
//!     /// Time of the flow's last move
//!     let moved = ig.register::<32>(4096);
//!     /// Moves flows that are new or late
//!     let data = ig.subcontrol(|c| {
//!         rows! {
//!             //                           path                       time of the move         this packet
//!                                         (m.path,                    _,                       m.moves);
//!             m.fresh == 1             => (path.write(m.row, m.good), moved.write(m.row, 0),     0);
//!             m.late == 1              => (path.write(m.row, m.good), moved.write(m.row, m.now), 1);
//!             _                        => (path.read(m.row),          _,                         0);
//!         }
//!     });
//!     data
//! }
//!
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let m = parsed(ig);
//!     let data = source(ig, m);
//!     ig.control(|c| data.apply());
//! }
//! # let b = Builder::new("paths", "Moves flows to other paths");
//! # ingress(&b.ingress());
//! # b.finish_unverified(&()).map_err(|d| d[0].to_string())?;
//! # Ok::<(), String>(())
//! ```
//!
//! # Inline statements
//!
//! Statements of a control block that belong to no action become keyless actions, named after gress and line
//! (`ingress_l42`). Adjacent statements share one action until a statement reads or writes a field that an
//! earlier statement of the group wrote. If the action's name matters, declare an action and `call()` it.
//!
//! # Mistakes that do not compile
//!
//! Widths must agree:
//! ```compile_fail,E0277
//! # use sluice_build::{*, net::Ipv4};
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let ipv4 = ig.header::<Ipv4>();
//!     ig.control(|c| ipv4.total_len = ipv4.ttl + 1); // 8 bits into 16; `.cast::<16>()` fixes it
//! }
//! ```
//! The hardware's fields are read-only:
//! ```compile_fail,E0277
//! # use sluice_build::*;
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let port = ig.intrinsic::<tna::Ingress>();
//!     ig.control(|c| port.ingress_port = 5);
//! }
//! ```
//! A field of several bits is not a condition:
//! ```compile_fail,E0277
//! # use sluice_build::{*, net::Ipv4};
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>, no_route: LabelRef) {
//!     let ipv4 = ig.header::<Ipv4>();
//!     ig.control(|c| {
//!         if ipv4.ttl {
//!             drop(no_route);
//!         }
//!     });
//! }
//! ```
//! Actions cannot branch on packets; only control blocks can:
//! ```compile_fail,E0277
//! # use sluice_build::{*, net::Ipv4};
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>, no_route: LabelRef) {
//!     let ipv4 = ig.header::<Ipv4>();
//!     let expire = ig.action(|a| {
//!         if ipv4.ttl == 0 {
//!             drop(no_route);
//!         }
//!     });
//! }
//! ```
//! Every row of a decision table has a cell for each column:
//! ```compile_fail
//! # use sluice_build::{*, net::Ipv4};
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let ipv4 = ig.header::<Ipv4>();
//!     ig.control(|c| {
//!         rows! {
//!                           (ipv4.ttl, ipv4.dscp);
//!             ipv4.ecn == 3 => (5);
//!         }
//!     });
//! }
//! ```
//! `let` is refused in data-plane code:
//! ```compile_fail
//! # use sluice_build::{*, net::Ipv4};
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let ipv4 = ig.header::<Ipv4>();
//!     ig.control(|c| {
//!         let old = ipv4.ttl;
//!         ipv4.ttl = 5;
//!     });
//! }
//! ```

// The macros name this crate by its external name, so that name must also resolve inside the crate.
extern crate self as sluice_build;

mod action;
mod classes;
mod cond;
mod control;
mod deparser;
mod draft;
mod fields;
mod gress;
mod handles;
mod hash;
mod lines;
mod meter;
pub mod net;
pub mod params;
mod parser;
mod profile;
mod register;
mod register_access;
mod register_value;
mod rows;
mod stack;
mod step;
mod subcontrol;
mod table;
pub mod tna;
mod value;
mod value_set;

pub use action::{Act, ActElse, BuildTime};
pub use classes::class_action;
pub use cond::{Branch, ComparesWith, Cond, Test, Tested, and, eq, ge, gt, le, lt, ne, not, or};
pub use control::{Control, Else, Switch};
pub use deparser::{Deparser, Emits, RequestData};
pub use draft::Builder;
pub use fields::{Declarer, Fields, Handle, Hdr, IntrinsicDeclarer, IntrinsicFields, IntrinsicHandle};
pub use gress::GressBuilder;
pub use handles::{
    ActionRef, CounterRef, DirectCounterRef, HashRef, LabelRef, MeterRef, PairRef, ProfileRef, RandomRef,
    RegisterActionRef, RegisterParamRef, RegisterRef, SubcontrolRef, TableRef, ValueSetRef,
};
pub use hash::{Algorithm, HashBuilder};
pub use meter::{MeterResult, MeterSize, RandomNumber, cells, meter_per_entry};
pub use parser::{
    Ahead, CounterFrom, CounterTest, ParserValue, SelectFields, StateRef, counter_is_negative,
    counter_is_zero, lookahead,
};
pub use profile::ProfileBuilder;
pub use register::{CellElse, HasParams, PairAct, Register, RegisterSize, SingleAct, per_entry, size};
pub use register_access::Access;
pub use register_value::{
    Cell as CellPlace, CellRhs, ElementHalf, ElementValue, Output, address, approximate, lane, masked,
    matches, math, predicate, quotient, remainder, serial, signed, unsigned,
};
pub use rows::{Cells, Rows, rows};
pub use sluice_asic::geometry::CounterFormat;
pub use sluice_asic::hash::HashAlgorithm;
pub use sluice_asic::meter::LpfMode;
pub use sluice_asic::salu::{LaneMask, LaneOp, LanePost, LaneSearch, MathOp, MathUnit, PostAmount};
pub use sluice_asic::select::SelectorMode;
pub use sluice_ir::Next::{Accept, Reject};
pub use sluice_ir::{CounterCell, CounterKind, LanePart, LpfSpec, MeterKind};
pub use sluice_macros::{Header, stage_program};
pub use stack::{HdrStack, Last, StackMove};
pub use step::{
    ActionRun, ActionStep, ActionSteps, Applied, Called, ControlStep, DirectCount, Hashed, HashedSlice, Hit,
    Miss, Recorded, Step, drop,
};
pub use subcontrol::{Inserted, SharedState};
pub use table::{Cell, RegisterHandle, Row, TableBuilder, entries, exact, lpm, range, ternary};
pub use value::{
    Arg, ArrayIndex, Bits, Constant, Expr, Index, LValue, Rhs, Ro, Val, Wide, constant, funnel_shift, list,
};
