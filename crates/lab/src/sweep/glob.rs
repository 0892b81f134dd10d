//! Files by a pattern.

use std::io;
use std::path::PathBuf;

use glob::{MatchOptions, glob_with};
use thalweg_traces::ReadOptions;

/// The files that a pattern such as `traces/*.down` or `*/up.csv:column=Mbps` means, in order of their names: `*` stands
/// for any letters of one part of a path, `?` for one letter. A name without either is what it says, a file or any other
/// link. Options behind a colon and the part behind an `@` stay on each.
///
/// # Errors
/// When a folder cannot be read.
pub fn matching(pattern: &str) -> io::Result<Vec<String>> {
    if !has_wildcard(pattern) {
        return Ok(vec![pattern.into()]);
    }
    let (stem, options) = ReadOptions::split(pattern);
    // Brackets are letters here, and stars in a row are one.
    let mut plain = stem.replace('[', "[[]");
    while plain.contains("**") {
        plain = plain.replace("**", "*");
    }
    let rules =
        MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    let found = glob_with(&plain, rules).map_err(io::Error::other)?;
    let found: Vec<PathBuf> = found.map(|path| path.map_err(io::Error::from)).collect::<io::Result<_>>()?;
    let files = found.into_iter().filter(|path| path.is_file()).map(|path| path.display().to_string());
    let mut files: Vec<String> = files.map(|file| file + options).collect();
    files.sort();
    Ok(files)
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_stars_take_no_longer_than_the_lengths_multiplied() {
        // There are 10^53 ways to divide the letters among the stars.
        let folder = std::env::temp_dir().join(format!("thalweg-glob-stars-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a".repeat(250)), "1\n").unwrap();
        let pattern = |end| folder.join(format!("{}{end}", "a*".repeat(50))).display().to_string();
        assert_eq!(matching(&pattern("b")).unwrap(), [""; 0]);
        assert_eq!(matching(&pattern("")).unwrap().len(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn files_are_found_in_order_with_the_options_of_the_pattern_and_other_names_are_themselves() {
        let folder = std::env::temp_dir().join(format!("thalweg-glob-{}", std::process::id()));
        for name in ["b/2.down", "b/1.down", "a/3.down", "a/3.up", "a/.hidden.down", "a/[x] é.up"] {
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
        assert_eq!(found("b/*.down@1s-2s"), ["b/1.down", "b/2.down"].map(|name| at(name) + "@1s-2s"));
        assert_eq!(found("a/[x]*.up"), ["a/[x] é.up"].map(at));
        assert_eq!(found("a/[x] ?.**"), ["a/[x] é.up"].map(at));
        assert_eq!(found("c/*"), [""; 0]);
        assert_eq!(matching("2Mbps/500kbps@40s").unwrap(), ["2Mbps/500kbps@40s"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
