//! Demands of a program on the PHV, field by field.

use super::super::steps::Steps;
use super::author::Author;
use super::beside::Beside;
use super::landing::{Landing, fills_words, landings, position, unfit};
use super::lists::Lists;
use super::moves::{Move, Shape, Source, Write, writes};
use super::parts::{self, Part};
use super::tops;
use sluice_asic::alu::AluOp;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, Var, used_vars};
use sluice_ir::entity::EntityMap;
use sluice_ir::verify::Diag;
use sluice_ir::{Action, Expr, Field, FieldData, Header, Home, Operand, ParserOpKind, Program};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Use of a field by the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// True if it needs containers.
    pub(super) used: bool,
    /// True if the input crossbar reads it.
    pub(super) matched: bool,
    /// True if an action ALU reads it.
    pub(super) alu_read: bool,
    /// True if it is source or destination of an instruction that reads fields.
    pub(super) moved: bool,
    /// True if its containers hold nothing else.
    pub(super) own: bool,
    /// True if it is one number, in one container or in two with a carry between them.
    pub(super) number: bool,
    /// True if an operation without carry works on it: any operation on numbers except sums and differences.
    pub(super) uncarried: bool,
    /// True if a stateful ALU takes it as bytes, because its operands have more bits than a hash can bring.
    pub(super) operand: bool,
    /// True if the parser writes it other than by extracting its header or setting a constant.
    pub(super) copied: bool,
    /// Bit of its container at which the field is, if the parser copies bits to it that are not whole bytes, or if it takes a
    /// sum from the top of a byte.
    pub(super) at: Option<u8>,
    /// True if it is in the upper bits of a byte of a header, to which data are added there.
    pub(super) top: bool,
    /// Nodes of its gress that write it, sorted.
    pub(super) writers: Vec<Node>,
    /// Actions that write it, each true if it writes a result of a hash, a meter ALU or a random number generator.
    pub(super) written_in: Vec<(Action, bool)>,
    /// True if a list of a request has it in containers that hold nothing else.
    pub(super) listed: bool,
    /// True if a list of a request has it in containers with its neighbours in the list.
    pub(super) shared: bool,
    /// The bits that it is a copy of, if it shares containers with other copies of the same field.
    pub(super) beside: Option<Beside>,
    /// Checksum updates that sum it, by their index in the deparser.
    pub(super) sums: Vec<usize>,
    /// Proper parts of it that operations on whole containers take, the lowest first.
    pub(super) parts: Vec<Part>,
}

impl Demand {
    /// Returns true if only parser and deparser use it.
    pub(super) fn passes_through(&self) -> bool {
        !self.matched && !self.alu_read && self.writers.is_empty()
    }
}

/// All demands of a program.
#[derive(Clone, Debug)]
pub(super) struct Demands {
    pub(super) fields: EntityMap<Field, Demand>,
    /// Headers whose validity bit is needed.
    pub(super) valid: EntityMap<Header, bool>,
    /// Writes of both gresses.
    pub(super) writes: Vec<Write>,
    /// Demands of the lists of requests.
    pub(super) lists: Lists,
    /// Copies of packet bits by the parsers.
    pub(super) landings: Vec<Landing>,
    /// What the author demands of containers.
    pub(super) author: Author,
    /// The budget of the placement.
    pub(super) steps: Rc<Steps>,
}

impl Demands {
    /// Returns the demands. Of fields of more than 32 bits and of the fields in `parted`, operations take the parts that they
    /// name; of the others, they take the whole.
    pub(super) fn of(
        program: &Program,
        chip: &ChipSpec,
        cfgs: &[Cfg; 2],
        parted: &BTreeSet<Field>,
        steps: &Rc<Steps>,
    ) -> Demands {
        let mut d = Demands {
            fields: program.fields.values().map(|_| Demand::default()).collect(),
            valid: program.headers.values().map(|_| false).collect(),
            writes: Vec::new(),
            lists: Lists::of(program),
            landings: landings(program),
            author: Author::of(program),
            steps: Rc::clone(steps),
        };
        for gress in Gress::ALL {
            for var in used_vars(program, gress) {
                match var {
                    Var::Field(f) => d.fields[f].used = true,
                    Var::Valid(h) => d.valid[h] = true,
                }
            }
            d.control(program, &cfgs[gress.index()], parted);
            d.deparser(program, gress);
        }
        for f in program.fields.keys() {
            d.fields[f].listed = d.lists.is_alone(f);
            d.fields[f].shared = d.lists.is_shared(f);
        }
        // Parts of a number lie in its containers.
        for demand in d.fields.values_mut().filter(|d| d.number) {
            demand.parts.clear();
        }
        d.parser(program);
        d.registers(program, chip);
        for (f, data) in program.fields.iter() {
            if d.takes_bytes(program, f) {
                let parts = std::mem::take(&mut d.fields[f].parts);
                parts.into_iter().for_each(|part| parts::add(&mut d.fields[f].parts, part.grown(data.width)));
            }
        }
        d
    }

    fn control(&mut self, program: &Program, cfg: &Cfg, parted: &BTreeSet<Field>) {
        for node in cfg.nodes.keys() {
            let effects = cfg.effects(program, node);
            let field = |v: &Var| if let Var::Field(f) = v { Some(*f) } else { None };
            effects.match_reads.iter().filter_map(field).for_each(|f| self.fields[f].matched = true);
            effects.action_reads.iter().filter_map(field).for_each(|f| self.fields[f].alu_read = true);
            effects.writes.iter().filter_map(field).for_each(|f| self.fields[f].writers.push(node));
        }
        let writes = writes(program, cfg);
        let parted = parts::parted(program, &writes, parted);
        for (field, at) in tops::tops(program, &writes) {
            let header = matches!(program.fields[field].home, Home::Header(_));
            self.fields[field].top = header;
            self.fields[field].at = Some(at).filter(|_| !header);
        }
        for w in &writes {
            let hashed = w.moves.iter().any(|m| m.source == Source::Hash);
            self.fields[w.dst].written_in.push((w.action, hashed));
            self.shape(program, w, &parted);
        }
        self.writes.extend(writes);
    }

    fn shape(&mut self, program: &Program, w: &Write, parted: &BTreeSet<Field>) {
        let at_top = |f: Field| self.fields[f].top || self.fields[f].at.is_some();
        let top = tops::is_sum(program, w) && w.sources().map(|(f, ..)| f).chain([w.dst]).all(at_top);
        let own = parts::is_whole_container(w.shape) && !top;
        let number = own && matches!(w.shape, Shape::Number(_) | Shape::Funnel);
        let uncarried = number && !matches!(w.shape, Shape::Number(AluOp::Add | AluOp::Sub));
        let moved = w.sources().next().is_some() && w.shape != Shape::Merge;
        let all = Move { lo: 0, width: program.fields[w.dst].width, source: Source::Field(w.dst, 0) };
        for (f, lo, m) in w.sources().chain([(w.dst, 0, all)]) {
            let d = &mut self.fields[f];
            d.moved |= moved;
            if own && parted.contains(&f) && m.width < program.fields[f].width {
                parts::add(&mut d.parts, Part { lo, width: m.width, number });
                continue;
            }
            d.own |= own;
            d.number |= number;
            d.uncarried |= uncarried;
        }
    }

    fn deparser(&mut self, program: &Program, gress: Gress) {
        for (i, update) in program.pipe(gress).deparser.checksums.iter().enumerate() {
            self.fields[update.field].own = true;
            self.fields[update.field].number = true;
            let inputs =
                update.inputs.iter().filter_map(|e| if let Expr::Field(f) = e { Some(*f) } else { None });
            for f in inputs {
                self.fields[f].sums.push(i);
                // The deparser sums whole containers, so metadata has separate ones and begins at bit 0.
                let alone = !matches!(program.fields[f].home, Home::Header(_));
                let narrow = program.fields[f].width <= 32;
                self.fields[f].own |= alone;
                self.fields[f].number |= alone && narrow;
                self.fields[f].uncarried |= alone && narrow;
            }
        }
    }

    fn parser(&mut self, program: &Program) {
        for op in program.states.values().flat_map(|s| &s.ops) {
            let copies = match &op.kind {
                ParserOpKind::Lookahead(..) | ParserOpKind::SubtractChecksum(..) => true,
                kind => kind.write().is_some_and(|write| !write.is_constant()),
            };
            if let Some(dst) = op.kind.written().filter(|_| copies) {
                self.fields[dst].copied = true;
                self.fields[dst].at = position(program, &self.landings, dst);
            }
        }
    }

    /// Marks operands that must come as bytes. As hash bits, operands of an ALU are one ALU width apart in the lowest
    /// bits of a hash group (model: chip §1.3), so they may be too wide for that.
    fn registers(&mut self, program: &Program, chip: &ChipSpec) {
        for (register, data) in program.registers.iter() {
            let mut operands: Vec<Operand> = Vec::new();
            for operand in program.actions_of(register).flat_map(|(_, action)| action.operands()) {
                if !operands.contains(&operand) {
                    operands.push(operand);
                }
            }
            let half = data.format.half_bits();
            let width = |o: &Operand| match o {
                Operand::Phv(e) => u32::from(e.width(program)).min(half),
                Operand::Hash(hash) => u32::from(program.hashes[*hash].width).min(half),
            };
            // The narrowest operand is the last one.
            let last = operands.iter().map(width).min().unwrap_or(0);
            let bits = last + half * (operands.len() as u32).saturating_sub(1);
            if bits > chip.mau.alu_hash_bits {
                operands.iter().for_each(|o| o.fields(program, &mut |f| self.fields[f].operand = true));
            }
        }
    }

    /// Returns true if a field is a number in two containers with a carry between them (`add` and `addc`).
    pub(super) fn carries(&self, program: &Program, field: Field) -> bool {
        let (data, d) = (&program.fields[field], &self.fields[field]);
        let home = match data.home {
            Home::Metadata => !d.copied || data.width == 64 || fills_words(program, field),
            Home::Header(_) => data.width == 64,
            // The parser fills the high container with the bytes before the field, too. A sum does not carry down from there.
            Home::Intrinsic(_) => true,
            Home::PortMetadata => false,
        };
        d.number && !d.uncarried && (33..=64).contains(&data.width) && home
    }

    /// Returns true if the containers of a field are filled by bytes of packets.
    pub(super) fn takes_bytes(&self, program: &Program, field: Field) -> bool {
        let demand = &self.fields[field];
        program.fields[field].home != Home::Metadata || demand.listed || demand.copied && demand.at.is_none()
    }

    /// Returns the findings about fields that need whole containers.
    fn wholes(&self, program: &Program) -> impl Iterator<Item = (Field, Diag)> {
        let own = self.fields.iter().filter(|(_, d)| d.used && d.own);
        own.filter_map(|(f, d)| Some((f, whole(program, f, d, self.carries(program, f))?)))
    }

    /// Returns the fields that cannot have the whole containers that they need.
    pub(super) fn misfits(&self, program: &Program) -> BTreeSet<Field> {
        self.wholes(program).map(|(f, _)| f).collect()
    }

    /// Returns true if all instructions that read a field copy its bits.
    pub(super) fn only_copied(&self, field: Field) -> bool {
        self.writes.iter().all(|w| w.shape == Shape::Copy || w.sources().all(|(src, ..)| src != field))
    }

    /// Returns true if a field takes a result that depends on the upper end of its container.
    pub(super) fn sees_top(&self, field: Field) -> bool {
        self.writes.iter().any(|w| w.dst == field && matches!(w.shape, Shape::Number(op) if sees_top(op)))
    }

    /// Returns the findings that no allocation can avoid.
    pub(super) fn check(&self, program: &Program) -> Vec<Diag> {
        let mut found = self.lists.found.clone();
        for (f, d) in self.fields.iter().filter(|(_, d)| d.listed || d.shared) {
            found.extend(sent(program, f, d, self.carries(program, f)));
        }
        found.extend(self.wholes(program).map(|(_, diag)| diag));
        for (f, d) in self.fields.iter() {
            found.extend(d.parts.iter().filter_map(|part| parts::unfit(program, f, *part)));
        }
        for w in &self.writes {
            match w.shape {
                Shape::Number(op) if sees_top(op) => found.extend(padded(program, w, op.mnemonic())),
                Shape::Funnel => found.extend(padded(program, w, "funnel_shift")),
                _ => {}
            }
        }
        for landing in &self.landings {
            found.extend(unfit(program, &self.landings, &self.fields, landing));
        }
        found
    }
}

/// Checks that a number can have one container that holds nothing else, or two with a carry between them, and that an
/// operand of a bitwise function can have one or more such containers.
fn whole(program: &Program, field: Field, demand: &Demand, carries: bool) -> Option<Diag> {
    let (data, number) = (&program.fields[field], demand.number);
    if number && data.width > 32 && !carries {
        let (text, help) = too_wide(data, demand);
        return Some(Diag::error(data.loc, text).help(help));
    }
    let Home::Header(header) = data.home else { return None };
    let aligned = program.field_offset(header, field).is_some_and(|o| o % 8 == 0);
    let filled = if number { matches!(data.width, 8 | 16 | 32 | 64) } else { data.width.is_multiple_of(8) };
    if aligned && filled {
        return None;
    }
    let text = format!(
        "`{}` ({} bits at bit {} of `{}`) is an operand of a whole-container operation or a checksum, but cannot \
         have containers of its own: that takes {} bits on a byte boundary",
        data.name,
        data.width,
        program.field_offset(header, field).unwrap_or(0),
        program.headers[header].name,
        if number { "8, 16 or 32" } else { "a multiple of 8" }
    );
    let help = "copy it to a metadata field, compute there, and copy the result back";
    Some(Diag::error(data.loc, text).also(program.headers[header].loc, "the header").help(help))
}

/// Checks that a field of a list can have the containers that the list and the actions demand.
fn sent(program: &Program, field: Field, demand: &Demand, carries: bool) -> Option<Diag> {
    let data = &program.fields[field];
    let (text, help) = if demand.shared && (demand.own || demand.copied || demand.operand) {
        let text = "needs separate containers, but shares bytes with its neighbours in the list of a request";
        (text, "put zeros in front of it in the list, so that it fills bytes alone")
    } else if demand.number && !matches!(data.width, 0..=16 | 25..=32 | 64) {
        let text =
            "is a number in one container, which is longer than the bytes that the list of a request has";
        (text, "declare it 8, 16 or 32 bits wide, or 64 for sums")
    } else if carries && data.width != 64 {
        let text =
            "is a number in two containers, which are longer than the bytes that the list of a request has";
        (text, "declare it 32 or 64 bits wide")
    } else {
        return None;
    };
    Some(Diag::error(data.loc, format!("`{}` ({} bits) {text}", data.name, data.width)).help(help))
}

/// Returns why a number of more than 32 bits has no containers, and help: only sums and differences carry, over two
/// containers of 32 bits.
fn too_wide(data: &FieldData, demand: &Demand) -> (String, &'static str) {
    let (name, width) = (&data.name, data.width);
    let what = format!("`{name}` of {width} bits is an operand of whole-container arithmetic, which");
    if demand.uncarried {
        let help = "compute on a 32-bit part kept in a separate metadata field";
        return (
            format!("{what} has at most 32 bits; only sums and differences carry over two containers"),
            help,
        );
    }
    if width > 64 {
        return (format!("{what} has at most 64 bits with a carry"), "compute on a part of at most 64 bits");
    }
    match data.home {
        Home::Intrinsic(_) | Home::PortMetadata => (
            format!(
                "{what} cannot carry there, because the hardware fixes the layout of fields that it fills"
            ),
            "let the parser copy it to a metadata field, and compute there",
        ),
        _ => (
            format!("{what} takes two containers of 32 bits, which packet bytes of {width} bits do not fill"),
            "declare it 64 bits wide on a byte boundary, or keep the number in a metadata field that actions fill",
        ),
    }
}

/// Returns true for operations whose result depends on the upper end of their container.
const fn sees_top(op: AluOp) -> bool {
    matches!(
        op,
        AluOp::Saddu
            | AluOp::Sadds
            | AluOp::Ssubs
            | AluOp::Mins
            | AluOp::Maxs
            | AluOp::Shrs
            | AluOp::Gteqs
            | AluOp::Lts
            | AluOp::Leqs
            | AluOp::Gts
    )
}

/// Checks the destination of an operation whose result depends on the container's upper end: the field must fill the
/// container.
fn padded(program: &Program, w: &Write, op: &str) -> Option<Diag> {
    let data = &program.fields[w.dst];
    if matches!(data.width, 8 | 16 | 32) || data.width > 32 {
        return None;
    }
    let text = format!(
        "`{}` has {} bits, but `{op}` in {} works on 8, 16 or 32 bits",
        data.name,
        data.width,
        sluice_ir::words::subject(&program.actions[w.action])
    );
    Some(Diag::error(w.loc, text).also(data.loc, "the field").help("declare the field 8, 16 or 32 bits wide"))
}
