//! Replaces the operators and macros in a rule's expression by ours, whose steps are counted.

use crate::functions;
use cel::{
    IdedExpr,
    common::ast::{CallExpr, EntryExpr, Expr, operators},
};

/// Replaces operators and macros by the bounded ones. `is_condition`: the result is only tested for truth.
pub(crate) fn bound(expression: &mut IdedExpr, is_condition: bool) {
    match &mut expression.expr {
        Expr::Call(call) => {
            let joins = matches!(
                call.func_name.as_str(),
                operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE
            );
            let chooses = call.func_name == operators::CONDITIONAL;
            for (place, of) in call.args.iter_mut().enumerate() {
                bound(of, joins || (chooses && (place == 0 || is_condition)));
            }
            if let Some(target) = &mut call.target {
                bound(target, false);
                if matches!(call.func_name.as_str(), "contains" | "startsWith" | "endsWith" | "matches") {
                    wrap(target, functions::SEARCHED);
                }
            }
            // A macro that collects its results uses CEL's own addition.
            let collects = call
                .args
                .first()
                .is_some_and(|first| matches!(&first.expr, Expr::Ident(name) if name.starts_with('@')));
            let own = match call.func_name.as_str() {
                operators::ADD if !collects => functions::ADD,
                operators::SUBSTRACT => functions::SUBTRACT,
                operators::MULTIPLY => functions::MULTIPLY,
                operators::DIVIDE => functions::DIVIDE,
                "unique" if is_condition => functions::ALL_DIFFER,
                _ => return,
            };
            own.clone_into(&mut call.func_name);
        }
        Expr::Comprehension(of) => {
            bound(&mut of.iter_range, false);
            wrap(&mut of.iter_range, functions::EACH);
            for part in [&mut of.accu_init, &mut of.loop_cond, &mut of.loop_step, &mut of.result] {
                bound(part, false);
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(|of| bound(of, false)),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    bound(&mut entry.key, false);
                    bound(&mut entry.value, false);
                }
            }
        }
        Expr::Select(select) => bound(&mut select.operand, false),
        Expr::Struct(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn wrap(expression: &mut IdedExpr, function: &str) {
    let inner = std::mem::take(expression);
    let call = CallExpr { func_name: function.to_owned(), target: None, args: vec![inner] };
    *expression = IdedExpr { id: call.args[0].id, expr: Expr::Call(call) };
}
