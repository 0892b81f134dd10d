//! Writes pictures with barcodes as y4m, to test a reader in another language: `barcodes SIZE FIRST COUNT > file.y4m`
//! numbers them from FIRST.

use std::error::Error;
use std::io::Write;

use thalweg_video::source::{Format, Scene, SceneConfig, Source, Y4mWriter};
use thalweg_video::{Picture, Size, barcode};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [size, first, count] = arguments.as_slice() else { return Err("barcodes SIZE FIRST COUNT".into()) };
    let (size, first, count): (Size, u64, u64) = (size.parse()?, first.parse()?, count.parse()?);
    let format = Format { size, frame_rate: (30, 1) };
    let mut scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut writer = Y4mWriter::new(&mut out, format)?;
    for number in first..first + count {
        if let Some(picture) = scene.next_picture()? {
            let mut picture = Picture::clone(&picture);
            barcode::draw(&mut picture, number);
            writer.write(&picture)?;
        }
    }
    Ok(out.flush()?)
}
