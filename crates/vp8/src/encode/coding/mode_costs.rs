//! The cost of subblock modes, looked up ten times per subblock.

use std::sync::OnceLock;

use crate::bool_coder::Probability;
use crate::encode::cost::{Cost, of_bool};
use crate::syntax::SubblockMode;
use crate::syntax::intra_modes::{SUBBLOCK_MODES, SUBBLOCK_TREE, key_subblock_modes};

/// The cost of each mode, in the order of [`SubblockMode::ALL`].
pub type SubblockCosts = [Cost; 10];

/// The costs in a key frame, given the modes above and to the left.
pub fn in_key_frame(above: SubblockMode, left: SubblockMode) -> &'static SubblockCosts {
    static COSTS: OnceLock<Box<[[SubblockCosts; 10]; 10]>> = OnceLock::new();
    let costs = COSTS.get_or_init(|| {
        Box::new(SubblockMode::ALL.map(|above| {
            SubblockMode::ALL.map(|left| costs(key_subblock_modes(&[SubblockMode::Dc; 16], 0, &[above; 4], &[left; 4])))
        }))
    });
    &costs[above as usize][left as usize]
}

/// The costs in other frames.
pub fn in_other_frames() -> &'static SubblockCosts {
    static COSTS: OnceLock<SubblockCosts> = OnceLock::new();
    COSTS.get_or_init(|| costs(&SUBBLOCK_MODES))
}

fn costs(probabilities: &[Probability; 9]) -> SubblockCosts {
    SubblockMode::ALL.map(|mode| {
        let mut cost = 0;
        SUBBLOCK_TREE.walk(mode, |node, bool| cost += of_bool(probabilities[node], bool));
        cost
    })
}
