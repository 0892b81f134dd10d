//! Links and images of Markdown pages.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::{Fault, Page, Repository, Source};

/// `[text](target)` and the `src` or `href` of HTML.
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\]\(([^)\s]+)(?:\s+"[^"]*")?\)|\b(?:src|href)="([^"]+)""#).unwrap());

pub(crate) fn check(repository: &Repository, source: &Source<'_>, faults: &mut Vec<Fault>) {
    for found in LINK.captures_iter(source.text) {
        let Some(target) = found.get(1).or(found.get(2)) else { continue };
        if let Some(what) = wrong(repository, source, target.as_str()) {
            faults.push(source.fault(target.start(), what));
        }
    }
}

fn wrong(repository: &Repository, source: &Source<'_>, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let beside = source.path.parent().unwrap_or(Path::new(""));
    let file = if path.is_empty() { source.path.to_path_buf() } else { beside.join(path) };
    let file = repository.root.join(file);
    if !file.exists() {
        return Some(format!("the link leads to {path}, which does not exist"));
    }
    let anchor = anchor?;
    let text = fs::read_to_string(&file).unwrap_or_default();
    (!Page::read(&text).has_anchor(anchor)).then(|| format!("{path} has no heading for #{anchor}"))
}
