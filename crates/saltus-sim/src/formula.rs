//! Derivatives as formulas over the values: sums of products of partial derivatives written out, so that one kernel computes
//! all entries of a row of a matrix and what they share once, without arrays in between.
//!
//! ```text
//! y := k*(a - b), k := c*b*b   ⇒   ∂y/∂b = -k + (a - b)*(2*c*b)
//! ```

use crate::compile::Compiler;
use crate::edges::{self, Edges};
use rustc_hash::FxHashMap;
use saltus_dae::Row;
use saltus_expr::{Binary, ExprId, Node, Pool, Unary};
use saltus_program::{Batch, Chain, FEW_ROWS, KernelId, NEGATE, Rows};
use std::rc::Rc;

/// A template with the index words of its holes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Formula {
    pub template: ExprId,
    pub words: Rc<[u32]>,
}

impl Formula {
    pub fn new(c: &mut Compiler<'_>, row: &Row) -> Formula {
        let words = row.args.iter().map(|&a| c.layout.word(c.sys, a)).collect();
        Formula { template: row.template, words }
    }

    /// The value of an index word.
    pub fn value(c: &mut Compiler<'_>, word: u32) -> Formula {
        Formula { template: c.sys.dae.pool.hole(0), words: Rc::from([word]) }
    }

    pub fn negated(&self, pool: &mut Pool) -> Formula {
        Formula { template: pool.neg(self.template), words: self.words.clone() }
    }
}

/// A product: a partial derivative and its sign ([`NEGATE`] or none), and what it is multiplied by, if it is not one.
pub(crate) type Factors = (Formula, u32, Option<Formula>);

/// Formulas longer than this are not written out.
const LONGEST: usize = 120;
/// Factors longer than this are better computed once for all that read them.
const LONGEST_FACTOR: usize = 16;

/// Formulas put together so far: rows of one kind are put together once.
#[derive(Default)]
pub(crate) struct Formulas {
    sums: FxHashMap<Vec<u32>, Option<ExprId>>,
    cheap: FxHashMap<ExprId, bool>,
}

/// Several formulas over one list of words.
#[derive(Default)]
struct Joint {
    words: Vec<u32>,
    /// What is the same for rows of one kind: templates, and which words their holes are.
    kind: Vec<u32>,
}

impl Joint {
    fn add(&mut self, f: &Formula) {
        self.kind.extend([f.template.index() as u32, f.words.len() as u32]);
        for w in f.words.iter() {
            let at = self.words.iter().position(|x| x == w).unwrap_or_else(|| {
                self.words.push(*w);
                self.words.len() - 1
            });
            self.kind.push(at as u32);
        }
    }

    /// The template of a formula over the words of all.
    fn template(&self, pool: &mut Pool, f: &Formula) -> ExprId {
        pool.substitute(f.template, |pool, k| {
            let w = f.words[k as usize];
            let at = self.words.iter().position(|x| *x == w).unwrap_or(0);
            pool.hole(at as u32)
        })
    }
}

impl Formulas {
    /// Whether computing a factor again wherever it is read costs less than keeping it.
    pub fn is_cheap(&mut self, pool: &Pool, template: ExprId) -> bool {
        *self.cheap.entry(template).or_insert_with(|| {
            let (mut length, mut plain) = (0, true);
            pool.visit(template, |_, n| {
                length += 1;
                plain &= match n {
                    Node::Const(_) | Node::Hole(_) => true,
                    Node::Unary(op, _) => matches!(op, Unary::Neg | Unary::Abs),
                    Node::Binary(op, ..) => matches!(op, Binary::Add | Binary::Sub | Binary::Mul),
                    _ => false,
                };
            });
            plain && length <= LONGEST_FACTOR
        })
    }

    /// Σ ± p·q, unless it is too long.
    pub fn sum(&mut self, pool: &mut Pool, parts: &[Factors]) -> Option<Formula> {
        let mut joint = Joint::default();
        for (p, sign, q) in parts {
            joint.kind.push(sign | u32::from(q.is_some()));
            joint.add(p);
            q.iter().for_each(|q| joint.add(q));
        }
        let template = match self.sums.get(&joint.kind) {
            Some(known) => *known,
            None => {
                let mut sum = None;
                for (p, sign, q) in parts {
                    let mut product = joint.template(pool, p);
                    if let Some(q) = q {
                        let q = joint.template(pool, q);
                        product = pool.mul(product, q);
                    }
                    sum = Some(match (sum, sign & NEGATE != 0) {
                        (None, false) => product,
                        (None, true) => pool.neg(product),
                        (Some(s), false) => pool.add(s, product),
                        (Some(s), true) => pool.sub(s, product),
                    });
                }
                let mut length = 0;
                let sum = sum?;
                pool.visit(sum, |_, _| length += 1);
                let sum = (length <= LONGEST).then_some(sum);
                self.sums.insert(joint.kind, sum);
                sum
            }
        };
        template.map(|template| Formula { template, words: joint.words.into() })
    }
}

/// Rows of formulas computed together, by kind.
#[derive(Default)]
pub(crate) struct Together {
    kinds: FxHashMap<Vec<u32>, usize>,
    rows: Vec<Kind>,
}

/// Rows of one kind.
#[derive(Default)]
struct Kind {
    /// The formulas of the first row.
    first: Vec<Formula>,
    holes: usize,
    words: Vec<u32>,
    rows: usize,
}

/// More results than this at a time would not stay in registers.
pub(crate) const MOST_RESULTS: usize = 16;

impl Together {
    /// Where a row belongs.
    pub fn kind(&mut self, formulas: &[(u32, Formula)]) -> usize {
        let mut joint = Joint::default();
        formulas.iter().for_each(|f| joint.add(&f.1));
        let next = self.rows.len();
        let kind = *self.kinds.entry(joint.kind).or_insert(next);
        if kind == next {
            let first = formulas.iter().map(|f| f.1.clone()).collect();
            self.rows.push(Kind { first, holes: joint.words.len(), ..Kind::default() });
        }
        let k = &mut self.rows[kind];
        k.words.extend(formulas.iter().map(|f| f.0));
        k.words.extend(joint.words);
        k.rows += 1;
        kind
    }

    /// Whether there are enough rows of a kind for a loop.
    pub fn are_many(&self, kind: usize) -> bool {
        self.rows[kind].rows > FEW_ROWS
    }

    /// The kernels of all kinds with many rows; `None` if the backend has no kernels with several results. Destinations are
    /// counted from `base`.
    pub fn chain(self, c: &mut Compiler<'_>, base: u32) -> Option<Chain> {
        let mut batches = Vec::new();
        for mut k in self.rows.into_iter().filter(|k| k.rows > FEW_ROWS) {
            let mut joint = Joint::default();
            k.first.iter().for_each(|f| joint.add(f));
            let pool = &mut c.sys.dae.pool;
            let templates: Vec<ExprId> = k.first.iter().map(|f| joint.template(pool, f)).collect();
            let slopes = Edges::Slopes { past: c.past };
            let templates: Vec<ExprId> = templates.into_iter().map(|t| edges::rounded(pool, t, slopes)).collect();
            let kernel: KernelId = c.backend.joint(pool, &templates, k.holes)?;
            let (results, stride) = (templates.len(), templates.len() + k.holes);
            k.words.chunks_exact_mut(stride).for_each(|row| row[..results].iter_mut().for_each(|w| *w += base));
            batches.push(Batch { kernel, rows: Rows::joint(k.words, stride, results) });
        }
        Some(Chain::from(batches))
    }
}
