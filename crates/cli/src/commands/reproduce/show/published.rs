//! The numbers that a paper prints for a figure, next to ours.

use thalweg_lab::reproduce::{Published, Spread};

use super::text::{head, with_sigma};

/// Prints them; `ours` gives our value for each number.
pub(super) fn print(published: &[Published], ours: impl Fn(&Published) -> Option<Spread>) {
    if published.is_empty() {
        outln!("\nThe paper's own numbers for this figure were not at hand.");
        return;
    }
    let (by_link, of_means): (Vec<&Published>, Vec<&Published>) =
        published.iter().partition(|published| published.link.is_some());
    if !of_means.is_empty() {
        outln!("\n{:20} {:24} {:>10} {:>10}  read in", "scheme", "", "paper", "ours");
    }
    for published in of_means {
        let Published { scheme, key, source, .. } = published;
        let (paper, ours) = (paper(published), with_sigma(key, ours(published)));
        outln!("{scheme:20} {:24} {paper:>10} {ours:>10}  {source}", head(key));
    }
    if !by_link.is_empty() {
        over_links(&by_link, ours);
    }
}

/// The paper's number, with its deviation if given.
fn paper(published: &Published) -> String {
    let Published { key, value, sigma, .. } = *published;
    with_sigma(key, Some(Spread { mean: value, sigma, runs: 1 }))
}

/// A row for each link and scheme, a pair of columns for each key; then the ranking of the schemes.
fn over_links(published: &[&Published], ours: impl Fn(&Published) -> Option<Spread>) {
    let keys = distinct(published, |published| published.key);
    out!("\n{:26} {:20}", "the paper's, ours", "");
    let repeats = published.iter().any(|published| published.sigma.is_some());
    let cell = if repeats { 14 } else { 11 };
    keys.iter().for_each(|key| out!(" {:>width$}", head(key), width = 2 * cell + 1));
    outln!("");
    let links = distinct(published, |published| published.link.unwrap_or_default());
    for link in &links {
        let over: Vec<&Published> =
            published.iter().filter(|published| published.link == Some(*link)).copied().collect();
        for scheme in distinct(&over, |published| published.scheme) {
            out!("{link:26} {scheme:20}");
            for key in &keys {
                let found = over.iter().find(|published| published.scheme == scheme && published.key == *key);
                let (paper, ours) = match found {
                    Some(found) => (paper(found), with_sigma(key, ours(found))),
                    None => Default::default(),
                };
                out!(" {paper:>cell$} {ours:>cell$}");
            }
            outln!("");
        }
    }
    for link in &links {
        for key in &keys {
            let of: Vec<&&Published> =
                published.iter().filter(|known| known.link == Some(*link) && known.key == *key).collect();
            let theirs = of.iter().map(|known| (known.scheme, known.value)).collect();
            let answers: Vec<(&str, f64)> =
                of.iter().filter_map(|known| Some((known.scheme, ours(known)?.mean))).collect();
            if of.len() > 2 && answers.len() == of.len() {
                outln!("\n{link}, {}, highest first", head(key));
                outln!("  paper: {}\n  ours:  {}", order(theirs), order(answers));
            }
        }
    }
    let sources = distinct(published, |published| published.source);
    outln!("\nthe paper's numbers: {}", sources.join("; "));
}

/// Schemes from the highest value to the lowest, with `=` between equal ones.
fn order(mut values: Vec<(&str, f64)>) -> String {
    values.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut order = String::new();
    for (place, (scheme, value)) in values.iter().enumerate() {
        if let Some((_, before)) = place.checked_sub(1).map(|before| values[before]) {
            order += if before == *value { " = " } else { " > " };
        }
        order += scheme;
    }
    order
}

/// The distinct values of `of`, in order of first occurrence.
fn distinct<'a>(published: &[&'a Published], of: impl Fn(&'a Published) -> &'static str) -> Vec<&'static str> {
    published.iter().map(|published| of(published)).fold(Vec::new(), |mut known, next| {
        if !known.contains(&next) {
            known.push(next);
        }
        known
    })
}
