//! Extern objects of controls: hashes, counters, meters, generators of random numbers.

use super::Writer;
use super::action::resized;
use super::ghost::Side;
use sluice_asic::hash::{CrcParams, HashAlgorithm, XorWidth};
use sluice_ir::{
    Counter, CounterHome, CounterKind, Expr, Hash, Index, Meter, MeterAccess, MeterConfig, MeterKind,
    PrimitiveKind, Register,
};

/// Arrays with an index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Array {
    Counter(Counter),
    Register(Register),
    Meter(Meter),
}

impl Writer<'_> {
    /// Declares the objects of the gress.
    pub(super) fn units(&mut self) {
        let (p, gress) = (self.p, self.gress);
        for (hash, data) in p.hashes.iter().filter(|(_, d)| d.gress == gress) {
            if self.is_of_selector(hash) || (self.ghost.hashes[hash] == Side::Ghost) != self.in_ghost {
                continue;
            }
            self.page.gap_for(&data.doc);
            self.page.comment(&data.doc);
            self.declare_hash(hash);
        }
        for (register, _) in p.registers.iter().filter(|(_, d)| d.gress == gress) {
            self.declare_register(register);
        }
        if self.in_ghost {
            return;
        }
        for (counter, _) in p.counters.iter().filter(|(_, d)| d.gress == gress) {
            self.declare_counter(counter);
        }
        for (meter, _) in p.meters.iter().filter(|(_, d)| d.gress == gress) {
            self.declare_meter(meter);
        }
        for (random, data) in p.randoms.iter().filter(|(_, d)| d.gress == gress) {
            self.page.gap_for(&data.doc);
            self.page.comment(&data.doc);
            let name = &self.names.randoms[random];
            let annotation = name.annotation().map_or(String::new(), |text| text + " ");
            self.page.line(&format!("{annotation}Random<bit<{}>>() {};", data.width, name.text));
        }
    }

    fn is_of_selector(&self, hash: Hash) -> bool {
        self.p.profiles.values().any(|d| d.selector.as_ref().is_some_and(|selector| selector.hash == hash))
    }

    /// Declares a hash, after its polynomial if it has one of its own.
    pub(super) fn declare_hash(&mut self, hash: Hash) {
        let data = &self.p.hashes[hash];
        let name = self.names.hashes[hash].clone();
        let mut polynomial = None;
        let algorithm = match data.algorithm {
            HashAlgorithm::Identity => "IDENTITY",
            HashAlgorithm::Random { .. } => "RANDOM",
            HashAlgorithm::Xor(XorWidth::W8) => "XOR8",
            HashAlgorithm::Xor(XorWidth::W16) => "XOR16",
            HashAlgorithm::Xor(XorWidth::W32) => "XOR32",
            HashAlgorithm::Crc(crc) => named_crc(crc).unwrap_or_else(|| {
                polynomial = Some(crc);
                "CUSTOM"
            }),
        };
        let mut args = format!("HashAlgorithm_t.{algorithm}");
        if let Some(crc) = polynomial {
            let wanted = format!("{}_polynomial", name.text);
            let of = self.names.taken[self.gress.index()].numbered(&wanted);
            let (bits, coefficients) = (crc.width(), crc.poly());
            let (init, xor) = (crc.init(), crc.xor_out());
            self.page.line(&format!(
                "CRCPolynomial<bit<{bits}>>({coefficients:#x}, {}, false, false, {init:#x}, {xor:#x}) {of};",
                crc.reflect()
            ));
            args = format!("{args}, {of}");
        }
        let mut more: Vec<String> = Vec::new();
        if let HashAlgorithm::Random { seed } = data.algorithm
            && seed != 0
        {
            more.push(format!("\"matrix\", {seed}"));
        }
        if data.seed != 0 {
            more.push(format!("\"seed\", {:#x}", data.seed));
        }
        if data.rotate != 0 {
            more.push(format!("\"rotate\", {}", data.rotate));
        }
        more.extend(data.symmetric.iter().map(|[a, b]| format!("\"symmetric\", {a}, {b}")));
        if !more.is_empty() {
            self.page.line(&format!("@sluice_hash({})", more.join(", ")));
        }
        let annotation = name.annotation().map_or(String::new(), |text| text + " ");
        self.page.line(&format!("{annotation}Hash<bit<{}>>({args}) {};", data.width, name.text));
    }

    fn declare_counter(&mut self, counter: Counter) {
        let data = &self.p.counters[counter];
        let kind = match data.kind {
            CounterKind::Packets => "PACKETS",
            CounterKind::Bytes => "BYTES",
            CounterKind::PacketsAndBytes => "PACKETS_AND_BYTES",
        };
        let name = self.names.counters[counter].clone();
        self.page.gap_for(&data.doc);
        self.page.comment(&data.doc);
        let annotation = name.annotation().map_or(String::new(), |text| text + " ");
        let made = match data.home {
            CounterHome::Direct(_) => format!("DirectCounter<bit<64>>(CounterType_t.{kind})"),
            CounterHome::Indirect(size) => {
                let index = self.index_type(Array::Counter(counter));
                format!("Counter<bit<64>, {index}>({size}, CounterType_t.{kind})")
            }
        };
        self.page.line(&format!("{annotation}{made} {};", name.text));
    }

    fn declare_meter(&mut self, meter: Meter) {
        let data = &self.p.meters[meter];
        let name = self.names.meters[meter].clone();
        self.page.gap_for(&data.doc);
        self.page.comment(&data.doc);
        if let Some(initial) = &data.initial {
            self.page.line(&format!("@sluice_initial({})", initial_values(initial)));
        }
        let index = self.index_type(Array::Meter(meter));
        let value = format!("bit<{}>", self.sample_bits(meter));
        let (direct, of) = match data.kind {
            MeterKind::Packets | MeterKind::Bytes => ("DirectMeter".to_owned(), format!("Meter<{index}>")),
            MeterKind::Lpf => (format!("DirectLpf<{value}>"), format!("Lpf<{value}, {index}>")),
            MeterKind::Wred => (format!("DirectWred<{value}>"), format!("Wred<{value}, {index}>")),
        };
        let (ty, size) = match data.home {
            CounterHome::Direct(_) => (direct, None),
            CounterHome::Indirect(size) => (of, Some(size.to_string())),
        };
        let mut args: Vec<String> = size.into_iter().collect();
        args.extend(match data.kind {
            MeterKind::Packets => vec!["MeterType_t.PACKETS".to_owned()],
            MeterKind::Bytes => vec!["MeterType_t.BYTES".to_owned()],
            MeterKind::Lpf => Vec::new(),
            MeterKind::Wred => vec!["1".to_owned(), "0".to_owned()],
        });
        let annotation = name.annotation().map_or(String::new(), |text| text + " ");
        self.page.line(&format!("{annotation}{ty}({}) {};", args.join(", "), name.text));
    }

    /// Returns the width of the samples of a filter.
    fn sample_bits(&self, meter: Meter) -> u16 {
        let bodies = self.p.actions.values().flat_map(|action| &action.body);
        let samples = bodies.filter_map(|primitive| match &primitive.kind {
            PrimitiveKind::Meter(access) if access.meter == meter => {
                access.input.as_ref().map(|input| input.width(self.p))
            }
            _ => None,
        });
        samples.max().unwrap_or(32)
    }

    /// Returns the access to a meter.
    pub(super) fn meter_access(&self, access: &MeterAccess) -> String {
        let MeterAccess { meter, index, input, to } = access;
        let data = &self.p.meters[*meter];
        let bits = self.index_bits(Array::Meter(*meter));
        let index = self.index(index, bits);
        let sample = self.sample_bits(*meter);
        let input = input.as_ref().map(|input| match data.kind {
            MeterKind::Packets | MeterKind::Bytes => {
                format!("(MeterColor_t) (bit<8>) {}", self.operand(input))
            }
            MeterKind::Lpf | MeterKind::Wred if input.width(self.p) < sample => {
                format!("(bit<{sample}>) {}", self.operand(input))
            }
            MeterKind::Lpf | MeterKind::Wred => self.sized(input),
        });
        // Filters take the sample first, meters the index.
        let args: Vec<String> = match data.kind {
            MeterKind::Lpf | MeterKind::Wred => input.into_iter().chain(index).collect(),
            MeterKind::Packets | MeterKind::Bytes => index.into_iter().chain(input).collect(),
        };
        let from = match data.kind {
            MeterKind::Lpf => sample,
            MeterKind::Packets | MeterKind::Bytes | MeterKind::Wred => 8,
        };
        let call = format!("{}.execute({})", self.names.meters[*meter].text, args.join(", "));
        format!("{} = {}", self.layout.fields[*to], resized(&call, from, self.p.fields[*to].width))
    }

    /// Returns the index of a counter.
    pub(super) fn counter_index(&self, counter: Counter, index: &Expr) -> String {
        let bits = self.index_bits(Array::Counter(counter));
        self.index(&Index::At(index.clone()), bits).unwrap_or_default()
    }

    /// Returns the type of the indices of an array.
    pub(super) fn index_type(&self, array: Array) -> String {
        let bits = self.index_bits(array);
        if bits == 9 { "PortId_t".to_owned() } else { format!("bit<{bits}>") }
    }

    /// Returns the width of the widest index of an array; that of its numbers if no access has an index.
    pub(super) fn index_bits(&self, array: Array) -> u16 {
        let constant = |index: &Index| matches!(index, Index::At(Expr::Const(..)));
        let bodies = self.p.actions.values().flat_map(|action| &action.body);
        let widths = bodies.filter_map(|primitive| match &primitive.kind {
            PrimitiveKind::Count(counter, index) if array == Array::Counter(*counter) => {
                (!matches!(index, Expr::Const(..))).then(|| index.width(self.p))
            }
            PrimitiveKind::Register(access)
                if self.p.accessed(access.action).map(Array::Register) == Some(array)
                    && !constant(&access.index) =>
            {
                Some(access.index.width(self.p))
            }
            PrimitiveKind::Meter(access)
                if array == Array::Meter(access.meter) && !constant(&access.index) =>
            {
                Some(access.index.width(self.p))
            }
            _ => None,
        });
        let home = match array {
            Array::Counter(counter) => self.p.counters[counter].home,
            Array::Register(register) => self.p.registers[register].home,
            Array::Meter(meter) => self.p.meters[meter].home,
        };
        let of_size = match home {
            CounterHome::Direct(_) => 1,
            CounterHome::Indirect(size) => (u32::BITS - size.saturating_sub(1).leading_zeros()).max(1) as u16,
        };
        widths.max().filter(|width| *width > 0).unwrap_or(of_size)
    }
}

/// Returns the name of a CRC in TNA.
fn named_crc(crc: CrcParams) -> Option<&'static str> {
    let of = |name: &str| HashAlgorithm::from_name(name).ok() == Some(HashAlgorithm::Crc(crc));
    ["CRC8", "CRC16", "CRC32", "CRC64"].into_iter().find(|name| of(name))
}

/// Returns the initial configuration of a meter as arguments of an annotation.
fn initial_values(config: &MeterConfig) -> String {
    let filter = |spec: &sluice_ir::LpfSpec| {
        let mode = match spec.mode {
            sluice_asic::meter::LpfMode::Sample => "sample",
            sluice_asic::meter::LpfMode::Rate => "rate",
        };
        format!("\"{mode}\", \"{}\", \"{}\", {}", spec.rise, spec.fall, spec.shift)
    };
    match config {
        MeterConfig::Rates { committed, committed_burst, peak, peak_burst } => {
            format!("{committed}, {committed_burst}, {peak}, {peak_burst}")
        }
        MeterConfig::Lpf(spec) => filter(spec),
        MeterConfig::Wred { min, max, probability, average } => {
            let average = average.as_ref().map_or(String::new(), |spec| format!(", {}", filter(spec)));
            format!("{min}, {max}, {probability}{average}")
        }
    }
}
