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

const PAGE: &str = "metrics";

/// The page is written by hand: a formula is not in a type.
#[test]
fn every_figure_of_the_summary_is_explained_on_the_page_of_metrics() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join("docs/reference").join(name)).unwrap();
    let (metrics, schema) = (read(&format!("{PAGE}.md")), read("summary.schema.json"));
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    for (of, prefix) in [
        ("Summary", ""),
        ("Delivery", "delivery."),
        ("Redundancy", "redundancy."),
        ("TcpShare", "tcp."),
        ("Choices", "choices."),
    ] {
        let keys = schema["$defs"][of]["properties"].as_object().unwrap();
        assert!(keys.len() > 2, "{of}");
        let missing: Vec<&String> = keys.keys().filter(|key| !metrics.contains(&format!("`{prefix}{key}"))).collect();
        let nested = ["delivery", "redundancy", "tcp", "choices", "duration_s"];
        let missing: Vec<_> = missing.iter().filter(|key| !nested.contains(&key.as_str())).collect();
        assert!(missing.is_empty(), "{of}: the page does not explain {missing:?}");
    }
}
