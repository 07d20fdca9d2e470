//! Printing of expressions and types.

use super::{Printer, int, quoted};
use crate::syntax::ast::{Arg, BinaryOp, ExprId, ExprKind, Name, TypeId, TypeKind, UnaryOp};

impl Printer<'_> {
    pub(super) fn exprs(&self, list: &[ExprId]) -> String {
        let texts: Vec<String> = list.iter().map(|&expr| self.expr(expr)).collect();
        texts.join(", ")
    }

    pub(super) fn pairs(&self, pairs: &[(Name, ExprId)]) -> String {
        let texts: Vec<String> = pairs
            .iter()
            .map(|&(name, value)| format!("{} = {}", self.text(name), self.expr(value)))
            .collect();
        texts.join(", ")
    }

    pub(super) fn args(&self, args: &[Arg]) -> String {
        let text = |arg: &Arg| match arg.name {
            Some(name) => format!("{} = {}", self.text(name), self.expr(arg.value)),
            None => self.expr(arg.value),
        };
        let texts: Vec<String> = args.iter().map(text).collect();
        texts.join(", ")
    }

    pub(super) fn types(&self, list: &[TypeId]) -> String {
        if list.is_empty() {
            return String::new();
        }
        let texts: Vec<String> = list.iter().map(|&of| self.ty(of)).collect();
        format!("<{}>", texts.join(", "))
    }

    pub(super) fn ty(&self, of: TypeId) -> String {
        match &self.ast.types[of].kind {
            TypeKind::Invalid => "invalid".to_owned(),
            TypeKind::Bool => "bool".to_owned(),
            TypeKind::String => "string".to_owned(),
            TypeKind::Error => "error".to_owned(),
            TypeKind::MatchKind => "match_kind".to_owned(),
            TypeKind::Void => "void".to_owned(),
            TypeKind::Integer => "int".to_owned(),
            TypeKind::Bits { width: None } => "bit".to_owned(),
            TypeKind::Bits { width: Some(width) } => format!("bit<{}>", self.expr(*width)),
            TypeKind::SignedBits { width } => format!("int<{}>", self.expr(*width)),
            TypeKind::Varbit { width } => format!("varbit<{}>", self.expr(*width)),
            TypeKind::Any => "_".to_owned(),
            TypeKind::Named { name, global, args } => {
                format!("{}{}{}", dot(*global), self.text(*name), self.types(args))
            }
            TypeKind::Tuple { elements } => format!("tuple{}", self.types(elements)),
            TypeKind::Stack { element, size } => format!("{}[{}]", self.ty(*element), self.expr(*size)),
        }
    }

    pub(super) fn expr(&self, expr: ExprId) -> String {
        match &self.ast.exprs[expr].kind {
            ExprKind::Error => "error_in_expression".to_owned(),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Int(literal) => int(literal),
            ExprKind::Text(text) => quoted(self.ast.names.text(*text)),
            ExprKind::Name { name, global } => format!("{}{}", dot(*global), self.text(*name)),
            ExprKind::This => "this".to_owned(),
            ExprKind::Type(of) => self.ty(*of),
            ExprKind::Member { base, member } => format!("{}.{}", self.expr(*base), self.text(*member)),
            ExprKind::Index { base, index } => format!("{}[{}]", self.expr(*base), self.expr(*index)),
            ExprKind::Slice { base, hi, lo } => {
                format!("{}[{}:{}]", self.expr(*base), self.expr(*hi), self.expr(*lo))
            }
            ExprKind::Unary { op, operand } => format!("({}{})", unary(*op), self.expr(*operand)),
            ExprKind::Binary { op, left, right } => {
                format!("({} {} {})", self.expr(*left), binary(*op), self.expr(*right))
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                format!("({} ? {} : {})", self.expr(*condition), self.expr(*then), self.expr(*otherwise))
            }
            ExprKind::Cast { to, operand } => format!("(({}) {})", self.ty(*to), self.expr(*operand)),
            ExprKind::Call { callee, type_args, args } => {
                format!("{}{}({})", self.expr(*callee), self.types(type_args), self.args(args))
            }
            ExprKind::Construct { of, args } => format!("{}({})", self.ty(*of), self.args(args)),
            ExprKind::List(list) => format!("{{{}}}", self.exprs(list)),
            ExprKind::Record(fields) => format!("{{{}}}", self.pairs(fields)),
            ExprKind::Mask { value, mask } => format!("{} &&& {}", self.expr(*value), self.expr(*mask)),
            ExprKind::Range { first, last } => format!("{} .. {}", self.expr(*first), self.expr(*last)),
            ExprKind::Default => "default".to_owned(),
            ExprKind::Any => "_".to_owned(),
        }
    }
}

fn dot(global: bool) -> &'static str {
    if global { "." } else { "" }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "!",
        UnaryOp::Complement => "~",
        UnaryOp::Negate => "-",
        UnaryOp::Plus => "+",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::AddSat => "|+|",
        BinaryOp::SubSat => "|-|",
        BinaryOp::Concat => "++",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
