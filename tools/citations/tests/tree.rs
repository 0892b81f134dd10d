//! Checks this repository.

use std::path::Path;

#[test]
fn every_citation_and_every_link_names_something_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let faults = thalweg_citations::faults(&root).unwrap();
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} citations or links lead nowhere:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn no_documentation_help_or_error_begins_with_what_that_of_or_whether() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let faults = thalweg_citations::faults_of_prose(&root).unwrap();
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} lines begin without a noun or a verb:\n{}", lines.len(), lines.join("\n"));
}
