//! Nanoseconds per call of each kernel, for every table of this machine: `cargo bench -p thalweg-vp8 --bench kernels
//! [-- word of a name]`. The tables take turns in one run, and the minimum of many turns is shown, which is least
//! affected by other work on the machine. The first line is the overhead of a call, which all others include.
#![allow(clippy::disallowed_methods)] // A benchmark reads the clock.

use std::hint::black_box;
use std::time::Instant;

use thalweg_vp8::kernels::{Block, BlockQuantizer, EdgeLimits, Fraction, Kernels};

/// The stride of a 720p picture, so that rows have the same distance as there.
const STRIDE: usize = 1280;

/// Calls of a kernel in one turn, and number of turns of each table.
const CALLS: u32 = 2000;
const TURNS: u32 = 60;

fn main() {
    let word = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let tables = Kernels::available();
    print!("{:<32}", "ns a call");
    tables.iter().for_each(|table| print!("{:>10}", table.name()));
    println!("{:>10}", "ratio");
    let line = |name: &str, kernel: &mut dyn FnMut(&Kernels)| {
        if !name.contains(&word) {
            return;
        }
        let mut min = vec![f64::INFINITY; tables.len()];
        for _ in 0..TURNS {
            for (min, table) in min.iter_mut().zip(&tables) {
                let start = Instant::now();
                (0..CALLS).for_each(|_| kernel(black_box(table)));
                *min = min.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
            }
        }
        print!("{name:<32}");
        min.iter().for_each(|nanoseconds| print!("{nanoseconds:>10.1}"));
        println!("{:>9.1}x", min[0] / min[min.len() - 1]);
    };
    comparisons(&line);
    transforms(&line);
    predictions(&line);
    filters(&line);
}

/// Prints the line of one kernel, given its name and a function that calls it from a table.
type Line<'a> = &'a dyn Fn(&str, &mut dyn FnMut(&Kernels));

/// Random pixels, in a range.
fn pixels(range: usize) -> Vec<u8> {
    let mut number = 1_u64;
    let mut next = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) as usize
    };
    (0..64 * STRIDE).map(|_| (100 + next() % range) as u8).collect()
}

fn comparisons(line: Line) {
    let (a, b) = (pixels(100), pixels(90));
    let (block, reference) = (&a[..], &b[5..]);
    let at = [7, 12, 5 * STRIDE + 3, 9 * STRIDE];
    macro_rules! lines {
        (one: $($kernel:ident)*) => {$(
            line(stringify!($kernel), &mut |table| {
                black_box(table.$kernel(black_box(block), STRIDE, black_box(reference), STRIDE));
            });
        )*};
        (four: $($kernel:ident)*) => {$(
            line(stringify!($kernel), &mut |table| {
                black_box(table.$kernel(black_box(block), STRIDE, black_box(reference), black_box(at), STRIDE));
            });
        )*};
    }
    line("calling one, and nothing else", &mut |table| {
        black_box((black_box(table).name().len(), black_box(block), black_box(reference)));
    });
    lines!(one: sad_16x16 sad_8x8);
    lines!(four: sad_16x16_at sad_8x8_at);
    lines!(one: satd_16x16 satd_8x8 satd_4x4 forward_dct forward_dct_pair forward_dct_four);
}

fn transforms(line: Line) {
    let block: Block = std::array::from_fn(|i| [400, -130, 61, 17][i % 4] / (1 + i as i16 / 4));
    let four = [block; 4];
    let mut plane = pixels(100);
    let quantizer = BlockQuantizer::new(20, 28, &[48; 16], &[80; 16]);
    line("idct_add", &mut |table| table.idct_add(black_box(&block), black_box(&mut plane), STRIDE));
    line("idct_add_pair", &mut |table| table.idct_add_pair(black_box(&[block; 2]), black_box(&mut plane), STRIDE));
    line("idct_add_four", &mut |table| table.idct_add_four(black_box(&four), black_box(&mut plane), STRIDE));
    line("idct_dc_add", &mut |table| table.idct_dc_add(black_box(-9), black_box(&mut plane), STRIDE));
    line("idct_dc_add_pair", &mut |table| table.idct_dc_add_pair(black_box([9, -9]), black_box(&mut plane), STRIDE));
    line("idct_dc_add_four", &mut |table| table.idct_dc_add_four(black_box([9; 4]), black_box(&mut plane), STRIDE));
    line("inverse_walsh", &mut |table| {
        black_box(table.inverse_walsh(black_box(&block)));
    });
    line("forward_walsh", &mut |table| {
        black_box(table.forward_walsh(black_box(&block)));
    });
    let (mut levels, mut restored) = ([0; 16], [0; 16]);
    line("quantize", &mut |table| {
        black_box(table.quantize(black_box(&block), black_box(&quantizer), &mut levels, &mut restored));
    });
}

fn predictions(line: Line) {
    let reference = pixels(150);
    let at = 8 * STRIDE + 8;
    let mut prediction = vec![0; 16 * 16];
    macro_rules! lines {
        ($($kernel:ident)*) => {$(
            for (x, y) in [(0, 0), (2, 0), (0, 4), (4, 6)] {
                line(&format!("{} {x}/8 {y}/8", stringify!($kernel)), &mut |table| {
                    let fraction = Fraction::of_vector(x, y);
                    table.$kernel(black_box(&reference), at, STRIDE, black_box(fraction), &mut prediction, 16);
                });
            }
        )*};
    }
    lines!(sixtap_16x16 sixtap_8x8 sixtap_8x4 sixtap_4x4 bilinear_16x16 bilinear_8x8 bilinear_8x4 bilinear_4x4);
}

fn filters(line: Line) {
    let (mut u, mut v) = (pixels(9), pixels(8));
    // Moves along a row of macroblocks, as in a real picture: at one position each call would have to wait for the
    // previous one.
    let mut macroblock = 0;
    let mut next = || {
        macroblock = (macroblock + 1) % 64;
        8 * STRIDE + 16 * macroblock + 16
    };
    let limits = EdgeLimits { edge: 60, interior: 12, high_variance: 2 };
    macro_rules! lines {
        (luma $limits:expr; $($kernel:ident)*) => {$(
            line(stringify!($kernel), &mut |table| {
                table.$kernel(black_box(&mut u), next(), STRIDE, black_box($limits));
            });
        )*};
        (chroma $limits:expr; $($kernel:ident)*) => {$(
            line(stringify!($kernel), &mut |table| {
                table.$kernel(black_box(&mut u), black_box(&mut v), next(), STRIDE, black_box($limits));
            });
        )*};
    }
    lines!(luma limits; filter_left_edge filter_upper_edge filter_inner_left_edges filter_inner_upper_edges);
    lines!(chroma limits; filter_left_edge_chroma filter_upper_edge_chroma);
    lines!(chroma limits; filter_inner_left_edge_chroma filter_inner_upper_edge_chroma);
    lines!(luma limits.edge; filter_left_edge_simply filter_upper_edge_simply);
    lines!(luma limits.edge; filter_inner_left_edges_simply filter_inner_upper_edges_simply);
}
