//! Scenes by name.

use thalweg_units::Seed;

use super::SceneConfig;
use crate::source::{Format, SourceError};

impl SceneConfig {
    /// Whether `name` is meant for a built-in scene: `scene`, or anything after `scene:`.
    pub fn is_named_by(name: &str) -> bool {
        name == "scene" || name.starts_with("scene:")
    }

    /// The built-in scene of this name, `scene` or `scene:easy`; `None` when the name is something else's, such as a file's.
    ///
    /// # Errors
    /// When there is no such scene.
    pub fn named(name: &str, format: Format, seed: Seed) -> Result<Option<SceneConfig>, SourceError> {
        let scene = match name {
            "scene" => SceneConfig::default(),
            "scene:easy" => SceneConfig::easy(),
            _ if SceneConfig::is_named_by(name) => {
                let problem = "is not a built-in scene: choose scene or scene:easy".into();
                return Err(SourceError::Format { what: name.into(), problem });
            }
            _ => return Ok(None),
        };
        Ok(Some(SceneConfig { format, seed, ..scene }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_has_a_name_and_another_name_is_a_files() {
        let format = SceneConfig::default().format;
        let named = |name: &str| SceneConfig::named(name, format, Seed::new(7));
        assert_eq!(named("scene").unwrap(), Some(SceneConfig { seed: Seed::new(7), ..SceneConfig::default() }));
        assert_eq!(named("scene:easy").unwrap(), Some(SceneConfig { seed: Seed::new(7), ..SceneConfig::easy() }));
        assert_eq!(named("scene.y4m").unwrap(), None);
        let message = named("scene:hard").unwrap_err().to_string();
        assert!(message.contains("scene:hard") && message.contains("scene or scene:easy"), "{message}");
    }
}
