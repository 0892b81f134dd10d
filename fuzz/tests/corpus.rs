//! Every target on stable: over a few seeds, over seeded mutations of them, and over `../shared/data` where it is.

use std::path::Path;

use thalweg_fuzz::TARGETS;
use thalweg_units::{Random, Seed};

/// One good input of each kind, for targets to be given all of.
fn seeds() -> Vec<Vec<u8>> {
    let mut y4m = b"YUV4MPEG2 W16 H16 F30:1 Ip A1:1 C420jpeg\nFRAME\n".to_vec();
    y4m.extend((0..16 * 16 * 3 / 2).map(|index| index as u8));
    vec![
        Vec::new(),
        vec![
            0xb0, 0xe0, 1, 2, 0, 0, 0, 9, 0, 0, 0, 1, 0xbe, 0xde, 0, 2, 0x33, 0, 5, 0x80, 3, 0, 0, 0, 0x90, 0x80, 7, 3,
            3, 3,
        ],
        vec![0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0x80, 1, 0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2],
        vec![0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0, 3, 0, 0, 4, 7, 0xd2, 0, 4, 0xff, 0xff, 0, 0, 0],
        vec![0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0, 2, 0xe2, 0, 0, 0, 0, 1, 0x80, 0],
        vec![0x90, 0xf0, 0x81, 2, 3, 0xa4, 0x9d, 1, 0x2a, 5, 6, 7],
        b"0\n3\n3\n17\n".to_vec(),
        y4m,
    ]
}

fn mutate(input: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let place = random.below(input.len() as u64 + 1) as usize;
        match random.below(4) {
            0 => input.insert(place, random.bits() as u8),
            1 if place < input.len() => drop(input.remove(place)),
            2 if place < input.len() => input[place] ^= 1 << random.below(8),
            _ if place < input.len() => input[place] = random.bits() as u8,
            _ => {}
        }
    }
}

#[test]
fn every_target_takes_the_seeds_and_what_becomes_of_them() {
    let mut random = Seed::new(1).child("fuzz.corpus").random();
    for mut input in seeds() {
        for _ in 0..500 {
            TARGETS.iter().for_each(|(_, target)| target(&input));
            mutate(&mut input, &mut random);
            if input.len() > 600 {
                input.truncate(400);
            }
        }
    }
}

#[test]
fn every_target_takes_what_others_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if !root.is_dir() {
        println!("skipped: ../shared/data is not here");
        return;
    }
    for folder in ["rtp-interop", "traces"] {
        visit(&root.join(folder));
    }
}

fn visit(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("readable folder") {
        let path = entry.expect("readable entry").path();
        if path.is_dir() {
            visit(&path);
        } else {
            let bytes = std::fs::read(&path).expect("readable file");
            TARGETS.iter().for_each(|(_, target)| target(&bytes));
        }
    }
}
