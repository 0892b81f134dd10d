//! Printed tables.

use super::Measured;

pub(crate) fn tables(measured: &Measured) {
    println!("{}, {}, {} pictures, one thread, CPU time", measured.video, measured.size, measured.pictures);
    println!("{:12} {:14} {:>8} {:>8} {:>10}", "encoder", "keeps", "kbit/s", "PSNR dB", "ms/picture");
    for curve in &measured.curves {
        for point in &curve.points {
            let aim = curve.aim.to_string();
            let (kbps, psnr, time) = (point.kbps, point.psnr_db, point.encode_ms);
            println!("{:12} {aim:14} {kbps:8.0} {psnr:8.2} {time:10.2}", curve.encoder);
        }
    }
    let (min, max) = super::RANGE;
    for comparison in &measured.comparisons {
        println!(
            "{} at {}: {:+.2} dB against {} in {:.2} of its time ({min:.0} to {max:.0} kbit/s)",
            comparison.encoder,
            comparison.aim,
            comparison.psnr_difference_db,
            comparison.against,
            comparison.time_ratio
        );
    }
    for (preset, ratio) in &measured.two_candidates {
        println!("{preset}: two candidates of a picture take {ratio:.2} of the time of one");
    }
    if let Some(speed) = measured.decoder_speed {
        println!("decoding: {speed:.2} of libvpx's speed");
    }
    println!();
}
