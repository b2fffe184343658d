//! From the Jacobian of all unknowns of a loop to that of its torn ones.
//!
//! Inner unknowns w are assigned one after the other, torn ones v are iterated on. dr/dv = ∂r/∂v + ∂r/∂w · dw/dv, where the
//! *slopes* dw/dv follow from the rows of the inner assignments in order: dw_k/dv = −(∂g_k/∂v + Σ ∂g_k/∂w_m · dw_m/dv)/(∂g_k/∂w_k).
//! Slopes that are not zero by structure are rows of sums of products like any other, over the slots of the partial derivatives;
//! what is only a sign needs none.

use crate::compile::Compiler;
use crate::spans::Spans;
use saltus_expr::{Binary, ExprId};
use saltus_program::{Batch, Chain, NEGATE, Rows, slot_of};
use std::ops::Range;

/// dr/dv of a torn loop.
#[derive(Default)]
pub struct Elimination {
    /// Computes it from the partial derivatives.
    pub chain: Chain,
    /// Slots of the slopes.
    pub slopes: Vec<u32>,
    /// Where they are.
    pub(crate) spans: Spans,
    /// (residual, torn unknown, word) of dr/dv where it is not zero by structure.
    pub entries: Vec<(u32, u32, u32)>,
    /// The rows themselves, for right-hand sides that are solved for later.
    pub(crate) rows: Vec<Eliminated>,
    /// Their entries by inner unknowns: (inner row, word).
    inner: Vec<(u32, u32)>,
    /// The words of dw/dv: (torn unknown, word).
    slope: Vec<(u32, u32)>,
}

/// A row of a torn loop, inner ones first, in order.
pub(crate) struct Eliminated {
    /// Which equation of the loop.
    pub equation: u32,
    /// Which unknown it assigns.
    pub unknown: Option<u32>,
    /// ∂g/∂w of that unknown: the sum of these words.
    own: Vec<u32>,
    inner: Range<usize>,
    slope: Range<usize>,
}

/// The number that a word stands for.
fn at(values: &[f64], word: u32) -> f64 {
    let v = values[slot_of(word)];
    if word & NEGATE != 0 { -v } else { v }
}

impl Elimination {
    /// Takes right-hand sides b of ∂(g, r)/∂(w, v) · (w, v)' = b, one per column, through the inner rows: w' for v' = 0 and
    /// what is then left of the residuals, in the order of the rows. `b` has the columns of each equation next to each other.
    pub(crate) fn forward(&self, values: &[f64], b: &[f64], columns: usize, y: &mut [f64]) {
        for (k, row) in self.rows.iter().enumerate() {
            let (done, rest) = y.split_at_mut(k * columns);
            let now = &mut rest[..columns];
            now.copy_from_slice(&b[row.equation as usize * columns..][..columns]);
            for &(m, word) in &self.inner[row.inner.clone()] {
                let a = at(values, word);
                let before = &done[m as usize * columns..][..columns];
                now.iter_mut().zip(before).for_each(|(n, b)| *n -= a * b);
            }
            if row.unknown.is_some() {
                let own: f64 = row.own.iter().map(|&word| at(values, word)).sum();
                if own != 1.0 {
                    let inverse = 1.0 / own;
                    now.iter_mut().for_each(|n| *n *= inverse);
                }
            }
        }
    }

    /// Adds dw/dv · v' to w' of an inner row; `v` has the columns of each torn unknown next to each other.
    pub(crate) fn back(&self, values: &[f64], k: usize, v: &[f64], columns: usize, w: &mut [f64]) {
        for &(t, word) in &self.slope[self.rows[k].slope.clone()] {
            let a = at(values, word);
            w.iter_mut().zip(&v[t as usize * columns..][..columns]).for_each(|(w, v)| *w += a * v);
        }
    }
}

/// An entry of the Jacobian in one row.
pub(crate) struct Entry {
    /// What it is the derivative by.
    pub by: Unknown,
    /// Where its value is; the word is negated if the value is.
    pub word: u32,
    /// Whether the value in the slot is one, or minus one (`true`).
    pub unit: Option<bool>,
}

/// An unknown of a torn loop, seen from one row.
#[derive(Clone, Copy)]
pub(crate) enum Unknown {
    /// The one that the row assigns.
    Own,
    /// Assigned by an earlier row.
    Inner(u32),
    Torn(u32),
}

#[derive(Clone, Copy)]
enum Term {
    One(u32),
    Product(u32, u32),
}

/// Terms of one sum; longer ones are summed up in parts.
const TERMS: usize = 8;

pub(crate) struct Eliminator<'a, 'c> {
    c: &'a mut Compiler<'c>,
    /// Of each inner row: (torn unknown, word of the slope).
    rows: Vec<Vec<(u32, u32)>>,
    batches: Vec<Batch>,
    entries: Vec<(u32, u32, u32)>,
    residuals: u32,
    eliminated: Vec<Eliminated>,
    inner: Vec<(u32, u32)>,
    slope: Vec<(u32, u32)>,
}

impl<'a, 'c> Eliminator<'a, 'c> {
    pub fn new(c: &'a mut Compiler<'c>) -> Self {
        Eliminator {
            c,
            rows: Vec::new(),
            batches: Vec::new(),
            entries: Vec::new(),
            residuals: 0,
            eliminated: Vec::new(),
            inner: Vec::new(),
            slope: Vec::new(),
        }
    }

    /// Appends the row of an equation: of an inner assignment if one of its entries is its own, that of `unknown`; else of a
    /// residual.
    pub fn push(&mut self, equation: usize, unknown: Option<usize>, entries: &[Entry]) {
        let from = self.inner.len();
        self.inner.extend(entries.iter().filter_map(|e| match e.by {
            Unknown::Inner(m) => Some((m, e.word)),
            _ => None,
        }));
        let sign = |unit: Option<bool>| if unit == Some(true) { NEGATE } else { 0 };
        let mut own: Vec<(u32, Option<bool>)> = Vec::new();
        let mut terms: Vec<(u32, Term)> = Vec::new();
        for e in entries {
            match e.by {
                Unknown::Own => own.push((e.word, e.unit)),
                Unknown::Torn(t) => terms.push((t, Term::One(e.word))),
                Unknown::Inner(m) => terms.extend(self.rows[m as usize].iter().map(|&(t, slope)| {
                    let term = match e.unit {
                        Some(_) => Term::One(slope ^ sign(e.unit) ^ (e.word & NEGATE)),
                        None => Term::Product(e.word, slope),
                    };
                    (t, term)
                })),
            }
        }
        // −1/own, if that is more than a sign.
        let mut flip = 0;
        let scale = match own[..] {
            [] => None,
            [(word, unit @ Some(_))] => {
                flip = NEGATE ^ sign(unit) ^ (word & NEGATE);
                None
            }
            _ => {
                let sum = self.sum(own.iter().map(|o| Term::One(o.0)).collect(), None);
                let pool = &mut self.c.sys.dae.pool;
                let (minus, hole) = (pool.num(-1.0), pool.hole(0));
                let template = pool.bin(Binary::Div, minus, hole);
                Some(self.row(template, &[sum]))
            }
        };
        terms.sort_by_key(|t| t.0);
        let mut slopes = Vec::new();
        for part in terms.chunk_by(|a, b| a.0 == b.0) {
            let flipped = part.iter().map(|t| match t.1 {
                Term::One(w) => Term::One(w ^ flip),
                Term::Product(a, b) => Term::Product(a ^ flip, b),
            });
            slopes.push((part[0].0, self.sum(flipped.collect(), scale)));
        }
        let to = self.slope.len();
        if !own.is_empty() {
            self.slope.extend(&slopes);
        }
        self.eliminated.push(Eliminated {
            equation: equation as u32,
            unknown: unknown.filter(|_| !own.is_empty()).map(|j| j as u32),
            own: own.iter().map(|o| o.0).collect(),
            inner: from..self.inner.len(),
            slope: to..self.slope.len(),
        });
        if own.is_empty() {
            let row = self.residuals;
            self.residuals += 1;
            self.entries.extend(slopes.into_iter().map(|(t, word)| (row, t, word)));
        } else {
            self.rows.push(slopes);
        }
    }

    /// The word of a sum, scaled.
    fn sum(&mut self, mut terms: Vec<Term>, scale: Option<u32>) -> u32 {
        if let ([Term::One(word)], None) = (&terms[..], scale) {
            return *word;
        }
        while terms.len() > TERMS {
            let rest = terms.split_off(TERMS);
            let first = self.sum(terms, None);
            terms = std::iter::once(Term::One(first)).chain(rest).collect();
        }
        let mut words = Vec::new();
        let pool = &mut self.c.sys.dae.pool;
        let mut total: Option<ExprId> = None;
        let hole = |words: &mut Vec<u32>, pool: &mut saltus_expr::Pool, word: u32| {
            words.push(word);
            pool.hole(words.len() as u32 - 1)
        };
        // Single values first: the fewer forms of sums there are, the fewer kernels.
        terms.sort_by_key(|t| matches!(t, Term::Product(..)));
        for t in &terms {
            let term = match *t {
                Term::One(a) => hole(&mut words, pool, a),
                Term::Product(a, b) => {
                    let (a, b) = (hole(&mut words, pool, a), hole(&mut words, pool, b));
                    pool.bin(Binary::Mul, a, b)
                }
            };
            total = Some(total.map_or(term, |sum| pool.bin(Binary::Add, sum, term)));
        }
        let mut template = total.unwrap_or_else(|| pool.num(0.0));
        if let Some(scale) = scale {
            let by = hole(&mut words, pool, scale);
            template = pool.bin(Binary::Mul, template, by);
        }
        self.row(template, &words)
    }

    /// A row over some words; where its value will be.
    fn row(&mut self, template: ExprId, words: &[u32]) -> u32 {
        let kernel = self.c.backend.kernel(&self.c.sys.dae.pool, template, words.len());
        let slot = self.c.layout.scratch();
        let words: Vec<u32> = std::iter::once(slot).chain(words.iter().copied()).collect();
        let stride = words.len();
        self.batches.push(Batch { kernel, rows: Rows::new(words, stride) });
        slot
    }

    pub fn finish(self) -> Elimination {
        let chain: Chain = self.batches.into_iter().collect();
        let mut slopes: Vec<u32> = self.rows.iter().flatten().map(|s| slot_of(s.1) as u32).collect();
        slopes.sort_unstable();
        slopes.dedup();
        let spans = Spans::new(slopes.iter().copied());
        let backend = &self.c.backend;
        let chain = chain.gathered(|k| backend.calls(k));
        let (rows, inner, slope) = (self.eliminated, self.inner, self.slope);
        Elimination { chain, slopes, spans, entries: self.entries, rows, inner, slope }
    }
}
