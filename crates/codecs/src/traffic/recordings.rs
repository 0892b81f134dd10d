//! Sizes of recorded frames, by resolution and rate (syncodecs' TraceBased with scaling).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, Random, Span};

/// A folder of recordings as in cisco/syncodecs: files called `anything_720p_1000.txt` (resolution, kbit/s), one line
/// for each frame, whose fifth field is its size in bytes; lines that begin with % are comments.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recordings {
    /// The folder.
    pub folder: String,
    /// Starts at the recording's first frame, as in syncodecs. If not, the first frame is drawn at random, so that
    /// senders who begin together do not march in step.
    pub from_first: bool,
}

/// Frames at the beginning of a recording that are not repeated after its end.
const EXCLUDED: usize = 20;
/// Bits per pixel below which the next lower resolution is taken, and above which the next higher one.
const BITS_PER_PIXEL: (f64, f64) = (0.091, 0.175);
/// Resolutions by name, in pixels: all 16:9.
const RESOLUTIONS: [(&str, f64); 7] = [
    ("90p", 160.0 * 90.0),
    ("180p", 320.0 * 180.0),
    ("240p", 426.0 * 240.0),
    ("360p", 640.0 * 360.0),
    ("540p", LARGE),
    ("720p", 1280.0 * 720.0),
    ("1080p", 1920.0 * 1080.0),
];
/// Beyond this many pixels bits grow more slowly than pixels, with the power 0.75 (Waggoner's rule).
const LARGE: f64 = 960.0 * 540.0;

/// The recordings that were read.
#[derive(Debug)]
pub(super) struct Library {
    /// In order of resolution.
    resolutions: Vec<Resolution>,
}

#[derive(Debug)]
struct Resolution {
    pixels: f64,
    /// Rates in bit/s, each with its frame sizes, in order of rate. All have equally many frames.
    rates: Vec<(f64, Vec<f64>)>,
}

impl Recordings {
    /// Reads all recordings of the folder.
    pub(super) fn read(&self) -> Result<Library, ConfigError> {
        let refuse = |why: String| ConfigError::out_of_range("recordings.folder", &self.folder, why);
        let entries = fs::read_dir(&self.folder).map_err(|error| {
            refuse(format!("a folder with recordings such as chat_720p_1000.txt of cisco/syncodecs ({error})"))
        })?;
        let mut found: BTreeMap<usize, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
        for entry in entries {
            let path = entry.map_err(|error| refuse(error.to_string()))?.path();
            let Some((place, kbps)) = path.file_name().and_then(|name| meaning(name.to_str()?)) else { continue };
            let sizes =
                read_file(&path).map_err(|why| refuse(format!("of readable files; {}: {why}", path.display())))?;
            if found.entry(place).or_default().insert(kbps, sizes).is_some() {
                let name = RESOLUTIONS[place].0;
                return Err(refuse(format!("of one kind of recordings; there are two of {name} at {kbps} kbps")));
            }
        }
        let resolutions = found.into_iter().map(|(place, rates)| Resolution {
            pixels: RESOLUTIONS[place].1,
            rates: rates.into_iter().map(|(kbps, sizes)| (kbps as f64 * 1000.0, sizes)).collect(),
        });
        let resolutions: Vec<Resolution> = resolutions.collect();
        let lengths = |resolution: &Resolution| {
            let mut lengths = resolution.rates.iter().map(|(_, sizes)| sizes.len());
            lengths.next().is_some_and(|first| lengths.all(|length| length == first))
        };
        if resolutions.is_empty() || !resolutions.iter().all(lengths) {
            let range = "one with recordings such as chat_720p_1000.txt, equally long at all rates of a resolution";
            return Err(refuse(range.into()));
        }
        Ok(Library { resolutions })
    }
}

/// The resolution, by its place in [`RESOLUTIONS`], and the rate in kbit/s that a file's name states.
fn meaning(name: &str) -> Option<(usize, u64)> {
    let (rest, kbps) = name.strip_suffix(".txt")?.rsplit_once('_')?;
    let (_, label) = rest.rsplit_once('_')?;
    let place = RESOLUTIONS.iter().position(|(known, _)| *known == label)?;
    Some((place, kbps.parse().ok().filter(|kbps| *kbps > 0)?))
}

fn read_file(path: &Path) -> Result<Vec<f64>, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let frames = text.lines().enumerate().filter(|(_, line)| !line.starts_with('%') && !line.trim().is_empty());
    let sizes = frames.map(|(index, line)| {
        let size = line.split_whitespace().nth(4).and_then(|field| field.parse::<u32>().ok()).filter(|size| *size > 0);
        size.map(f64::from).ok_or_else(|| format!("line {} has no size above 0 in its fifth field", index + 1))
    });
    let sizes = sizes.collect::<Result<Vec<f64>, String>>()?;
    if sizes.len() > EXCLUDED {
        Ok(sizes)
    } else {
        Err(format!("{} frames, more than {EXCLUDED} are needed", sizes.len()))
    }
}

/// A place in the recordings.
#[derive(Debug, Clone)]
pub(super) struct State {
    library: Arc<Library>,
    frame: usize,
    resolution: usize,
}

impl State {
    pub(super) fn new(config: &Recordings, random: &mut Random) -> Result<State, ConfigError> {
        let library = Arc::new(config.read()?);
        let length = library.resolutions[0].rates[0].1.len();
        let frame = if config.from_first { 0 } else { EXCLUDED + random.below((length - EXCLUDED) as u64) as usize };
        Ok(State { library, frame, resolution: 0 })
    }

    /// Bytes of the next frame at this rate in bit/s.
    pub(super) fn next(&mut self, rate: f64, interval: Span) -> f64 {
        self.choose(rate, interval);
        let rates = &self.library.resolutions[self.resolution].rates;
        let frame = if self.frame < rates[0].1.len() { self.frame } else { EXCLUDED };
        self.frame = frame + 1;
        let above = rates.iter().position(|(known, _)| *known > rate);
        match above {
            // Beyond the recorded rates sizes are in proportion.
            None => scaled(&rates[rates.len() - 1], frame, rate),
            Some(0) => scaled(&rates[0], frame, rate),
            Some(above) => {
                let ((low, small), (high, large)) = (&rates[above - 1], &rates[above]);
                let share = (rate - low) / (high - low);
                large[frame] * share + small[frame] * (1.0 - share)
            }
        }
    }

    /// Passes a frame by.
    pub(super) fn skip(&mut self) {
        self.frame += 1;
    }

    /// Goes to the next lower or higher resolution if the bits per pixel ask for it.
    fn choose(&mut self, rate: f64, interval: Span) {
        let bits_per_pixel = |place: usize| {
            let pixels = self.library.resolutions[place].pixels;
            let counted = if pixels > LARGE { LARGE / libm::pow(pixels / LARGE, 0.75) } else { pixels };
            rate * interval.as_secs_f64() / counted
        };
        let (low, high) = BITS_PER_PIXEL;
        let now = bits_per_pixel(self.resolution);
        let higher = self.resolution + 1;
        if now < low {
            self.resolution = self.resolution.saturating_sub(1);
        } else if now > high && higher < self.library.resolutions.len() && bits_per_pixel(higher) >= low {
            self.resolution = higher;
        }
    }
}

fn scaled((known, sizes): &(f64, Vec<f64>), frame: usize, rate: f64) -> f64 {
    sizes[frame] * rate / known
}
