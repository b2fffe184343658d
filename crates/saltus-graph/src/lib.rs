//! Structural algorithms on integer graphs.
//!
//! Integers in, arrays out. This crate has never heard of equations, models or
//! derivatives of anything in particular: a *row* is a number, a *column* is a
//! number, and each returned array is defined by one formula in its doc comment.
//!
//! | question | call | source |
//! |---|---|---|
//! | which rows determine which columns? | [`hopcroft_karp`] | Hopcroft & Karp 1973 |
//! | … starting from what is already matched | [`hopcroft_karp_from`], [`augment`], [`Augmenter`] | Kuhn 1955 |
//! | … preferring cheap edges | [`weighted_matching`] | heuristic, see there |
//! | which rows are too many, which columns are too many? | [`dulmage_mendelsohn`] | Dulmage & Mendelsohn 1958 |
//! | in which order, in which blocks? | [`block_order`], [`scc`] | Tarjan 1972, Duff & Reid 1978 |
//! | how often must each row be differentiated? | [`sigma_method`] | Pryce 2001 |
//! | … the other way, as a cross-check | [`pantelides`] | Pantelides 1988 |
//! | which columns to iterate on inside a block? | [`tear`] | Elmqvist & Otter 1994; Cellier & Kofman 2006 |
//! | how much can flow, and what is the bottleneck? | [`MaxFlow`] | Dinic 1970 |
//! | which columns may share a finite-difference direction? | [`color_columns`] | Curtis, Powell & Reid 1974 |
//!
//! Conventions, true everywhere:
//!
//! * ids are dense and start at 0; [`NONE`] (`u32::MAX`) means "no partner";
//! * ids out of range are ignored, arrays too short are read as if padded with
//!   the neutral value: no function panics because sizes disagree;
//! * nothing recurses (decision diagrams aside, once per variable): a path of a million nodes is as safe as a short one;
//! * everything is deterministic: equal input, equal output.
//!
//! The pendulum `x″ = −λx, y″ = −λy − g, x² + y² = L²`, columns `x, y, λ`:
//!
//! ```
//! use saltus_graph::{Signature, block_order, sigma_method};
//!
//! let s = Signature::from_rows(
//!     3,
//!     &[vec![(0, 2), (2, 0)], vec![(1, 2), (2, 0)], vec![(0, 0), (1, 0)]],
//! );
//! let o = sigma_method(&s)?;
//! assert_eq!((o.c, o.d), (vec![0, 0, 2], vec![2, 2, 0]));
//! assert_eq!((o.index, o.dof), (3, 2));
//! // The highest derivatives x″, y″, λ are one block.
//! assert_eq!(block_order(&s.pattern(), &o.transversal), [vec![0, 1, 2]]);
//! # Ok::<(), saltus_graph::Singular>(())
//! ```

mod bdd;
mod bipartite;
mod coloring;
mod components;
mod dulmage_mendelsohn;
mod matching;
mod maxflow;
mod modal;
mod pantelides;
mod sigma;
mod tearing;

pub use bdd::{Bdd, Bdds};
pub use bipartite::Bipartite;
pub use coloring::color_columns;
pub use components::{block_order, scc, scc_csr};
pub use dulmage_mendelsohn::{DmParts, dulmage_mendelsohn};
pub use matching::{Augmenter, Matching, augment, hopcroft_karp, hopcroft_karp_from, weighted_matching};
pub use maxflow::MaxFlow;
pub use modal::{ModalMatching, modal_matching};
pub use pantelides::{Pantelides, pantelides};
pub use sigma::{Offsets, Signature, Singular, canonical_offsets, sigma_method};
pub use tearing::{TearHint, Tearing, UNSOLVABLE, tear};

/// "No partner": the id that no row, column or node has.
pub const NONE: u32 = u32::MAX;
