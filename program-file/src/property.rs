//! Properties that a file declares, checked on packets as they came and as they were sent.
//!
//! The program's ingress parser reads both, run by the reference interpreter: a sent packet is read as the next switch with
//! this program would read it. A property is judged for every packet from outside that was sent; if it contains `sent`, it is
//! also judged for packets that were dropped or consumed. Copies are not judged.

use sluice_asic::gress::Gress;
use sluice_control::ControlState;
use sluice_exec::reference::{Event, Options, Reference, Tracer};
use sluice_ir::text::{Moment, PropertyDecl, Test, Value};
use sluice_ir::verify::Diag;
use sluice_ir::{CmpOp, Field, Header, Home, Program};
use sluice_switch::property::{Departed, Ended, Finding, Origin, Property};
use std::collections::BTreeMap;

/// Refuses properties that have the same name, or that read a field that no packet carries.
pub(crate) fn check(program: &Program, decls: &[PropertyDecl]) -> Vec<Diag> {
    let mut diags = Vec::new();
    for (at, decl) in decls.iter().enumerate() {
        if decls[..at].iter().any(|earlier| earlier.name == decl.name) {
            let text = format!("two properties are named `{}`", decl.name);
            diags.push(Diag::error(decl.loc, text).help("rename one of them"));
        }
        let mut fields = Vec::new();
        decl.when.iter().chain([&decl.holds]).for_each(|test| fields_of(test, &mut fields));
        for field in fields {
            let data = &program.fields[field];
            if !matches!(data.home, Home::Header(_)) {
                let text =
                    format!("property `{}` reads `{}`, which is not in the packet", decl.name, data.name);
                diags.push(Diag::error(decl.loc, text).help("name a field of a header of ingress"));
            }
        }
    }
    diags
}

fn fields_of(test: &Test, into: &mut Vec<Field>) {
    fn of_value(value: &Value, into: &mut Vec<Field>) {
        match value {
            Value::Field(_, field) => into.push(*field),
            Value::Plus(a, b) | Value::Minus(a, b) => {
                of_value(a, into);
                of_value(b, into);
            }
            Value::Number(_) | Value::Port(_) | Value::Queue | Value::Length(_) => {}
        }
    }
    match test {
        Test::And(all) | Test::Or(all) => all.iter().for_each(|test| fields_of(test, into)),
        Test::Not(test) => fields_of(test, into),
        Test::Compare(_, a, b) => {
            of_value(a, into);
            of_value(b, into);
        }
        Test::OnlyChanges(fields) => into.extend(fields),
        Test::Valid(..) | Test::Sent => {}
    }
}

/// Returns true if a test contains `sent`.
fn names_fate(test: &Test) -> bool {
    match test {
        Test::And(all) | Test::Or(all) => all.iter().any(names_fate),
        Test::Not(test) => names_fate(test),
        Test::Sent => true,
        Test::Compare(..) | Test::Valid(..) | Test::OnlyChanges(_) => false,
    }
}

/// A property of a file.
pub(crate) struct FileProperty {
    decl: PropertyDecl,
    program: Program,
    parser: Reference<Extracted>,
    /// True if packets that were not sent are judged too.
    all_fates: bool,
}

/// The headers that the parser extracted, each with the offset of its first byte.
#[derive(Clone, Debug, Default)]
struct Extracted(Vec<(Header, usize)>);

impl Tracer for Extracted {
    fn event(&mut self, _: &Program, event: &Event<'_>) {
        if let Event::Extracted { header, offset } = event {
            self.0.push((*header, *offset));
        }
    }
}

/// A packet as the parser read it.
struct Read {
    bytes: Vec<u8>,
    port: u16,
    headers: Vec<(Header, usize)>,
    fields: BTreeMap<Field, u128>,
}

/// A packet before and after the switch.
struct Packet {
    came: Read,
    /// The packet as it was sent, and its queue; `None` if it was not sent.
    sent: Option<(Read, u8)>,
}

impl FileProperty {
    pub(crate) fn boxed(program: &Program, decl: PropertyDecl) -> Box<dyn Property> {
        let control = ControlState::new(program);
        let parser = Reference::traced(program, &control, Options::default(), Extracted::default());
        let all_fates = names_fate(&decl.holds) || decl.when.as_ref().is_some_and(names_fate);
        Box::new(FileProperty { decl, program: program.clone(), parser, all_fates })
    }

    fn read(&mut self, port: u16, bytes: &[u8]) -> Read {
        self.parser.tracer_mut().0.clear();
        self.parser.parse(Gress::Ingress, port, bytes);
        let headers = std::mem::take(&mut self.parser.tracer_mut().0);
        let all = headers.iter().flat_map(|(header, _)| &self.program.headers[*header].fields);
        let fields = all.map(|field| (*field, self.parser.phv().field(*field))).collect();
        Read { bytes: bytes.to_vec(), port, headers, fields }
    }

    fn judge(&mut self, came: Origin<'_>, sent: Option<(u16, u8, &[u8])>) -> Finding {
        let came = self.read(came.port, came.bytes);
        let sent = sent.map(|(port, queue, bytes)| (self.read(port, bytes), queue));
        let packet = Packet { came, sent };
        if self.decl.when.as_ref().is_some_and(|when| !packet.holds(&self.program, when)) {
            return Ok(());
        }
        if packet.holds(&self.program, &self.decl.holds) {
            return Ok(());
        }
        let fate = if packet.sent.is_some() { "was sent" } else { "was not sent" };
        let doc = if self.decl.doc.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.decl.doc.replace('\n', " "))
        };
        let values = packet.values(&self.program, &self.decl);
        Err(format!("{}{doc} does not hold of a packet that {fate}; {values}", self.decl.loc))
    }
}

impl Packet {
    fn at(&self, moment: Moment) -> Option<&Read> {
        match moment {
            Moment::In => Some(&self.came),
            Moment::Out => self.sent.as_ref().map(|(read, _)| read),
        }
    }

    fn value(&self, value: &Value) -> Option<u128> {
        match value {
            Value::Number(number) => Some(*number),
            Value::Field(moment, field) => self.at(*moment)?.fields.get(field).copied(),
            Value::Port(moment) => Some(self.at(*moment)?.port.into()),
            Value::Queue => self.sent.as_ref().map(|(_, queue)| (*queue).into()),
            Value::Length(moment) => Some(self.at(*moment)?.bytes.len() as u128),
            Value::Plus(a, b) => self.value(a)?.checked_add(self.value(b)?),
            Value::Minus(a, b) => self.value(a)?.checked_sub(self.value(b)?),
        }
    }

    fn holds(&self, program: &Program, test: &Test) -> bool {
        match test {
            Test::And(all) => all.iter().all(|test| self.holds(program, test)),
            Test::Or(all) => all.iter().any(|test| self.holds(program, test)),
            Test::Not(test) => !self.holds(program, test),
            Test::Compare(op, a, b) => match (self.value(a), self.value(b)) {
                (Some(a), Some(b)) => op.holds(a, b),
                _ => *op == CmpOp::Ne,
            },
            Test::Valid(moment, header) => {
                self.at(*moment).is_some_and(|read| read.headers.iter().any(|(valid, _)| valid == header))
            }
            Test::Sent => self.sent.is_some(),
            Test::OnlyChanges(fields) => self.only_changes(program, fields),
        }
    }

    /// Returns true if the packet was sent with the bytes with which it came, except for these fields.
    fn only_changes(&self, program: &Program, fields: &[Field]) -> bool {
        let Some((sent, _)) = &self.sent else { return false };
        if sent.bytes.len() != self.came.bytes.len() {
            return false;
        }
        let mut free = vec![0u8; self.came.bytes.len()];
        for (header, offset) in &self.came.headers {
            for field in fields.iter().filter(|field| program.headers[*header].fields.contains(field)) {
                let first = offset * 8 + program.field_offset(*header, *field).unwrap_or_default() as usize;
                for bit in first..first + usize::from(program.fields[*field].width) {
                    if let Some(byte) = free.get_mut(bit / 8) {
                        *byte |= 0x80 >> (bit % 8);
                    }
                }
            }
        }
        let pairs = self.came.bytes.iter().zip(&sent.bytes).zip(&free);
        pairs.into_iter().all(|((came, sent), free)| (came ^ sent) & !free == 0)
    }

    /// Returns the values that the property reads.
    fn values(&self, program: &Program, decl: &PropertyDecl) -> String {
        let mut fields = Vec::new();
        decl.when.iter().chain([&decl.holds]).for_each(|test| fields_of(test, &mut fields));
        fields.sort_unstable();
        fields.dedup();
        let shown = |read: &Read, field: &Field| {
            read.fields.get(field).map_or("absent".to_owned(), |v| format!("{v:#x}"))
        };
        let fields = fields.iter().map(|field| {
            let out = self
                .sent
                .as_ref()
                .map_or(String::new(), |(read, _)| format!(", sent with {}", shown(read, field)));
            format!("{} came with {}{out}", program.fields[*field].name, shown(&self.came, field))
        });
        let ports = self.sent.as_ref().map_or(String::new(), |(read, queue)| {
            format!(", left by dev_port {} queue {queue} with {} bytes", read.port, read.bytes.len())
        });
        let came = format!("came on dev_port {} with {} bytes{ports}", self.came.port, self.came.bytes.len());
        std::iter::once(came).chain(fields).collect::<Vec<_>>().join("; ")
    }
}

impl Property for FileProperty {
    fn name(&self) -> &str {
        &self.decl.name
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        match packet.from {
            Some(from) if !packet.left.made => {
                self.judge(from, Some((packet.left.egress_port, packet.left.qid, packet.bytes)))
            }
            _ => Ok(()),
        }
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        match packet.from {
            Some(from) if self.all_fates => self.judge(from, None),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ProgramFile;
    use sluice_asic::units::Time;
    use sluice_catalogue::StageProgram;
    use sluice_switch::property::{Departed, Ended, Finding, Origin, Property};
    use sluice_switch::{DeviceDrop, Lost, Reason};

    /// A program that reads one header of two bytes and a tag that follows if the first byte is 1.
    const TEXT: &str = r#"
sluice 1;
program tagged;
param most = 9;
header h : ingress { bit<8> kind; bit<4> a; bit<4> b; }
header tag : ingress { bit<16> id; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
action out : ingress () { ig_tm.ucast_egress_port = 9w1; }
parser ingress {
    start = first;
    state first { extract(h); select (h.kind) { (1) : second; default : accept; } }
    state second { extract(tag); transition accept; }
}
control ingress { call out; }
deparser ingress { emit(h); emit(tag); }
property p { PROPERTY }
"#;

    fn property(text: &str) -> Box<dyn Property> {
        let file =
            ProgramFile::parse("t.sluice", &TEXT.replace("PROPERTY", text)).unwrap_or_else(|e| panic!("{e}"));
        let program = file.build(&[]).unwrap();
        file.properties(&program).swap_remove(0)
    }

    fn came(bytes: &[u8]) -> Origin<'_> {
        Origin { port: 5, time: Time::ORIGIN, bytes }
    }

    /// Judges a packet that came and was sent with these bytes.
    fn sent(text: &str, before: &[u8], after: &[u8]) -> Finding {
        property(text).left(&Departed::of(after, 1, Some(came(before))))
    }

    fn dropped(text: &str, before: &[u8]) -> Finding {
        let lost = Lost {
            tag: 0,
            port: 5,
            received: Time::ORIGIN,
            time: Time::ORIGIN,
            reason: Reason::Device(DeviceDrop::NoEgressPort),
            absorbed: false,
            bytes: before.len() as u32,
        };
        property(text).ended(&Ended { lost, reason: "", bytes: before, from: Some(came(before)) })
    }

    #[test]
    fn fields_are_read_before_and_after() {
        let rule = "holds out.h.a == in.h.a + 1;";
        assert_eq!(sent(rule, &[0, 0x30], &[0, 0x40]), Ok(()));
        let said = sent(rule, &[0, 0x30], &[0, 0x50]).unwrap_err();
        assert!(said.starts_with("t.sluice:16:1"), "{said}");
        assert!(said.contains("h.a came with 0x3, sent with 0x5"), "{said}");
        // A field of a header that the packet lacks is unequal to every value.
        assert!(sent("holds in.tag.id == 7;", &[0, 0, 0, 7], &[0, 0, 0, 7]).is_err());
        assert!(sent("holds in.tag.id != 7;", &[0, 0, 0, 7], &[0, 0, 0, 7]).is_ok());
        assert!(sent("holds in.tag.id == 7;", &[1, 0, 0, 7], &[1, 0, 0, 7]).is_ok());
        assert!(sent("holds out.h.a == in.h.a - 4;", &[0, 0x30], &[0, 0xf0]).is_err());
        assert!(
            sent("holds in.h.a < most && in.port == 5 && out.port == 1;", &[0, 0x80], &[0, 0x80]).is_ok()
        );
        assert!(sent("holds in.h.a < most;", &[0, 0x90], &[0, 0x90]).is_err());
        assert!(sent("holds out.length == in.length + 2 && out.queue == 0;", &[0, 0], &[0, 0, 0, 0]).is_ok());
        assert!(sent("holds !(in.valid(tag)) || out.valid(tag);", &[1, 0, 0, 1], &[0, 0, 0, 1]).is_err());
    }

    #[test]
    fn a_property_holds_of_the_packets_that_it_is_for() {
        let rule = "when in.valid(tag); holds out.h.a == 0;";
        assert!(sent(rule, &[0, 0x10], &[0, 0x10]).is_ok());
        assert!(sent(rule, &[1, 0x10, 0, 0], &[1, 0x10, 0, 0]).is_err());
        // Only a property with `sent` is about packets that were not sent.
        assert!(dropped(rule, &[1, 0x10, 0, 0]).is_ok());
        assert!(dropped("holds sent;", &[0, 0]).is_err());
        assert!(dropped("holds !(sent) || out.h.a == 1;", &[0, 0]).is_ok());
        assert!(sent("when in.h.a == 1; holds !(sent);", &[0, 0x10], &[0, 0x10]).is_err());
    }

    #[test]
    fn only_the_named_fields_change() {
        let rule = "holds only_changes { h.b, tag.id };";
        assert!(sent(rule, &[1, 0x12, 0, 0, 9], &[1, 0x1f, 0xff, 0xff, 9]).is_ok());
        assert!(sent(rule, &[1, 0x12, 0, 0, 9], &[1, 0x22, 0, 0, 9]).is_err(), "the field next to it");
        assert!(sent(rule, &[1, 0x12, 0, 0, 9], &[1, 0x12, 0, 0, 8]).is_err(), "the payload");
        assert!(sent(rule, &[1, 0x12, 0, 0], &[1, 0x12, 0, 0, 0]).is_err(), "the length");
        // Bytes in the place of a header that the packet lacks are payload.
        assert!(sent(rule, &[0, 0x12, 0, 0], &[0, 0x12, 0, 1]).is_err());
    }

    #[test]
    fn properties_read_packets_and_have_names_of_their_own() {
        let wrong = |text: &str| {
            ProgramFile::parse("t.sluice", &text.replace("PROPERTY", "holds sent;")).unwrap_err().text
        };
        let twice = format!("{TEXT}\nproperty p {{ holds sent; }}");
        assert!(wrong(&twice).contains("two properties are named `p`"));
        let intrinsic = format!("{TEXT}\nproperty q {{ holds in.ig_tm.ucast_egress_port == 1; }}");
        assert!(
            wrong(&intrinsic)
                .contains("property `q` reads `ig_tm.ucast_egress_port`, which is not in the packet")
        );
    }
}
