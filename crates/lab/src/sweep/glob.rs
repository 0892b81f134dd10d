//! Files by a pattern.

use std::io;
use std::path::{Path, PathBuf};

use thalweg_traces::ReadOptions;

/// The files that a pattern such as `traces/*.down` or `*/up.csv:column=Mbps` means, in order of their names: `*` stands
/// for any letters of one part of a path, `?` for one letter. A name without either is what it says, a file or any other
/// link. Options behind a colon stay on each.
///
/// # Errors
/// When a folder cannot be read.
pub fn matching(pattern: &str) -> io::Result<Vec<String>> {
    if !has_wildcard(pattern) {
        return Ok(vec![pattern.into()]);
    }
    let (stem, options) = ReadOptions::split(pattern);
    let mut found = vec![PathBuf::new()];
    for part in Path::new(stem).components() {
        let part = part.as_os_str().to_string_lossy();
        let mut next = Vec::new();
        for folder in found {
            if !has_wildcard(&part) {
                next.push(folder.join(&*part));
                continue;
            }
            let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            if !here.is_dir() {
                continue;
            }
            for entry in std::fs::read_dir(here)? {
                let name = entry?.file_name();
                let text = name.to_string_lossy();
                let is_hidden = text.starts_with('.') && !part.starts_with('.');
                if !is_hidden && is_match(&part, &text) {
                    next.push(folder.join(name));
                }
            }
        }
        found = next;
    }
    let files = found.into_iter().filter(|path| path.is_file()).map(|path| path.display().to_string());
    let with_options = |file: String| if options.is_empty() { file } else { format!("{file}:{options}") };
    let mut files: Vec<String> = files.map(with_options).collect();
    files.sort();
    Ok(files)
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Letter by letter; where they differ, the last star stands for one letter more: no earlier one has to, because whatever it
/// could take the last one can.
fn is_match(pattern: &str, name: &str) -> bool {
    let [pattern, name] = [pattern, name].map(|text| text.chars().collect::<Vec<char>>());
    let (mut at, mut read) = (0, 0);
    // The place after the last star, and the end of what it stands for.
    let mut star = None;
    while read < name.len() {
        match (pattern.get(at), star) {
            (Some('*'), _) => {
                at += 1;
                star = Some((at, read));
            }
            (Some(letter), _) if *letter == '?' || *letter == name[read] => (at, read) = (at + 1, read + 1),
            (_, Some((after, end))) => {
                star = Some((after, end + 1));
                (at, read) = (after, end + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_stars_take_no_longer_than_the_lengths_multiplied() {
        // There are 10^53 ways to divide the letters among the stars.
        assert!(!is_match(&format!("{}b", "a*".repeat(50)), &"a".repeat(250)));
    }

    #[test]
    fn a_star_is_any_letters_and_a_question_mark_one() {
        let is = is_match;
        assert!(is("*", "") && is("a*c", "abbc") && is("a*b*c", "axbyc") && is("??", "é5"));
        assert!(is("", "") && is("a*", "a") && is("*a*a", "aba") && is("a**", "abc") && is("*b?d", "abbcd"));
        assert!(!is("a*c", "abcd") && !is("?", "") && !is("?", "ab") && !is("", "a") && !is("*a?", "ba"));
    }

    #[test]
    fn files_are_found_in_order_with_the_options_of_the_pattern_and_other_names_are_themselves() {
        let folder = std::env::temp_dir().join(format!("thalweg-glob-{}", std::process::id()));
        for name in ["b/2.down", "b/1.down", "a/3.down", "a/3.up", "a/.hidden.down"] {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "1\n").unwrap();
        }
        let at = |name: &str| folder.join(name).display().to_string();
        let found = |pattern: &str| matching(&at(pattern)).unwrap();
        assert_eq!(found("*/*.down"), ["a/3.down", "b/1.down", "b/2.down"].map(at));
        assert_eq!(
            found("b/?.down:format=mahimahi"),
            ["b/1.down", "b/2.down"].map(|name| at(name) + ":format=mahimahi")
        );
        assert_eq!(found("c/*"), [""; 0]);
        assert_eq!(matching("2Mbps/500kbps@40s").unwrap(), ["2Mbps/500kbps@40s"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
