//! Writes pictures of the built-in scene as y4m to standard output: `cargo run --example scene -- 1280x720 300 | ffplay -`.

use std::io::Write;

use thalweg_video::Size;
use thalweg_video::source::{Format, Scene, SceneConfig, Source, Y4mWriter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let size: Size = arguments.next().as_deref().unwrap_or("1280x720").parse()?;
    let pictures: u32 = arguments.next().as_deref().unwrap_or("300").parse()?;
    let format = Format { size, frame_rate: (30, 1) };
    let mut scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut writer = Y4mWriter::new(&mut out, format)?;
    for _ in 0..pictures {
        if let Some(picture) = scene.next_picture()? {
            writer.write(&picture)?;
        }
    }
    out.flush()?;
    Ok(())
}
