//! The bitstream as values: the content of frames, with reading and writing side by side (RFC 6386 sections 7 to 11,
//! 13, 16, 17 and 19).

mod corrupt;
mod frame;
pub mod header;
pub mod intra_modes;
mod layout;
mod macroblocks;
pub mod modes;
pub mod motion;
pub mod motion_vectors;
mod probabilities;
mod survey;
mod tables;
pub mod tokens;
pub mod tree;

pub use corrupt::{Corrupt, WriteError};
pub use frame::{Frame, Macroblock};
pub use header::{FrameHeader, FrameKind, Partitions};
pub use intra_modes::{BlockMode, IntraModes, LumaMode, SubblockMode};
pub use layout::{FrameWriter, OpenFrame, PartLengths};
pub use macroblocks::{Edges, MacroblockReader, MacroblockWriter};
pub use modes::{MacroblockModes, ModeCoding, Neighbour, Neighbours, Prediction};
pub use motion::{Motion, MotionMode, PartMode, Reference, SignBias, Split, SplitLayout};
pub use motion_vectors::MotionVector;
pub use probabilities::{CoefficientProbabilities, Probabilities, VECTOR_UPDATES, VectorProbabilities};
pub use survey::{Bounds, Survey};
pub use tables::COEFFICIENT_UPDATES;
pub use tokens::{BlockKind, Coefficients, EdgeContext};
