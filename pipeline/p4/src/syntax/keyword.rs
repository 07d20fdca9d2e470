//! Keywords.

use crate::names::{Names, Symbol};
use sluice_entity::Entity;

macro_rules! keywords {
    ($($name:ident = $text:literal,)*) => {
        /// A keyword. Its symbol in the table of [`names`] has the keyword's position in this list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Keyword {
            const ALL: &[Keyword] = &[$(Keyword::$name,)*];

            /// Returns the text.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Keyword::$name => $text,)*
                }
            }
        }
    };
}

keywords! {
    Abstract = "abstract",
    Action = "action",
    Bit = "bit",
    Bool = "bool",
    Const = "const",
    Control = "control",
    Default = "default",
    Else = "else",
    Enum = "enum",
    Error = "error",
    Exit = "exit",
    Extern = "extern",
    False = "false",
    Header = "header",
    HeaderUnion = "header_union",
    If = "if",
    In = "in",
    InOut = "inout",
    Int = "int",
    MatchKind = "match_kind",
    Out = "out",
    Package = "package",
    Parser = "parser",
    Return = "return",
    Select = "select",
    String = "string",
    Struct = "struct",
    Switch = "switch",
    Table = "table",
    This = "this",
    Transition = "transition",
    True = "true",
    Tuple = "tuple",
    Typedef = "typedef",
    ValueSet = "value_set",
    Varbit = "varbit",
    Void = "void",
    Underscore = "_",
    // From here on, words that may also be names.
    Actions = "actions",
    Apply = "apply",
    Break = "break",
    Continue = "continue",
    Entries = "entries",
    For = "for",
    Key = "key",
    List = "list",
    Pragma = "pragma",
    Priority = "priority",
    State = "state",
    Type = "type",
}

impl Keyword {
    /// Returns the keyword of a symbol of the table of [`names`].
    pub(crate) fn of(symbol: Symbol) -> Option<Keyword> {
        Keyword::ALL.get(symbol.index()).copied()
    }

    /// Returns true if the word may also be a name.
    pub(crate) fn may_be_name(self) -> bool {
        self as usize >= Keyword::Actions as usize
    }
}

/// Returns true for a keyword that cannot be a name.
pub(crate) fn is_reserved(text: &str) -> bool {
    Keyword::ALL.iter().any(|keyword| keyword.text() == text && !keyword.may_be_name())
}

/// Returns a table of names that begins with the keywords.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    for keyword in Keyword::ALL {
        names.intern(keyword.text());
    }
    names
}
