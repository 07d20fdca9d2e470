//! Tables.

use super::scope::Meaning;
use super::{Parsed, Parser, Reported};
use crate::preprocess::{Punct, TokenKind};
use crate::source::Span;
use crate::syntax::ast::{
    Actions, Annotation, DeclId, DeclKind, Entries, Entry, ExprId, Key, KeyElement, Property, TableDecl,
};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses `table name { ... }`.
    pub(super) fn table(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        let name = self.name("the name of the table")?;
        self.scope.declare(name.symbol, Meaning::Value);
        let decl = self.reserve(name);
        let table = self.inside(decl, |parser| {
            parser.expect(Punct::LBrace, "and the properties of the table")?;
            let mut table = TableDecl::default();
            while !parser.at_block_end() {
                let before = parser.next;
                if parser.property(&mut table).is_err() {
                    parser.recover_in_block(before);
                }
            }
            parser.expect(Punct::RBrace, "after the properties of the table")?;
            Ok(table)
        })?;
        Ok(self.complete(decl, start, annotations, DeclKind::Table(table)))
    }

    fn property(&mut self, table: &mut TableDecl) -> Parsed<()> {
        if self.accept(Punct::Semicolon) {
            return Ok(());
        }
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let is_const = self.accept_keyword(Keyword::Const);
        let name = self.name("a property of the table: key, actions, default_action, size, ...")?;
        self.expect(Punct::Assign, "after the name of the property")?;
        let word = Keyword::of(name.symbol);
        if matches!(word, Some(Keyword::Key | Keyword::Actions | Keyword::Entries)) {
            return self.list_property(table, word, start, is_const);
        }
        let value = self.expression()?;
        let property = Property { span: start.to(self.previous().span), annotations, is_const, name, value };
        let slot = match self.ast.names.text(name.symbol) {
            "default_action" => Some(&mut table.default_action),
            "size" => Some(&mut table.size),
            _ => None,
        };
        let earlier = match slot {
            Some(slot) => {
                let earlier = slot.as_ref().map(|property| property.span);
                if earlier.is_none() {
                    *slot = Some(property);
                }
                earlier
            }
            None => {
                let same = |earlier: &&Property| earlier.name.symbol == name.symbol;
                let earlier = table.properties.iter().find(same).map(|property| property.span);
                table.properties.push(property);
                earlier
            }
        };
        self.check_repeated(earlier, name.span);
        self.semicolon("after the property of the table")
    }

    /// Parses `key = { ... }`, `actions = { ... }` or `entries = { ... }` after the `=`.
    fn list_property(
        &mut self,
        table: &mut TableDecl,
        word: Option<Keyword>,
        start: Span,
        is_const: bool,
    ) -> Parsed<()> {
        let earlier = match word {
            Some(Keyword::Key) => {
                let elements = self.braced("and the elements of the key", Self::key_element)?;
                let key = Key { span: start.to(self.previous().span), elements };
                table.key.replace(key).map(|key| key.span)
            }
            Some(Keyword::Actions) => {
                let list = self.braced("and the actions of the table", Self::action_of_table)?;
                let actions = Actions { span: start.to(self.previous().span), list };
                table.actions.replace(actions).map(|actions| actions.span)
            }
            _ => {
                let list = self.braced("and the entries of the table", Self::entry)?;
                let entries = Entries { span: start.to(self.previous().span), is_const, list };
                table.entries.replace(entries).map(|entries| entries.span)
            }
        };
        self.check_repeated(earlier, start);
        Ok(())
    }

    fn check_repeated(&mut self, earlier: Option<Span>, at: Span) {
        if let Some(earlier) = earlier {
            let message = "the table has this property twice";
            let error = crate::diagnostic::Diagnostic::error(crate::diagnostic::Class::Syntax, at, message);
            self.diagnostics.push(error.also(earlier, "the first").help("remove one of them"));
        }
    }

    /// Parses `{ ... }` with elements that end with semicolons.
    fn braced<T>(&mut self, context: &str, element: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect(Punct::LBrace, context)?;
        let mut list = Vec::new();
        while !self.at_block_end() {
            let before = self.next;
            match element(self) {
                Ok(element) => list.push(element),
                Err(Reported) => self.recover_in_block(before),
            }
        }
        self.expect(Punct::RBrace, "at the end of the list")?;
        Ok(list)
    }

    fn key_element(&mut self) -> Parsed<KeyElement> {
        let start = self.peek().span;
        let value = self.expression()?;
        self.expect(Punct::Colon, "and the kind of match (exact, ternary, lpm, range)")?;
        let match_kind = self.name("the kind of match: exact, ternary, lpm, range or selector")?;
        let annotations = self.annotations()?;
        let element = KeyElement { span: start.to(self.previous().span), value, match_kind, annotations };
        self.semicolon("after the element of the key")?;
        Ok(element)
    }

    fn action_of_table(&mut self) -> Parsed<(ExprId, Vec<Annotation>)> {
        let annotations = self.annotations()?;
        let action = self.expression()?;
        if self.at(Punct::Comma) {
            return Err(self.expected("`;` after the action", "the actions of a table end with `;`"));
        }
        self.semicolon("after the action")?;
        Ok((action, annotations))
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let mut annotations = self.annotations()?;
        let start = self.peek().span;
        self.accept_keyword(Keyword::Const);
        self.refuse_priority();
        let keys = self.keyset()?;
        self.expect(Punct::Colon, "and the action of the entry")?;
        let action = self.expression()?;
        annotations.extend(self.annotations()?);
        let entry = Entry { span: start.to(self.previous().span), annotations, keys, action };
        self.semicolon("after the entry")?;
        Ok(entry)
    }

    /// Reports `priority = N :` before an entry, and reads it.
    fn refuse_priority(&mut self) {
        if !self.at_keyword(Keyword::Priority) || !self.peek_at(1).is(Punct::Assign) {
            return;
        }
        let help = "order the entries; the first that matches is taken";
        self.unsupported(self.peek().span, "priorities of entries", help);
        while !matches!(
            self.peek().kind,
            TokenKind::Punct(Punct::Colon | Punct::Semicolon | Punct::RBrace) | TokenKind::End
        ) {
            self.advance();
        }
        self.accept(Punct::Colon);
    }
}
