//! Mutations of inputs as a fuzzer makes them.

use thalweg_units::Random;

/// Changes up to five bytes: plus one, minus one, or any other value.
pub fn mutate(input: &mut Vec<u8>, random: &mut Random) {
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
