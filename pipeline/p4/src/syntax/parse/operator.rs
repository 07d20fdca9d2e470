//! Operators and their precedence.

use crate::preprocess::{Punct, Token, TokenKind};
use crate::syntax::ast::{BinaryOp, UnaryOp};

/// The precedence of `+`: a width in `<...>` has no operators that bind less tightly.
pub(super) const SUM: u8 = 8;

/// Returns the infix operator of a token and its precedence; a greater one binds more tightly. In P4, `&`, `^` and `|` bind more
/// tightly than comparisons.
pub(super) fn infix(token: Token) -> Option<(BinaryOp, u8)> {
    let TokenKind::Punct(punct) = token.kind else { return None };
    Some(match punct {
        Punct::OrOr => (BinaryOp::Or, 0),
        Punct::AndAnd => (BinaryOp::And, 1),
        Punct::EqEq => (BinaryOp::Eq, 2),
        Punct::Ne => (BinaryOp::Ne, 2),
        Punct::Lt => (BinaryOp::Lt, 3),
        Punct::Le => (BinaryOp::Le, 3),
        Punct::Gt => (BinaryOp::Gt, 3),
        Punct::Ge => (BinaryOp::Ge, 3),
        Punct::Or => (BinaryOp::BitOr, 4),
        Punct::Xor => (BinaryOp::BitXor, 5),
        Punct::And => (BinaryOp::BitAnd, 6),
        Punct::Shl => (BinaryOp::Shl, 7),
        Punct::Shr => (BinaryOp::Shr, 7),
        Punct::Plus => (BinaryOp::Add, SUM),
        Punct::Minus => (BinaryOp::Sub, SUM),
        Punct::AddSat => (BinaryOp::AddSat, SUM),
        Punct::SubSat => (BinaryOp::SubSat, SUM),
        Punct::Concat => (BinaryOp::Concat, SUM),
        Punct::Star => (BinaryOp::Mul, 9),
        Punct::Slash => (BinaryOp::Div, 9),
        Punct::Percent => (BinaryOp::Mod, 9),
        _ => return None,
    })
}

/// Returns the prefix operator of a token.
pub(super) fn prefix(token: Token) -> Option<UnaryOp> {
    let TokenKind::Punct(punct) = token.kind else { return None };
    Some(match punct {
        Punct::Not => UnaryOp::Not,
        Punct::Tilde => UnaryOp::Complement,
        Punct::Minus => UnaryOp::Negate,
        Punct::Plus => UnaryOp::Plus,
        _ => return None,
    })
}

/// Returns the text of a compound assignment, such as `+=`.
pub(super) fn compound_assignment(token: Token) -> Option<&'static str> {
    let TokenKind::Punct(punct) = token.kind else { return None };
    let is_compound = matches!(
        punct,
        Punct::AddAssign
            | Punct::SubAssign
            | Punct::MulAssign
            | Punct::DivAssign
            | Punct::ModAssign
            | Punct::AndAssign
            | Punct::OrAssign
            | Punct::XorAssign
            | Punct::ShlAssign
            | Punct::ShrAssign
            | Punct::AddSatAssign
            | Punct::SubSatAssign
    );
    is_compound.then(|| punct.text())
}
