//! Scenes by name.

use thalweg_units::{Seed, Size};

use super::SceneConfig;
use crate::source::{Format, SourceError};

/// The minimum size of a scene: with fewer rows its shelves would have no height.
const SMALLEST: Size = Size::new(32, 32);

impl SceneConfig {
    /// Returns true if `name` refers to a built-in scene: `scene`, or anything after `scene:`.
    pub fn is_named_by(name: &str) -> bool {
        name == "scene" || name.starts_with("scene:")
    }

    /// The built-in scene of this name, `scene` or `scene:easy`; `None` for other names, such as a file's.
    ///
    /// # Errors
    /// When there is no such scene, or the pictures are too small to draw one.
    pub fn named(name: &str, format: Format, seed: Seed) -> Result<Option<SceneConfig>, SourceError> {
        let scene = match name {
            "scene" => SceneConfig::default(),
            "scene:easy" => SceneConfig::easy(),
            _ if SceneConfig::is_named_by(name) => {
                let problem = "unknown built-in scene: expected scene or scene:easy";
                return Err(SourceError::format(name, problem));
            }
            _ => return Ok(None),
        };
        let size = format.size;
        if size.width < SMALLEST.width || size.height < SMALLEST.height {
            let problem =
                format!("pictures of {size} are too small for it: choose {SMALLEST} or more, such as 640x360");
            return Err(SourceError::format(name, problem));
        }
        Ok(Some(SceneConfig { format, seed, ..scene }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scene;
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

    #[test]
    fn the_smallest_scene_is_drawn_and_a_smaller_one_refused() {
        let named = |width, height| {
            let format = Format { size: Size::new(width, height), ..SceneConfig::default().format };
            SceneConfig::named("scene", format, Seed::new(7))
        };
        assert_eq!(Scene::new(named(32, 32).unwrap().unwrap()).picture(40).size(), Size::new(32, 32));
        for (width, height) in [(31, 32), (32, 31), (3, 3), (1, 1)] {
            let message = named(width, height).unwrap_err().to_string();
            assert!(message.contains(&format!("{width}x{height}")) && message.contains("32x32"), "{message}");
        }
    }
}
