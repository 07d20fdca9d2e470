//! Uses of types.

use super::scope::Meaning;
use super::{Parsed, Parser};
use crate::preprocess::{Punct, Token, TokenKind};
use crate::source::Span;
use crate::syntax::ast::{MAX_DEPTH, Name, TypeId, TypeKind};
use crate::syntax::keyword::Keyword;

/// The greatest number of tokens that are read ahead for the `>` of type arguments.
const LOOKAHEAD: usize = 256;

impl Parser<'_> {
    /// Parses a use of a type.
    pub(super) fn type_ref(&mut self) -> Parsed<TypeId> {
        self.deeper(|parser| {
            let base = parser.type_without_stack()?;
            parser.stack_suffix(base)
        })
    }

    /// Parses `[N]` after a type, if it is there.
    pub(super) fn stack_suffix(&mut self, base: TypeId) -> Parsed<TypeId> {
        let mut base = base;
        let mut levels = self.depth;
        while self.at(Punct::LBracket) {
            let start = self.ast.types[base].span;
            levels += 1;
            if levels >= MAX_DEPTH {
                return Err(self.too_deep());
            }
            self.advance();
            let size = self.expression()?;
            let close = self.expect(Punct::RBracket, "after the size of the header stack")?;
            base = self.type_use(start.to(close.span), TypeKind::Stack { element: base, size });
        }
        Ok(base)
    }

    fn type_without_stack(&mut self) -> Parsed<TypeId> {
        let token = self.peek();
        let start = token.span;
        if self.accept(Punct::Dot) {
            let name = self.name("the name of a type after `.`")?;
            return self.named_type(start, name, true);
        }
        let Some(keyword) = Self::keyword_of(token).filter(|&keyword| {
            !keyword.may_be_name() || (keyword == Keyword::List && self.peek_at(1).is(Punct::Lt))
        }) else {
            if Self::is_name(token) {
                let name = self.name("a type")?;
                return self.named_type(start, name, false);
            }
            return Err(self.expected("a type", ""));
        };
        let simple = match keyword {
            Keyword::Bool => TypeKind::Bool,
            Keyword::String => TypeKind::String,
            Keyword::Error => TypeKind::Error,
            Keyword::MatchKind => TypeKind::MatchKind,
            Keyword::Void => TypeKind::Void,
            Keyword::Underscore => TypeKind::Any,
            Keyword::Bit | Keyword::Int | Keyword::Varbit => return self.number_type(keyword),
            Keyword::Tuple => return self.tuple_type(),
            Keyword::List => {
                self.advance();
                self.unsupported(start, "the type `list`", "write a struct with a field per element");
                self.skip_balanced();
                return Ok(self.type_use(start.to(self.previous().span), TypeKind::Invalid));
            }
            _ => return Err(self.expected("a type", "")),
        };
        self.advance();
        Ok(self.type_use(start, simple))
    }

    /// Parses `bit<W>`, `bit`, `int<W>`, `int` or `varbit<W>`.
    fn number_type(&mut self, keyword: Keyword) -> Parsed<TypeId> {
        let start = self.advance().span;
        if !self.at(Punct::Lt) {
            let kind = match keyword {
                Keyword::Bit => TypeKind::Bits { width: None },
                Keyword::Int => TypeKind::Integer,
                _ => {
                    return Err(
                        self.expected("`<` and the greatest width of the varbit", "write varbit<320>")
                    );
                }
            };
            return Ok(self.type_use(start, kind));
        }
        self.advance();
        // Operators that bind less tightly than `+` would take the `>` for themselves.
        let width = self.sum()?;
        let close = self.close_angle("after the width")?;
        let kind = match keyword {
            Keyword::Bit => TypeKind::Bits { width: Some(width) },
            Keyword::Int => TypeKind::SignedBits { width },
            _ => TypeKind::Varbit { width },
        };
        Ok(self.type_use(start.to(close.span), kind))
    }

    fn tuple_type(&mut self) -> Parsed<TypeId> {
        let start = self.advance().span;
        let (elements, end) = self.type_args()?;
        Ok(self.type_use(start.to(end), TypeKind::Tuple { elements }))
    }

    /// Parses the type arguments after a name.
    pub(super) fn named_type(&mut self, start: Span, name: Name, global: bool) -> Parsed<TypeId> {
        let (args, end) = if self.at(Punct::Lt) { self.type_args()? } else { (Vec::new(), name.span) };
        Ok(self.type_use(start.to(end), TypeKind::Named { name, global, args }))
    }

    /// Parses `<A, B>`, and returns the place of the `>` with the types.
    pub(super) fn type_args(&mut self) -> Parsed<(Vec<TypeId>, Span)> {
        self.expect(Punct::Lt, "and type arguments")?;
        if self.at(Punct::Gt) {
            return Ok((Vec::new(), self.advance().span));
        }
        let mut args = vec![self.type_ref()?];
        while self.accept(Punct::Comma) {
            args.push(self.type_ref()?);
        }
        let close = self.close_angle("or `,` after a type argument")?;
        Ok((args, close.span))
    }

    /// Returns true if a token can begin a type: a keyword, a declared type, or a dot before one.
    pub(super) fn begins_type(&self, ahead: usize) -> bool {
        let token = self.peek_at(ahead);
        if token.is(Punct::Dot) {
            return self.is_type_name(self.peek_at(ahead + 1));
        }
        match Self::keyword_of(token) {
            Some(
                Keyword::Bool
                | Keyword::Bit
                | Keyword::Int
                | Keyword::Varbit
                | Keyword::Error
                | Keyword::String
                | Keyword::MatchKind
                | Keyword::Tuple
                | Keyword::Void,
            ) => true,
            Some(Keyword::List) => self.peek_at(ahead + 1).is(Punct::Lt),
            _ => self.is_type_name(token),
        }
    }

    /// Returns the number of tokens from a `<`, `ahead` tokens from here, to the token after its `>`, if the tokens between can
    /// be type arguments: the first begins a type or is an unknown name, and none is an operator that types do not have.
    pub(super) fn type_args_ahead(&self, ahead: usize) -> Option<usize> {
        let first = self.peek_at(ahead + 1);
        let is_any = Self::keyword_of(first) == Some(Keyword::Underscore);
        // An unknown name is a type that is not declared: a value would be known.
        let is_unknown = Self::is_name(first) && self.scope.meaning(first.symbol) == Meaning::Unknown;
        if self.peek_at(ahead).is(Punct::Lt) && first.is(Punct::Gt) {
            return Some(ahead + 2);
        }
        if !self.peek_at(ahead).is(Punct::Lt) || !(is_any || is_unknown || self.begins_type(ahead + 1)) {
            return None;
        }
        let mut depth = 0_usize;
        for at in ahead..ahead + LOOKAHEAD {
            match self.peek_at(at).kind {
                TokenKind::Punct(Punct::Lt) => depth += 1,
                TokenKind::Punct(Punct::Gt) => depth -= 1,
                TokenKind::Punct(Punct::Shr) => depth = depth.saturating_sub(2),
                TokenKind::Word | TokenKind::Number => {}
                TokenKind::Punct(
                    Punct::Comma
                    | Punct::Dot
                    | Punct::LBracket
                    | Punct::RBracket
                    | Punct::LParen
                    | Punct::RParen
                    | Punct::Plus
                    | Punct::Minus
                    | Punct::Star
                    | Punct::Slash,
                ) => {}
                _ => return None,
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Returns true if the next tokens are an undeclared name that can only be a type: another name follows it.
    pub(super) fn is_undeclared_type(&self) -> bool {
        let is_unknown =
            |token: Token| Self::is_name(token) && self.scope.meaning(token.symbol) == Meaning::Unknown;
        is_unknown(self.peek()) && Self::is_name(self.peek_at(1))
    }
}
