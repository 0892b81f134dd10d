//! The sources of the crates as modules of items, and where a path in one of them leads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// A module by its path: the crate's folder, then the names of its modules.
pub type Name = Vec<String>;

/// Every module of the crates that describe a run.
#[derive(Debug, Default)]
pub struct Sources {
    modules: BTreeMap<Name, Module>,
    /// Ranges by what an error calls the value, such as `gcc.aimd.beta`.
    pub ranges: BTreeMap<String, (Name, syn::Expr)>,
    /// Ranges in words.
    pub words: BTreeMap<String, String>,
}

/// The items of a module.
#[derive(Debug, Default)]
pub struct Module {
    /// Structs, enums, constants and functions by name.
    pub items: BTreeMap<String, syn::Item>,
    /// Bodies of `Default::default` by the type's name.
    pub defaults: BTreeMap<String, syn::Expr>,
    uses: Vec<(String, Vec<String>)>,
}

/// The crates whose types appear in files.
const CRATES: [&str; 8] = ["units", "control", "netsim", "types", "video", "codecs", "sender", "lab"];

impl Sources {
    /// Reads the crates in this folder.
    ///
    /// # Errors
    /// When a file cannot be read or parsed.
    pub fn read(crates: &Path) -> Result<Sources, String> {
        let mut sources = Sources::default();
        for name in CRATES {
            sources.file(&crates.join(name).join("src/lib.rs"), vec![name.into()])?;
        }
        Ok(sources)
    }

    fn file(&mut self, path: &Path, name: Name) -> Result<(), String> {
        let shown = || path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", shown()))?;
        let file = syn::parse_file(&text).map_err(|error| format!("{}: {error}", shown()))?;
        let is_front = path.file_name().is_some_and(|file| file == "lib.rs" || file == "mod.rs");
        let folder = if is_front { path.parent().map(Path::to_path_buf) } else { Some(path.with_extension("")) };
        self.module(file.items, name, &folder.unwrap_or_default())
    }

    fn module(&mut self, items: Vec<syn::Item>, name: Name, folder: &Path) -> Result<(), String> {
        let mut module = Module::default();
        for item in items {
            if attributes(&item).iter().any(is_test) {
                continue;
            }
            Checks { sources: self, module: name.clone() }.visit_item(&item);
            match item {
                syn::Item::Mod(inner) => {
                    let below = [name.clone(), vec![inner.ident.to_string()]].concat();
                    let folder = folder.join(inner.ident.to_string());
                    match inner.content {
                        Some((_, items)) => self.module(items, below, &folder)?,
                        None => self.file(&file_of(&folder), below)?,
                    }
                }
                syn::Item::Use(used) => leaves(&used.tree, &mut Vec::new(), &mut module.uses),
                syn::Item::Impl(of) => default_of(&of).into_iter().for_each(|(name, body)| {
                    module.defaults.insert(name, body);
                }),
                syn::Item::Struct(ref of) => drop(module.items.insert(of.ident.to_string(), item)),
                syn::Item::Enum(ref of) => drop(module.items.insert(of.ident.to_string(), item)),
                syn::Item::Const(ref of) => drop(module.items.insert(of.ident.to_string(), item)),
                syn::Item::Fn(ref of) => drop(module.items.insert(of.sig.ident.to_string(), item)),
                syn::Item::Type(ref of) => drop(module.items.insert(of.ident.to_string(), item)),
                _ => {}
            }
        }
        self.modules.insert(name, module);
        Ok(())
    }

    /// A module by its name.
    pub fn get(&self, name: &[String]) -> Option<&Module> {
        self.modules.get(name)
    }

    /// The item that `path` names in this module: the module that defines it, and its name there.
    pub fn find(&self, module: &[String], path: &[String]) -> Option<(Name, String)> {
        match self.locate(module, path, 0)? {
            Place::Item(module, name) => Some((module, name)),
            Place::Module => None,
        }
    }

    fn locate(&self, module: &[String], path: &[String], depth: u32) -> Option<Place> {
        let Some((first, rest)) = path.split_first() else { return Some(Place::Module) };
        if depth > 12 {
            return None;
        }
        let below = [module, std::slice::from_ref(first)].concat();
        let known = self.get(module)?;
        let from = match first.as_str() {
            "crate" => module[..1].to_vec(),
            "self" => module.to_vec(),
            "super" => module[..module.len() - 1].to_vec(),
            _ if first.strip_prefix("thalweg_").is_some_and(|name| CRATES.contains(&name)) => {
                vec![first.trim_start_matches("thalweg_").to_string()]
            }
            _ if self.modules.contains_key(&below) => below,
            _ if rest.is_empty() && known.items.contains_key(first) => {
                return Some(Place::Item(module.to_vec(), first.clone()));
            }
            _ => {
                let named = known.uses.iter().filter(|(name, _)| name == first).map(|(_, path)| path.clone());
                let all = known.uses.iter().filter(|(name, _)| name == "*");
                let through = all.map(|(_, path)| [path.as_slice(), std::slice::from_ref(first)].concat());
                let mut paths = named.chain(through);
                return paths.find_map(|path| self.locate(module, &[path.as_slice(), rest].concat(), depth + 1));
            }
        };
        self.locate(&from, rest, depth + 1)
    }
}

enum Place {
    Module,
    Item(Name, String),
}

fn file_of(folder: &Path) -> PathBuf {
    let beside = folder.with_extension("rs");
    if beside.is_file() { beside } else { folder.join("mod.rs") }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") && quote::ToTokens::to_token_stream(attribute).to_string().contains("test")
}

/// `a::{b, c as d}` as pairs of the name it is known by and the path.
fn leaves(tree: &syn::UseTree, path: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    match tree {
        syn::UseTree::Path(of) => {
            path.push(of.ident.to_string());
            leaves(&of.tree, path, found);
            path.pop();
        }
        syn::UseTree::Name(of) if of.ident == "self" => {
            found.push((path.last().cloned().unwrap_or_default(), path.clone()));
        }
        syn::UseTree::Name(of) => {
            found.push((of.ident.to_string(), [path.as_slice(), &[of.ident.to_string()]].concat()));
        }
        syn::UseTree::Rename(of) => {
            found.push((of.rename.to_string(), [path.as_slice(), &[of.ident.to_string()]].concat()));
        }
        syn::UseTree::Glob(_) => found.push(("*".into(), path.clone())),
        syn::UseTree::Group(of) => of.items.iter().for_each(|tree| leaves(tree, path, found)),
    }
}

/// The value of `impl Default for X`.
fn default_of(of: &syn::ItemImpl) -> Option<(String, syn::Expr)> {
    let (_, implemented, _) = of.trait_.as_ref()?;
    let syn::Type::Path(path) = of.self_ty.as_ref() else { return None };
    let body = of.items.iter().find_map(|item| match item {
        syn::ImplItem::Fn(method) => match method.block.stmts.last()? {
            syn::Stmt::Expr(value, None) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    })?;
    let name = path.path.segments.last()?.ident.to_string();
    implemented.is_ident("Default").then_some((name, body))
}

/// Finds `check("name", ...).within(range, ...)` and `.is(condition, words)`, also in a loop over `("name", ...)`.
struct Checks<'a> {
    sources: &'a mut Sources,
    module: Name,
}

impl Checks<'_> {
    fn add(&mut self, names: &[String], call: &syn::ExprMethodCall) {
        for name in names {
            match (call.method.to_string().as_str(), call.args.iter().collect::<Vec<_>>().as_slice()) {
                ("within", [range, _]) => {
                    self.sources.ranges.insert(name.clone(), (self.module.clone(), (*range).clone()));
                }
                ("is", [_, words]) => {
                    text_of(words).into_iter().for_each(|words| drop(self.sources.words.insert(name.clone(), words)));
                }
                _ => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Checks<'_> {
    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if let Some(name) = checked(&call.receiver).and_then(text_of) {
            self.add(&[name], call);
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_for_loop(&mut self, of: &'a syn::ExprForLoop) {
        if let syn::Expr::Array(array) = of.expr.as_ref() {
            let first = |item: &syn::Expr| match item {
                syn::Expr::Tuple(tuple) => tuple.elems.first().and_then(text_of),
                _ => None,
            };
            let names: Vec<String> = array.elems.iter().filter_map(first).collect();
            let mut inner = Calls::default();
            inner.visit_block(&of.body);
            inner.0.iter().for_each(|call| self.add(&names, call));
        }
        syn::visit::visit_expr_for_loop(self, of);
    }
}

/// Method calls on `check(name, ...)`, where the name is a variable.
#[derive(Default)]
struct Calls(Vec<syn::ExprMethodCall>);

impl<'a> Visit<'a> for Calls {
    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if checked(&call.receiver).is_some_and(|name| matches!(name, syn::Expr::Path(_))) {
            self.0.push(call.clone());
        }
        syn::visit::visit_expr_method_call(self, call);
    }
}

/// The first argument of `check(...)`.
fn checked(receiver: &syn::Expr) -> Option<&syn::Expr> {
    let syn::Expr::Call(call) = receiver else { return None };
    let syn::Expr::Path(path) = call.func.as_ref() else { return None };
    call.args.first().filter(|_| path.path.is_ident("check"))
}

/// A text literal, or that of `format!`.
fn text_of(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
