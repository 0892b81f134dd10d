//! The choice of new probabilities for a frame: those that save more bits than they cost.

use super::tokens::Tokens;
use crate::bool_coder::Probability;
use crate::encode::cost::{BIT, best_probability, of_bool, of_bools};
use crate::syntax::header::{CoefficientUpdates, VectorUpdates};
use crate::syntax::intra_modes::{CHROMA_TREE, LUMA_TREE};
use crate::syntax::{
    COEFFICIENT_UPDATES, CoefficientProbabilities, IntraModes, LumaMode, Probabilities, VECTOR_UPDATES,
    VectorProbabilities,
};

/// Counts of a bool: false and true.
pub type Branch = [u32; 2];

/// The new probabilities of coefficients that are worth their bits for a frame's tokens.
pub fn choose_coefficients(tokens: &Tokens, before: &CoefficientProbabilities) -> CoefficientUpdates {
    let mut updates = Vec::new();
    let before = before.as_flattened().as_flattened();
    for (context, (before, unchanged)) in
        before.iter().zip(COEFFICIENT_UPDATES.as_flattened().as_flattened()).enumerate()
    {
        if !tokens.has(context) {
            continue;
        }
        for (node, branch) in tokens.branches(context).into_iter().enumerate() {
            if let Some(better) = better(before[node], branch, unchanged[node], 8) {
                updates.push(((context * 11 + node) as u16, better));
            }
        }
    }
    CoefficientUpdates(updates)
}

/// The best probability for some bools if it saves more than the cost of coding it: `bits`, and a flag that is mostly
/// false.
fn better(before: Probability, branch: Branch, unchanged: Probability, bits: u32) -> Option<Probability> {
    let best = match bits {
        8 => best_probability(branch),
        // Seven bits can code 1 and even numbers.
        _ => (best_probability(branch) & !1).max(1),
    };
    let price = bits * BIT + of_bool(unchanged, true) - of_bool(unchanged, false).min(of_bool(unchanged, true));
    (best != before && of_bools(best, branch) + u64::from(price) < of_bools(before, branch)).then_some(best)
}

/// The new probabilities of motion vectors that are worth their bits, given the counts of bools by component and node.
pub fn choose_vectors(branch: impl Fn(usize, usize) -> Branch, before: &VectorProbabilities) -> VectorUpdates {
    VectorUpdates(std::array::from_fn(|component| {
        std::array::from_fn(|node| {
            better(before[component][node], branch(component, node), VECTOR_UPDATES[component][node], 7)
        })
    }))
}

/// Counts of the branches in the trees of intra modes outside key frames.
#[derive(Debug, Clone, Default)]
pub struct IntraCounts {
    luma: [Branch; 4],
    chroma: [Branch; 3],
}

impl IntraCounts {
    /// Counts a macroblock's modes.
    pub fn add(&mut self, modes: &IntraModes) {
        let luma = match modes.luma {
            LumaMode::Whole(mode) => Some(mode),
            LumaMode::Subblocks(_) => None,
        };
        LUMA_TREE.walk(luma, |node, bool| self.luma[node][usize::from(bool)] += 1);
        CHROMA_TREE.walk(modes.chroma, |node, bool| self.chroma[node][usize::from(bool)] += 1);
    }

    /// The new probabilities of luma and of chroma modes, if they are worth their bits.
    pub fn choose(&self, before: &Probabilities) -> (Option<[Probability; 4]>, Option<[Probability; 3]>) {
        (all_better(&before.luma_modes, &self.luma), all_better(&before.chroma_modes, &self.chroma))
    }
}

/// The best probabilities if together they save more than the eight bits that each costs.
fn all_better<const N: usize>(before: &[Probability; N], branches: &[Branch; N]) -> Option<[Probability; N]> {
    let best = branches.map(best_probability);
    let cost = |probabilities: &[Probability; N]| {
        probabilities.iter().zip(branches).map(|(&probability, &branch)| of_bools(probability, branch)).sum::<u64>()
    };
    (cost(&best) + N as u64 * 8 * u64::from(BIT) < cost(before)).then_some(best)
}
