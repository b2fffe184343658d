//! Reduced ordered binary decision diagrams: sets of modes as Boolean functions (R. E. Bryant, *Graph-based algorithms for
//! Boolean function manipulation*, 1986).
//!
//! Variables are numbers and are ordered by them. Equal functions have equal ids, so a comparison is a comparison of ids.
//! Operations recurse at most once per variable.

use std::collections::HashMap;

/// A Boolean function, meaningful together with the [`Bdds`] that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bdd(u32);

impl Bdd {
    /// Never true.
    pub const FALSE: Bdd = Bdd(0);
    /// Always true.
    pub const TRUE: Bdd = Bdd(1);

    /// Whether it is never true.
    pub fn is_false(self) -> bool {
        self == Bdd::FALSE
    }
}

/// All functions made so far, sharing their nodes.
#[derive(Clone, Debug)]
pub struct Bdds {
    /// Variable, function where it is false, function where it is true.
    nodes: Vec<(u32, Bdd, Bdd)>,
    unique: HashMap<(u32, Bdd, Bdd), Bdd>,
    conjunctions: HashMap<(Bdd, Bdd), Bdd>,
    negations: HashMap<Bdd, Bdd>,
}

impl Default for Bdds {
    fn default() -> Self {
        let leaf = (u32::MAX, Bdd::FALSE, Bdd::FALSE);
        Bdds {
            nodes: vec![leaf, leaf],
            unique: HashMap::new(),
            conjunctions: HashMap::new(),
            negations: HashMap::new(),
        }
    }
}

impl Bdds {
    /// Number of nodes made so far: the measure of work.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// The function that is the variable `v`.
    pub fn var(&mut self, v: u32) -> Bdd {
        self.node(v, Bdd::FALSE, Bdd::TRUE)
    }

    fn node(&mut self, v: u32, low: Bdd, high: Bdd) -> Bdd {
        if low == high {
            return low;
        }
        let nodes = &mut self.nodes;
        *self.unique.entry((v, low, high)).or_insert_with(|| {
            nodes.push((v, low, high));
            Bdd(nodes.len() as u32 - 1)
        })
    }

    fn parts(&self, f: Bdd, v: u32) -> (Bdd, Bdd) {
        let (w, low, high) = self.nodes[f.0 as usize];
        if w == v { (low, high) } else { (f, f) }
    }

    /// `a and b`.
    pub fn and(&mut self, a: Bdd, b: Bdd) -> Bdd {
        match (a, b) {
            (Bdd::FALSE, _) | (_, Bdd::FALSE) => return Bdd::FALSE,
            (Bdd::TRUE, f) | (f, Bdd::TRUE) => return f,
            _ if a == b => return a,
            _ => {}
        }
        let key = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(&f) = self.conjunctions.get(&key) {
            return f;
        }
        let v = self.nodes[a.0 as usize].0.min(self.nodes[b.0 as usize].0);
        let ((a0, a1), (b0, b1)) = (self.parts(a, v), self.parts(b, v));
        let low = self.and(a0, b0);
        let high = self.and(a1, b1);
        let f = self.node(v, low, high);
        self.conjunctions.insert(key, f);
        f
    }

    /// `not a`.
    pub fn not(&mut self, a: Bdd) -> Bdd {
        match a {
            Bdd::FALSE => return Bdd::TRUE,
            Bdd::TRUE => return Bdd::FALSE,
            _ => {}
        }
        if let Some(&f) = self.negations.get(&a) {
            return f;
        }
        let (v, low, high) = self.nodes[a.0 as usize];
        let (low, high) = (self.not(low), self.not(high));
        let f = self.node(v, low, high);
        self.negations.insert(a, f);
        self.negations.insert(f, a);
        f
    }

    /// `a or b`.
    pub fn or(&mut self, a: Bdd, b: Bdd) -> Bdd {
        let (a, b) = (self.not(a), self.not(b));
        let f = self.and(a, b);
        self.not(f)
    }

    /// `a and not b`.
    pub fn minus(&mut self, a: Bdd, b: Bdd) -> Bdd {
        let b = self.not(b);
        self.and(a, b)
    }

    /// `f` with a value of one variable.
    fn with(&mut self, f: Bdd, x: u32, value: bool) -> Bdd {
        self.with_known(f, x, value, &mut HashMap::new())
    }

    fn with_known(&mut self, f: Bdd, x: u32, value: bool, known: &mut HashMap<Bdd, Bdd>) -> Bdd {
        if f == Bdd::TRUE || f == Bdd::FALSE {
            return f;
        }
        let (v, low, high) = self.nodes[f.0 as usize];
        if v > x {
            return f;
        }
        if v == x {
            return if value { high } else { low };
        }
        if let Some(&g) = known.get(&f) {
            return g;
        }
        let (low, high) = (self.with_known(low, x, value, known), self.with_known(high, x, value, known));
        let g = self.node(v, low, high);
        known.insert(f, g);
        g
    }

    /// Where `f` is true whatever the variable `x` is.
    pub fn for_all(&mut self, f: Bdd, x: u32) -> Bdd {
        let (a, b) = (self.with(f, x, false), self.with(f, x, true));
        self.and(a, b)
    }

    /// Where `f` is true for some value of the variable `x`.
    pub fn exists(&mut self, f: Bdd, x: u32) -> Bdd {
        let (a, b) = (self.with(f, x, false), self.with(f, x, true));
        self.or(a, b)
    }

    /// Few values of variables that make `f` true whatever the others are; `None` if nothing does.
    pub fn cube(&self, f: Bdd) -> Option<Vec<(u32, bool)>> {
        if f.is_false() {
            return None;
        }
        // Shortest path to true; children have larger variables, so the fewest decisions follow from below.
        let mut best: HashMap<Bdd, (usize, bool)> = HashMap::new();
        let mut todo = vec![f];
        while let Some(&g) = todo.last() {
            if g == Bdd::TRUE || g == Bdd::FALSE || best.contains_key(&g) {
                todo.pop();
                continue;
            }
            let (_, low, high) = self.nodes[g.0 as usize];
            let length = |h: Bdd| match h {
                Bdd::TRUE => Some(0),
                Bdd::FALSE => Some(usize::MAX),
                _ => best.get(&h).map(|b| b.0),
            };
            match (length(low), length(high)) {
                (Some(a), Some(b)) => {
                    best.insert(g, (a.min(b).saturating_add(1), b <= a));
                    todo.pop();
                }
                (a, b) => {
                    todo.extend(a.is_none().then_some(low));
                    todo.extend(b.is_none().then_some(high));
                }
            }
        }
        let (mut g, mut out) = (f, Vec::new());
        while g != Bdd::TRUE {
            let (v, low, high) = self.nodes[g.0 as usize];
            let up = best.get(&g).is_some_and(|b| b.1);
            out.push((v, up));
            g = if up { high } else { low };
        }
        Some(out)
    }

    /// The variables a function depends on, in order.
    pub fn support(&self, f: Bdd) -> Vec<u32> {
        let (mut seen, mut todo) = (std::collections::HashSet::new(), vec![f]);
        let mut out = std::collections::BTreeSet::new();
        while let Some(f) = todo.pop() {
            if f.0 > 1 && seen.insert(f) {
                let (v, low, high) = self.nodes[f.0 as usize];
                out.insert(v);
                todo.extend([low, high]);
            }
        }
        out.into_iter().collect()
    }

    /// The value of `f` when the variables have these values.
    pub fn eval(&self, f: Bdd, value: impl Fn(u32) -> bool) -> bool {
        let mut g = f;
        while g != Bdd::TRUE && g != Bdd::FALSE {
            let (v, low, high) = self.nodes[g.0 as usize];
            g = if value(v) { high } else { low };
        }
        g == Bdd::TRUE
    }

    /// The share of all combinations of values that make `f` true.
    pub fn share(&self, f: Bdd) -> f64 {
        // Nodes are numbered after their children.
        let mut share = vec![0.0; f.0 as usize + 1];
        for k in 0..share.len() {
            share[k] = match k {
                0 => 0.0,
                1 => 1.0,
                _ => {
                    let (_, low, high) = self.nodes[k];
                    0.5 * (share[low.0 as usize] + share[high.0 as usize])
                }
            };
        }
        share[f.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_agree_with_truth_tables() {
        // All functions of three variables built from (a and b) or (not a and c) and their combinations.
        let mut b = Bdds::default();
        let [x, y, z] = [b.var(0), b.var(1), b.var(2)];
        let xy = b.and(x, y);
        let nx = b.not(x);
        let nxz = b.and(nx, z);
        let f = b.or(xy, nxz);
        for k in 0..8u32 {
            let v = |i: u32| k >> i & 1 == 1;
            assert_eq!(b.eval(f, v), if v(0) { v(1) } else { v(2) });
        }
        assert_eq!(b.share(f), 0.5);
        let g = b.not(f);
        assert_eq!(b.and(f, g), Bdd::FALSE);
        assert_eq!(b.or(f, g), Bdd::TRUE);
        assert_eq!(b.minus(f, xy), nxz);
        assert_eq!(b.not(g), f);
    }

    #[test]
    fn a_cube_is_short_and_true() {
        let mut b = Bdds::default();
        let vars: Vec<Bdd> = (0..20).map(|i| b.var(i)).collect();
        let mut f = Bdd::FALSE;
        for w in vars.windows(2) {
            let both = b.and(w[0], w[1]);
            f = b.or(f, both);
        }
        let cube = b.cube(f).unwrap();
        assert!(b.eval(f, |v| cube.contains(&(v, true))));
        assert!(cube.len() <= 20);
        assert_eq!(b.cube(Bdd::FALSE), None);
        assert_eq!(b.cube(Bdd::TRUE), Some(vec![]));
    }
}
