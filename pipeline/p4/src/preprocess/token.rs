//! Tokens.

use crate::names::Symbol;
use crate::source::Span;

/// A token. Words, numbers and strings have their text as a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) flags: Flags,
    /// The text of a word, number, string (without quotation marks) or other character; any symbol for punctuation.
    pub(crate) symbol: Symbol,
    pub(crate) span: Span,
}

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or keyword.
    Word,
    /// A digit and the digits and letters after it: `8w0xFF`.
    Number,
    /// A string.
    Text,
    /// Punctuation.
    Punct(Punct),
    /// A character that begins no token.
    Other,
    /// The end of a line, in directives alone.
    Newline,
    /// The end of a file or of the program.
    End,
}

/// Facts about a token that are not part of its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// The token is the first of its line in a file. Tokens of expansions are not, except the first if the use is.
    pub(crate) line_start: bool,
    /// Blanks or comments come before the token.
    pub(crate) blank_before: bool,
    /// The word is a macro's name that was found in the macro's own expansion, and stays as it is.
    pub(crate) painted: bool,
}

impl Token {
    pub(crate) fn is(&self, punct: Punct) -> bool {
        self.kind == TokenKind::Punct(punct)
    }
}

macro_rules! punctuation {
    ($($name:ident = $text:literal,)*) => {
        /// Punctuation of P4 and of directives.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Punct {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Punct {
            /// All punctuation; longer texts come before their prefixes.
            const ALL: &[Punct] = &[$(Punct::$name,)*];

            /// Returns the text.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Punct::$name => $text,)*
                }
            }
        }
    };
}

punctuation! {
    AddSatAssign = "|+|=",
    SubSatAssign = "|-|=",
    ShlAssign = "<<=",
    ShrAssign = ">>=",
    Mask = "&&&",
    AddSat = "|+|",
    SubSat = "|-|",
    Dots = "...",
    HashBraces = "{#}",
    Shl = "<<",
    Shr = ">>",
    Le = "<=",
    Ge = ">=",
    EqEq = "==",
    Ne = "!=",
    AndAnd = "&&",
    OrOr = "||",
    Concat = "++",
    AddAssign = "+=",
    SubAssign = "-=",
    MulAssign = "*=",
    DivAssign = "/=",
    ModAssign = "%=",
    AndAssign = "&=",
    OrAssign = "|=",
    XorAssign = "^=",
    Range = "..",
    HashHash = "##",
    LBrace = "{",
    RBrace = "}",
    LParen = "(",
    RParen = ")",
    LBracket = "[",
    RBracket = "]",
    Semicolon = ";",
    Colon = ":",
    Comma = ",",
    Dot = ".",
    Question = "?",
    At = "@",
    Hash = "#",
    Assign = "=",
    Lt = "<",
    Gt = ">",
    Plus = "+",
    Minus = "-",
    Star = "*",
    Slash = "/",
    Percent = "%",
    And = "&",
    Or = "|",
    Xor = "^",
    Tilde = "~",
    Not = "!",
}

impl Punct {
    /// Returns the longest punctuation at the beginning of a text.
    pub(crate) fn at(text: &[u8]) -> Option<Punct> {
        let first = *text.first()?;
        let single = match first {
            b'{' if !text.starts_with(b"{#}") => Punct::LBrace,
            b'}' => Punct::RBrace,
            b'(' => Punct::LParen,
            b')' => Punct::RParen,
            b'[' => Punct::LBracket,
            b']' => Punct::RBracket,
            b';' => Punct::Semicolon,
            b':' => Punct::Colon,
            b',' => Punct::Comma,
            b'?' => Punct::Question,
            b'@' => Punct::At,
            b'~' => Punct::Tilde,
            b'.' if text.get(1) != Some(&b'.') => Punct::Dot,
            _ => return Punct::ALL.iter().copied().find(|punct| text.starts_with(punct.text().as_bytes())),
        };
        Some(single)
    }
}
