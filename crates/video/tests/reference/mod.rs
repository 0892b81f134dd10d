//! Plain versions of the same metrics and the same filter, sample by sample, to compare results and times with.

/// Mean squared error.
pub fn mean_squared_error(a: &[u8], b: &[u8]) -> f64 {
    let square = |(a, b): (&u8, &u8)| (f64::from(*a) - f64::from(*b)) * (f64::from(*a) - f64::from(*b));
    a.iter().zip(b).map(square).sum::<f64>() / a.len() as f64
}

/// SSIM over 8x8 windows every four samples.
pub fn window_ssim(a: &[u8], b: &[u8], width: usize, height: usize) -> f64 {
    let (mut total, mut count) = (0.0, 0u32);
    for top in (0..=height - 8).step_by(4) {
        for left in (0..=width - 8).step_by(4) {
            let [mut sum_a, mut sum_b, mut squares_a, mut squares_b, mut products] = [0.0; 5];
            for index in (top..top + 8).flat_map(|y| (left..left + 8).map(move |x| y * width + x)) {
                let (a, b) = (f64::from(a[index]), f64::from(b[index]));
                sum_a += a;
                sum_b += b;
                squares_a += a * a;
                squares_b += b * b;
                products += a * b;
            }
            let (mean_a, mean_b) = (sum_a / 64.0, sum_b / 64.0);
            // Sample variance: divided by one less than the number of samples.
            let variances = (squares_a + squares_b - 64.0 * (mean_a * mean_a + mean_b * mean_b)) / 63.0;
            let covariance = (products - 64.0 * mean_a * mean_b) / 63.0;
            let (c1, c2) = (2.55 * 2.55, 7.65 * 7.65);
            total += (2.0 * mean_a * mean_b + c1) * (2.0 * covariance + c2)
                / ((mean_a * mean_a + mean_b * mean_b + c1) * (variances + c2));
            count += 1;
        }
    }
    total / f64::from(count)
}

/// SSIM under a Gaussian window whose deviation is 1.5/256 of the height, truncated at the edges, with weights in
/// integer 256ths.
pub fn gaussian_ssim(a: &[u8], b: &[u8], width: usize, height: usize) -> f64 {
    let deviation = height as f64 * 1.5 / 256.0;
    let weights = gaussian(deviation, width.min(height) as i64);
    let reach = weights.len() as i64 / 2;
    let under = |centre: usize, length: usize| {
        let range = (centre as i64 - reach).max(0)..(centre as i64 + reach + 1).min(length as i64);
        range.map(move |at| at as usize).collect::<Vec<_>>()
    };
    let weight = |centre: usize, at: usize| weights[(at as i64 - centre as i64 + reach) as usize];
    // Horizontally first: a, b, a^2 + b^2, a * b and the weight itself.
    let mut rows = vec![[0i64; 5]; width * height];
    for y in 0..height {
        for x in 0..width {
            for at in under(x, width) {
                let (weight, a, b) = (weight(x, at), i64::from(a[y * width + at]), i64::from(b[y * width + at]));
                for (sum, value) in rows[y * width + x].iter_mut().zip([a, b, a * a + b * b, a * b, 1]) {
                    *sum += weight * value;
                }
            }
        }
    }
    let (mut total, mut weights) = (0.0, 0.0);
    for y in 0..height {
        let lines = under(y, height);
        for x in 0..width {
            let mut sums = [0i64; 5];
            for at in &lines {
                for (sum, value) in sums.iter_mut().zip(rows[at * width + x]) {
                    *sum += weight(y, *at) * value;
                }
            }
            let [a, b, squares, products, weight] = sums.map(|sum| sum as f64);
            let (a, b, squares, products) = (a / weight, b / weight, squares / weight, products / weight);
            let (c1, c2) = (2.55 * 2.55, 7.65 * 7.65);
            let likeness = (2.0 * a * b + c1) * (2.0 * (products - a * b) + c2)
                / ((a * a + b * b + c1) * (squares - a * a - b * b + c2));
            total += weight * likeness;
            weights += weight;
        }
    }
    total / weights
}

fn gaussian(deviation: f64, limit: i64) -> Vec<i64> {
    let tail = (std::f64::consts::FRAC_PI_2).sqrt() * deviation / 256.0;
    let reach = if tail >= 1.0 { 0 } else { ((deviation * (-2.0 * tail.ln()).sqrt()) as i64).min(limit - 1) };
    let top = 256.0 / ((2.0 * std::f64::consts::PI).sqrt() * deviation);
    let mut weights: Vec<i64> =
        (-reach..=reach).map(|x| (top * (-0.5 * (x as f64 / deviation).powi(2)).exp()).round() as i64).collect();
    weights[reach as usize] = 0;
    weights[reach as usize] = 256 - weights.iter().sum::<i64>();
    weights
}

/// A plane scaled by the Catmull-Rom cubic, widened when shrinking: weights in 1/16384, six extra bits kept between the
/// passes, horizontally first.
pub fn scale_plane(source: &[u8], from: (usize, usize), to: (usize, usize)) -> Vec<u8> {
    let across: Vec<_> = (0..to.0).map(|x| weights(x, from.0, to.0)).collect();
    let down: Vec<_> = (0..to.1).map(|y| weights(y, from.1, to.1)).collect();
    let mut middle = vec![0i32; to.0 * from.1];
    for y in 0..from.1 {
        for (x, (start, weights)) in across.iter().enumerate() {
            let sum: i32 = weights
                .iter()
                .enumerate()
                .map(|(tap, weight)| i32::from(source[y * from.0 + start + tap]) * weight)
                .sum();
            middle[y * to.0 + x] = ((sum + 128) >> 8).clamp(-32_768, 32_767);
        }
    }
    let mut scaled = vec![0; to.0 * to.1];
    for (y, (start, weights)) in down.iter().enumerate() {
        for x in 0..to.0 {
            let sum: i32 =
                weights.iter().enumerate().map(|(tap, weight)| middle[(start + tap) * to.0 + x] * weight).sum();
            scaled[y * to.0 + x] = ((sum + (1 << 19)) >> 20).clamp(0, 255) as u8;
        }
    }
    scaled
}

fn weights(output: usize, from: usize, to: usize) -> (usize, Vec<i32>) {
    let ratio = from as f64 / to as f64;
    let stretch = ratio.max(1.0);
    let taps = ((4.0 * stretch).ceil() as usize).min(from);
    let centre = (output as f64 + 0.5) * ratio - 0.5;
    let wanted = (centre - taps as f64 / 2.0).floor() as i64 + 1;
    let start = wanted.clamp(0, (from - taps) as i64);
    let mut raw = vec![0.0; taps];
    for position in wanted - 2..wanted + taps as i64 + 2 {
        let held = position.clamp(start, start + taps as i64 - 1) - start;
        raw[held as usize] += cubic((position as f64 - centre) / stretch);
    }
    let sum: f64 = raw.iter().sum();
    let mut rounded: Vec<i32> = raw.iter().map(|weight| (weight / sum * 16_384.0).round() as i32).collect();
    let largest = (0..taps).max_by_key(|tap| rounded[*tap]).unwrap_or(0);
    rounded[largest] += 16_384 - rounded.iter().sum::<i32>();
    (start as usize, rounded)
}

fn cubic(x: f64) -> f64 {
    let x = x.abs();
    match x {
        _ if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
        _ if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        _ => 0.0,
    }
}
