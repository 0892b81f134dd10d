use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::Error;

static BUILT_IN: LazyLock<Manifest> =
    LazyLock::new(|| Manifest::parse(include_str!("../manifest.toml")).expect("the manifest is tested"));

/// All data sets, with their sources.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    sources: BTreeMap<String, Source>,
    sets: Vec<Set>,
}

/// Where files come from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The repository on GitHub, `owner/name`; `None` for files measured or collected for this project.
    pub repository: Option<String>,
    /// The commit, 40 hexadecimal digits.
    pub commit: Option<String>,
    /// The licence, as the source states it.
    pub licence: String,
}

/// Files that belong together and are fetched together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Its name for `thalweg data fetch`.
    pub name: String,
    /// Its folder in a place.
    pub folder: String,
    /// A short description.
    pub about: String,
    /// Its files.
    pub files: Vec<File>,
}

/// One file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its path relative to the folder of its set.
    pub name: String,
    /// The name of its source.
    pub source: String,
    /// Its path in the source's repository, if that differs from its name.
    pub path: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// The SHA-256 of its contents, 64 hexadecimal digits.
    pub sha256: String,
}

impl Manifest {
    /// The manifest of this version of Thalweg.
    #[must_use]
    pub fn built_in() -> &'static Manifest {
        &BUILT_IN
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// When the TOML is malformed, or a file names a source that is not listed or a path that leaves its folder.
    pub fn parse(text: &str) -> Result<Manifest, Error> {
        let manifest: Manifest = toml::from_str(text).map_err(|error| Error::Manifest(error.to_string()))?;
        for (set, file) in manifest.sets.iter().flat_map(|set| set.files.iter().map(move |file| (set, file))) {
            let leaves = |path: &str| path.split('/').any(|part| matches!(part, "" | "." | ".."));
            if leaves(&set.folder) || leaves(&file.name) {
                return Err(Error::Manifest(format!("{}/{} leaves its folder", set.folder, file.name)));
            }
            if !manifest.sources.contains_key(&file.source) {
                return Err(Error::Manifest(format!("{} has the unlisted source {:?}", file.name, file.source)));
            }
        }
        Ok(manifest)
    }

    /// All sets.
    #[must_use]
    pub fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// The set with this name.
    ///
    /// # Errors
    /// When there is none; the error lists the existing names.
    pub fn set(&self, name: &str) -> Result<&Set, Error> {
        self.sets.iter().find(|set| set.name == name).ok_or_else(|| {
            let known = self.sets.iter().map(|set| set.name.as_str()).collect::<Vec<_>>().join(", ");
            Error::NoSuchSet { name: name.to_string(), known }
        })
    }

    /// Where a file of this manifest comes from.
    #[must_use]
    pub fn source(&self, file: &File) -> &Source {
        &self.sources[&file.source]
    }

    /// The upstream address of a file; `None` for files without upstream.
    #[must_use]
    pub fn upstream(&self, file: &File) -> Option<String> {
        let Source { repository, commit, .. } = self.source(file);
        let path = encoded(file.path.as_ref().unwrap_or(&file.name));
        Some(format!("https://raw.githubusercontent.com/{}/{}/{path}", repository.as_ref()?, commit.as_ref()?))
    }
}

impl Set {
    /// The file with this name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The total length of all files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// A path, percent-encoded for an address.
pub(crate) fn encoded(path: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_manifest_has_a_hash_a_licence_and_an_upstream_or_none_by_intention() {
        let manifest = Manifest::built_in();
        let hexadecimal = |text: &str, digits: usize| {
            text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        let mut paths = std::collections::BTreeSet::new();
        for set in manifest.sets() {
            assert!(!set.files.is_empty(), "{}", set.name);
            for file in &set.files {
                assert!(paths.insert(format!("{}/{}", set.folder, file.name)), "{} twice", file.name);
                assert!(hexadecimal(&file.sha256, 64), "{file:?}");
                let source = manifest.source(file);
                assert!(!source.licence.is_empty(), "{source:?}");
                assert_eq!(source.repository.is_some(), file.source != "thalweg", "{file:?}");
                assert!(source.commit.as_ref().is_none_or(|commit| hexadecimal(commit, 40)), "{source:?}");
            }
        }
        assert!(paths.len() > 250, "{}", paths.len());
    }

    #[test]
    fn an_address_upstream_has_repository_commit_and_path() {
        let manifest = Manifest::built_in();
        let set = manifest.set("mahimahi").unwrap();
        let file = set.files.iter().find(|file| file.name == "TMobile-LTE-short.up").unwrap();
        let at = manifest.upstream(file).unwrap();
        let commit = "ae477d437615b972217498ba52be07db17a15618";
        let base = format!("https://raw.githubusercontent.com/ravinet/mahimahi/{commit}/traces/");
        assert!(at.starts_with(&base) && !at.contains(' '), "{at}");
        let ours = &manifest.set("published").unwrap().files[0];
        assert_eq!(manifest.upstream(ours), None);
        assert_eq!(encoded("a b/c+.up"), "a%20b/c%2B.up");
    }

    #[test]
    fn what_is_wrong_in_a_manifest_is_said() {
        let with = |name: &str, source: &str| {
            format!(
                "[sources.a]\nlicence = \"MIT\"\n[[sets]]\nname = \"s\"\nfolder = \"f\"\nabout = \"\"\n\
                 files = [{{ name = \"{name}\", source = \"{source}\", bytes = 1, sha256 = \"00\" }}]\n"
            )
        };
        assert!(Manifest::parse(&with("x", "a")).is_ok());
        let said = |text: &str| Manifest::parse(text).unwrap_err().to_string();
        assert!(said(&with("../x", "a")).contains("leaves its folder"));
        assert!(said(&with("x", "b")).contains("unlisted source"));
        assert!(said("sets = 3").contains("manifest"));
        assert!(Manifest::built_in().set("mahimhi").unwrap_err().to_string().contains("mahimahi, salsify-traces"));
    }
}
