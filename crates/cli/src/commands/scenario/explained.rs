//! Details that serde's errors leave out.

use std::fmt::Write;

use anyhow::anyhow;
use serde_json::Value;
use thalweg_units::with_nearest;

/// The error of reading `text`. A word where a table must be, such as `queue = "codel"`, gets the table's keys, from
/// the schema.
pub(in crate::commands) fn explained(text: &str, error: &toml::de::Error) -> anyhow::Error {
    let mut message = with_nearest(&error.to_string());
    if error.message().starts_with("invalid type: unit variant")
        && let Some(word) = error.span().and_then(|span| text.get(span)).map(|word| word.trim_matches(['"', '\'']))
        && let Some(keys) = keys_of(word)
    {
        let keys: Vec<String> = keys.into_iter().map(|key| format!("{key} = ...")).collect();
        // Writing to a string cannot fail.
        let _ = write!(
            message,
            "'{word}' is a table: write {{ {word} = {{ {} }} }} (docs/reference/scenario.md says what each key is)",
            keys.join(", ")
        );
    }
    anyhow!(message)
}

/// The keys of the choice with this name.
fn keys_of(word: &str) -> Option<Vec<String>> {
    let schema: Value = serde_json::from_str(super::SCHEMA).ok()?;
    let types = schema["$defs"].as_object()?;
    let choices = types.values().filter_map(|of| of["anyOf"].as_array()).flatten();
    let content = choices.filter_map(|choice| choice["properties"].get(word)).next()?;
    let content = match content["$ref"].as_str() {
        Some(path) => types.get(path.rsplit('/').next()?)?,
        None => content,
    };
    Some(content["properties"].as_object()?.keys().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_netsim::QueueConfig;

    #[test]
    fn a_word_in_place_of_a_table_gets_the_tables_keys() {
        #[derive(Debug, serde::Deserialize)]
        struct Only {
            #[expect(dead_code)]
            queue: QueueConfig,
        }
        let message = |text: &str| explained(text, &toml::from_str::<Only>(text).unwrap_err()).to_string();
        let codel = message("queue = \"codel\"");
        assert!(codel.contains("write { codel = { interval = ..., limits = ..., target = ... } }"), "{codel}");
        assert!(message("queue = 'drop-tail'").contains("{ drop-tail = { bytes = ..., packets = ..., time = ... } }"));
        assert!(message("queue = \"fast\"").contains("unknown variant"), "{}", message("queue = \"fast\""));
    }
}
