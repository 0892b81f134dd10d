//! Programs whose output the constants of `thalweg-codecs` and `thalweg-lab` are taken from: `cargo run --release -p
//! thalweg-calibrate -- NAME [arguments]`, where NAME is one of those below.

mod coding_time;
#[cfg(feature = "libvpx")]
mod fit_model;
#[cfg(feature = "libvpx")]
mod layer_sizes;
#[cfg(feature = "libvpx")]
mod rate_quality;
mod undershoot;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    match name.as_str() {
        "coding-time" => coding_time::run(),
        #[cfg(feature = "libvpx")]
        "fit-model" => fit_model::run(&arguments),
        #[cfg(feature = "libvpx")]
        "layer-sizes" => layer_sizes::run(),
        #[cfg(feature = "libvpx")]
        "rate-quality" => rate_quality::run(&arguments),
        "undershoot" => undershoot::run(&arguments),
        _ => {
            let names = "coding-time, undershoot or, with the feature libvpx, fit-model, layer-sizes, rate-quality";
            Err(format!("unknown calibration '{name}': expected one of {names}").into())
        }
    }
}
