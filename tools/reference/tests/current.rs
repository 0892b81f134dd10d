//! The reference is what the types say.

use std::path::Path;

#[test]
fn every_reference_page_and_schema_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in thalweg_reference::files(&root).unwrap() {
        let committed = std::fs::read_to_string(root.join(name)).unwrap_or_default();
        assert!(committed == text, "{name} is not current: cargo run -p thalweg-reference");
    }
}
