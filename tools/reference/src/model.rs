//! Types as files have them: fields with their text forms, defaults, ranges and comments.

use std::collections::BTreeMap;

use quote::ToTokens;

use crate::expression::{kebab, range, segments, value};
use crate::source::{Name, Sources};

/// How a value is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A text of a form that a comment describes.
    Text(&'static str),
    /// A number without a fraction.
    Whole,
    /// Any number.
    Number,
    /// True or false.
    Switch,
    /// A list.
    List(Box<Form>),
    /// Absent, or null in JSON.
    Optional(Box<Form>),
    /// Several values in a list.
    Tuple(Vec<Form>),
    /// A type with a section of its own: its place in [`Model::types`].
    Type(String),
}

/// A field of a table, or a value of an enum.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its key.
    pub name: String,
    /// How it is written; `None` for a value without content.
    pub form: Option<Form>,
    /// The fields of a value that has some of its own.
    pub fields: Vec<Field>,
    /// Its default in the sources; `None` if it must be given.
    pub default: Option<String>,
    /// Its permitted values.
    pub range: Option<String>,
    /// Its comment.
    pub about: String,
}

/// A type that appears in a file.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its comment.
    pub about: String,
    /// True for one of several values instead of a table of fields.
    pub is_choice: bool,
    /// Its fields or values.
    pub fields: Vec<Field>,
    /// True if other keys are refused.
    pub is_closed: bool,
    /// Where it is first used, as a path of keys.
    pub at: String,
}

/// Everything below a root type.
#[derive(Debug, Default)]
pub struct Model {
    /// Types by their title.
    pub types: BTreeMap<String, Described>,
    /// Titles in the order in which they are first used.
    pub order: Vec<String>,
    titles: BTreeMap<(Name, String), String>,
}

/// serde's attributes of a type or a field.
#[derive(Default)]
struct SerdeAttributes {
    is_kebab: bool,
    is_closed: bool,
    is_transparent: bool,
    is_skipped: bool,
    /// A default: of the type, or of this function.
    default: Option<Option<String>>,
    /// Written as another type.
    into: Option<String>,
    /// Written under another name.
    rename: Option<String>,
}

fn serde_attributes(attributes: &[syn::Attribute]) -> SerdeAttributes {
    let mut found = SerdeAttributes::default();
    for attribute in attributes {
        let text = attribute.meta.to_token_stream().to_string();
        if !text.contains("serde") {
            continue;
        }
        let has = |what: &str| text.contains(what);
        found.is_kebab |= has("rename_all = \"kebab-case\"");
        found.is_closed |= has("deny_unknown_fields");
        found.is_transparent |= has("transparent");
        found.is_skipped |= has("serde (skip)");
        if let Some((_, rest)) = text.split_once("into = \"") {
            found.into = rest.split('"').next().map(str::to_string);
        }
        if let Some((_, rest)) = text.split_once("rename = \"") {
            found.rename = rest.split('"').next().map(str::to_string);
        }
        if let Some((_, rest)) = text.split_once("default = \"") {
            found.default = Some(rest.split('"').next().map(str::to_string));
        } else if has("serde (default") || has(", default)") {
            found.default = Some(None);
        }
    }
    found
}

/// A comment as Markdown without rustdoc's links.
pub fn comment(attributes: &[syn::Attribute]) -> String {
    let line = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::NameValue(of) if of.path.is_ident("doc") => match &of.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value().trim().to_string()),
            _ => None,
        },
        _ => None,
    };
    let text = attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ");
    without_links(text.trim())
}

/// ``[`Rate`]`` and ``[`Rate`](crate::Rate)`` as `` `Rate` ``.
fn without_links(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else { break };
        out += &format!("{before}`{}`", name.rsplit("::").next().unwrap_or(name));
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    out + rest
}

impl Model {
    /// The types below `root`, a type of this module, at this path of keys.
    ///
    /// # Errors
    /// When a type is not found or has a form that this program does not know.
    pub fn add(&mut self, sources: &Sources, module: &[&str], root: &str, at: &str) -> Result<String, String> {
        let module: Name = module.iter().map(ToString::to_string).collect();
        let found = sources.find(&module, &[root.to_string()]);
        let (module, name) = found.ok_or_else(|| format!("{}: no {root}", module.join("::")))?;
        match self.described(sources, &module, &name, at)? {
            Form::Type(title) => Ok(title),
            other => Err(format!("{root} is written as {other:?}")),
        }
    }

    fn form(&mut self, sources: &Sources, module: &Name, of: &syn::Type, at: &str) -> Result<Form, String> {
        let unknown = || format!("{}: unknown type {}", module.join("::"), of.to_token_stream());
        match of {
            syn::Type::Array(array) => Ok(Form::List(Box::new(self.form(sources, module, &array.elem, at)?))),
            syn::Type::Slice(slice) => Ok(Form::List(Box::new(self.form(sources, module, &slice.elem, at)?))),
            syn::Type::Reference(to) => self.form(sources, module, &to.elem, at),
            syn::Type::Tuple(tuple) => {
                let each = tuple.elems.iter().map(|of| self.form(sources, module, of, at));
                Ok(Form::Tuple(each.collect::<Result<_, _>>()?))
            }
            syn::Type::Path(path) => {
                let last = path.path.segments.last().ok_or_else(unknown)?;
                let argument = || match &last.arguments {
                    syn::PathArguments::AngleBracketed(of) => match of.args.first() {
                        Some(syn::GenericArgument::Type(of)) => Ok(of.clone()),
                        _ => Err(unknown()),
                    },
                    _ => Err(unknown()),
                };
                Ok(match last.ident.to_string().as_str() {
                    "Option" => Form::Optional(Box::new(self.form(sources, module, &argument()?, at)?)),
                    "Vec" => Form::List(Box::new(self.form(sources, module, &argument()?, at)?)),
                    "Box" | "Arc" => self.form(sources, module, &argument()?, at)?,
                    "f64" | "f32" => Form::Number,
                    "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i32" | "i64" | "NonZeroU32" | "Seed" => {
                        Form::Whole
                    }
                    "bool" => Form::Switch,
                    "String" | "PathBuf" | "str" => Form::Text("text"),
                    "Span" => Form::Text("duration"),
                    "Rate" => Form::Text("rate"),
                    "Bytes" => Form::Text("data"),
                    "Size" => Form::Text("size"),
                    "FrameRate" => Form::Text("frame rate"),
                    "Undershoot" => Form::Text("undershoot"),
                    _ => {
                        let (module, name) = sources.find(module, &segments(&path.path)).ok_or_else(unknown)?;
                        self.described(sources, &module, &name, at)?
                    }
                })
            }
            _ => Err(unknown()),
        }
    }

    fn described(&mut self, sources: &Sources, module: &Name, name: &str, at: &str) -> Result<Form, String> {
        let key = (module.clone(), name.to_string());
        if let Some(title) = self.titles.get(&key) {
            return Ok(Form::Type(title.clone()));
        }
        let unknown = || format!("{}::{name} is no type of a file", module.join("::"));
        let known = sources.get(module).ok_or_else(unknown)?;
        let item = known.items.get(name).ok_or_else(unknown)?;
        let (attributes, is_choice) = match item {
            syn::Item::Struct(of) => (&of.attrs, false),
            syn::Item::Enum(of) => (&of.attrs, true),
            syn::Item::Type(of) => return self.form(sources, module, &of.ty, at),
            _ => return Err(unknown()),
        };
        let of_type = serde_attributes(attributes);
        if of_type.into.is_some() {
            return Ok(Form::Text("text"));
        }
        if let syn::Item::Struct(of) = item
            && (of_type.is_transparent || matches!(of.fields, syn::Fields::Unnamed(_)))
            && let Some(only) = of.fields.iter().next()
        {
            return self.form(sources, module, &only.ty, at);
        }
        let title = self.title(module, name);
        self.titles.insert(key, title.clone());
        self.order.push(title.clone());
        let fields = match item {
            syn::Item::Struct(of) => {
                let whole = of_type.default.is_some().then(|| Defaults::of(sources, module, name));
                self.fields(sources, module, &of.fields, whole.as_ref(), at)?
            }
            syn::Item::Enum(of) => {
                let variants = of.variants.iter().filter(|variant| !serde_attributes(&variant.attrs).is_skipped);
                let each = variants.map(|variant| self.variant(sources, module, variant, of_type.is_kebab, at));
                each.collect::<Result<_, _>>()?
            }
            _ => Vec::new(),
        };
        let (about, at) = (comment(attributes), at.to_string());
        let described = Described { about, is_choice, fields, is_closed: of_type.is_closed, at };
        self.types.insert(title.clone(), described);
        Ok(Form::Type(title))
    }

    /// `gcc` for `gcc::Config`, `PathConfig` as it is; with what stands before it if another has the title.
    fn title(&self, module: &Name, name: &str) -> String {
        let is_general = ["Config", "Settings"].contains(&name);
        let mut parts: Vec<&str> = module.iter().skip(1).map(String::as_str).collect();
        let mut title = match is_general {
            true => {
                // A file of settings says nothing; the folder it is in does.
                parts.pop_if(|part| ["config", "settings"].contains(part));
                parts.pop().unwrap_or(&module[0]).replace('_', "-")
            }
            false => name.to_string(),
        };
        while self.titles.values().any(|known| known.eq_ignore_ascii_case(&title)) {
            let before = parts.pop().unwrap_or(&module[0]);
            title = format!("{}-{title}", before.replace('_', "-"));
        }
        title
    }

    fn fields(
        &mut self,
        sources: &Sources,
        module: &Name,
        of: &syn::Fields,
        whole: Option<&Defaults>,
        at: &str,
    ) -> Result<Vec<Field>, String> {
        let mut fields = Vec::new();
        for field in of {
            let (Some(ident), found) = (&field.ident, serde_attributes(&field.attrs)) else { continue };
            if found.is_skipped {
                continue;
            }
            let name = ident.to_string();
            let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            let form = self.form(sources, module, &field.ty, &path)?;
            let own = |default: &Option<String>| match default {
                Some(function) => returned(sources, module, function),
                None => empty(&form),
            };
            // A field's own default is that of a missing key; a type's fills in every missing field.
            let default =
                found.default.as_ref().map(own).or_else(|| whole.map(|whole| whole.field(sources, &name, &form)));
            let default = default.or_else(|| matches!(form, Form::Optional(_)).then(|| "none".into()));
            let range = permitted(sources, &path);
            fields.push(Field {
                name,
                form: Some(form),
                fields: Vec::new(),
                default,
                range,
                about: comment(&field.attrs),
            });
        }
        Ok(fields)
    }

    fn variant(
        &mut self,
        sources: &Sources,
        module: &Name,
        of: &syn::Variant,
        is_kebab: bool,
        at: &str,
    ) -> Result<Field, String> {
        let ident = of.ident.to_string();
        let renamed = serde_attributes(&of.attrs).rename;
        let name = renamed.unwrap_or_else(|| if is_kebab { kebab(&ident) } else { ident });
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let (mut form, mut fields) = (None, Vec::new());
        match &of.fields {
            syn::Fields::Unit => {}
            syn::Fields::Unnamed(inner) if inner.unnamed.len() == 1 => {
                form = Some(self.form(sources, module, &inner.unnamed[0].ty, &path)?);
            }
            syn::Fields::Unnamed(inner) => {
                let each = inner.unnamed.iter().map(|field| self.form(sources, module, &field.ty, &path));
                form = Some(Form::Tuple(each.collect::<Result<_, _>>()?));
            }
            named => fields = self.fields(sources, module, named, None, &path)?,
        }
        Ok(Field { name, form, fields, default: None, range: permitted(sources, &path), about: comment(&of.attrs) })
    }
}

/// The range that is checked for a value at this path: the longest end of the path that a check names.
fn permitted(sources: &Sources, path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('.').collect();
    (0..parts.len().saturating_sub(1)).find_map(|from| {
        let name = parts[from..].join(".");
        let found = sources.ranges.get(&name).map(|(module, of)| range(sources, module, of));
        found.or_else(|| sources.words.get(&name).cloned())
    })
}

/// The default of a type that derives it.
fn empty(form: &Form) -> String {
    match form {
        Form::Text("duration") => "0ms".into(),
        Form::Text("rate") => "0bps".into(),
        Form::Text("data") => "0B".into(),
        Form::Text("undershoot") => "none".into(),
        Form::Text(_) => "\"\"".into(),
        Form::Whole | Form::Number => "0".into(),
        Form::Switch => "false".into(),
        Form::List(_) | Form::Tuple(_) => "[]".into(),
        Form::Optional(_) => "none".into(),
        Form::Type(title) => format!("that of {title}"),
    }
}

/// The value of a function that serde calls for a default.
fn returned(sources: &Sources, module: &Name, function: &str) -> String {
    let item = sources.get(module).and_then(|known| known.items.get(function));
    match item {
        Some(syn::Item::Fn(of)) => match of.block.stmts.last() {
            Some(syn::Stmt::Expr(of, None)) => value(sources, module, of),
            _ => function.into(),
        },
        _ => function.into(),
    }
}

/// The fields of a type's default.
struct Defaults(Name, BTreeMap<String, syn::Expr>);

impl Defaults {
    fn of(sources: &Sources, module: &Name, name: &str) -> Defaults {
        let body = sources.get(module).and_then(|known| known.defaults.get(name));
        let fields = match body {
            Some(syn::Expr::Struct(of)) => of.fields.iter().collect(),
            _ => Vec::new(),
        };
        let named = |field: &&syn::FieldValue| match &field.member {
            syn::Member::Named(name) => Some((name.to_string(), field.expr.clone())),
            syn::Member::Unnamed(_) => None,
        };
        Defaults(module.clone(), fields.iter().filter_map(named).collect())
    }

    fn field(&self, sources: &Sources, name: &str, form: &Form) -> String {
        match self.1.get(name) {
            Some(of) => value(sources, &self.0, of),
            None => empty(form),
        }
    }
}
