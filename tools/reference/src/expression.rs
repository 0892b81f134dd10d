//! Values and ranges of the sources, as a configuration file has them.

use quote::ToTokens;

use crate::source::{Name, Sources};

/// A value such as `Span::from_millis(25)` as `25ms`; a constant as its value; anything else as it stands.
pub fn value(sources: &Sources, module: &Name, of: &syn::Expr) -> String {
    let inner = |of: &syn::Expr| value(sources, module, of);
    match of {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(number) => number.base10_digits().to_string(),
            syn::Lit::Float(number) => number.base10_digits().to_string(),
            syn::Lit::Str(text) => text.value(),
            other => other.to_token_stream().to_string(),
        },
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => format!("-{}", inner(expr)),
        syn::Expr::Paren(of) => inner(&of.expr),
        syn::Expr::Reference(of) => inner(&of.expr),
        syn::Expr::Array(of) => format!("[{}]", joined(of.elems.iter().map(inner))),
        syn::Expr::Tuple(of) => format!("[{}]", joined(of.elems.iter().map(inner))),
        syn::Expr::Macro(of) if of.mac.path.is_ident("vec") => format!("[{}]", tidy(&of.mac.tokens)),
        syn::Expr::Call(call) => called(sources, module, call),
        syn::Expr::Path(path) => named(sources, module, &segments(&path.path)),
        syn::Expr::MethodCall(call) if call.method == "into" || call.method == "to_string" => inner(&call.receiver),
        syn::Expr::Struct(of) => match of.fields.is_empty() {
            true => "its defaults".into(),
            false => {
                let field = |field: &syn::FieldValue| match &field.member {
                    syn::Member::Named(name) => format!("{name} = {}", inner(&field.expr)),
                    syn::Member::Unnamed(_) => inner(&field.expr),
                };
                format!("{{ {} }}", joined(of.fields.iter().map(field)))
            }
        },
        other => tidy(&other.to_token_stream()),
    }
}

fn called(sources: &Sources, module: &Name, call: &syn::ExprCall) -> String {
    let arguments: Vec<String> = call.args.iter().map(|of| value(sources, module, of)).collect();
    let syn::Expr::Path(path) = call.func.as_ref() else { return tidy(&call.to_token_stream()) };
    let path = segments(&path.path);
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match (names.as_slice(), arguments.as_slice()) {
        ([.., "Span", "from_secs" | "from_secs_f64"], [n]) => format!("{n}s"),
        ([.., "Span", "from_millis"], [n]) => format!("{n}ms"),
        ([.., "Span", "from_micros"], [n]) => format!("{n}us"),
        ([.., "Span", "from_nanos"], [n]) => format!("{n}ns"),
        ([.., "Rate", "from_bps"], [n]) => format!("{n}bps"),
        ([.., "Rate", "from_kbps"], [n]) => format!("{n}kbps"),
        ([.., "Rate", "from_mbps"], [n]) => format!("{n}Mbps"),
        ([.., "Bytes", "new"], [n]) => format!("{n}B"),
        ([.., "FrameRate", "whole"], [n]) => n.clone(),
        ([.., "Size", "new"], [width, height]) => format!("{width}x{height}"),
        (["Some"] | [.., "Seed", "new"], [of]) => of.clone(),
        ([.., "default"], []) => "its defaults".into(),
        ([kind, variant], [of]) if kind.chars().next().is_some_and(char::is_uppercase) => {
            format!("{{ {} = {of} }}", kebab(variant))
        }
        _ => tidy(&call.to_token_stream()),
    }
}

fn named(sources: &Sources, module: &Name, path: &[String]) -> String {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["None"] => return "none".into(),
        [.., "Span", "ZERO"] => return "0ms".into(),
        [.., "Span" | "Rate" | "Bytes", "MAX"] => return "unlimited".into(),
        [.., "Rate", "ZERO"] => return "0bps".into(),
        [.., "Bytes", "ZERO"] => return "0B".into(),
        [.., "Size", "HD"] => return "1280x720".into(),
        ["f64", "INFINITY"] => return "infinity".into(),
        _ => {}
    }
    if let Some((module, name)) = sources.find(module, path)
        && let Some(syn::Item::Const(of)) = sources.get(&module).and_then(|known| known.items.get(&name))
    {
        return value(sources, &module, &of.expr);
    }
    match names.as_slice() {
        [kind, variant] if kind.chars().next().is_some_and(char::is_uppercase) => kebab(variant),
        _ => names.join("::"),
    }
}

/// A range in words, as the error for a value outside it has.
pub fn range(sources: &Sources, module: &Name, of: &syn::Expr) -> String {
    let inner = |of: &syn::Expr| value(sources, module, of);
    match of {
        syn::Expr::Range(range) => {
            let (start, end) = (range.start.as_deref().map(inner), range.end.as_deref().map(inner));
            let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
            match (start, end) {
                (Some(start), Some(end)) if closed => format!("{start} to {end}"),
                (Some(start), Some(end)) => format!("at least {start}, below {end}"),
                (Some(start), None) => format!("at least {start}"),
                (None, Some(end)) if closed => format!("at most {end}"),
                (None, Some(end)) => format!("below {end}"),
                (None, None) => "any".into(),
            }
        }
        syn::Expr::Call(call) => {
            let arguments: Vec<String> = call.args.iter().map(inner).collect();
            match (call.func.to_token_stream().to_string().as_str(), arguments.as_slice()) {
                ("above", [from]) => format!("above {from}"),
                ("above_to", [from, to]) => format!("above {from}, at most {to}"),
                ("between", [from, to]) if to == "infinity" => format!("above {from}"),
                ("between", [from, to]) => format!("above {from}, below {to}"),
                _ => tidy(&call.to_token_stream()),
            }
        }
        other => inner(other),
    }
}

/// The names of a path.
pub fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// `RateTargeted` as `rate-targeted`, as serde renames it.
pub fn kebab(name: &str) -> String {
    let mut out = String::new();
    for (at, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            out.push('-');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// Tokens without the blanks between them that no one writes.
fn tidy(tokens: &impl ToString) -> String {
    let text = tokens.to_string();
    [(" :: ", "::"), (" . ", "."), (" (", "("), ("( ", "("), (" )", ")"), (" ,", ","), ("& ", "&"), (" ;", ";")]
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}
