//! Units as texts (Modelica 3.6, chapter 19): `N.m`, `J/(kg.K)`, `kg.m/s2`. Two texts may mean the same unit.

/// A unit over the base units of the SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// How many of the coherent unit one of it is.
    factor: f64,
    /// Exponents of m, kg, s, A, K, mol, cd.
    exponents: [i32; 7],
}

const ONE: Unit = Unit { factor: 1.0, exponents: [0; 7] };

/// Symbol, factor, exponents of m, kg, s, A, K, mol, cd; whether prefixes may stand before it.
#[rustfmt::skip]
const SYMBOLS: &[(&str, f64, [i32; 7], bool)] = &[
    ("m", 1.0, [1, 0, 0, 0, 0, 0, 0], true),
    ("g", 1e-3, [0, 1, 0, 0, 0, 0, 0], true),
    ("s", 1.0, [0, 0, 1, 0, 0, 0, 0], true),
    ("A", 1.0, [0, 0, 0, 1, 0, 0, 0], true),
    ("K", 1.0, [0, 0, 0, 0, 1, 0, 0], true),
    ("mol", 1.0, [0, 0, 0, 0, 0, 1, 0], true),
    ("cd", 1.0, [0, 0, 0, 0, 0, 0, 1], true),
    ("rad", 1.0, [0; 7], true),
    ("sr", 1.0, [0; 7], false),
    ("deg", std::f64::consts::PI / 180.0, [0; 7], false),
    ("Hz", 1.0, [0, 0, -1, 0, 0, 0, 0], true),
    ("N", 1.0, [1, 1, -2, 0, 0, 0, 0], true),
    ("Pa", 1.0, [-1, 1, -2, 0, 0, 0, 0], true),
    ("bar", 1e5, [-1, 1, -2, 0, 0, 0, 0], true),
    ("J", 1.0, [2, 1, -2, 0, 0, 0, 0], true),
    ("W", 1.0, [2, 1, -3, 0, 0, 0, 0], true),
    ("C", 1.0, [0, 0, 1, 1, 0, 0, 0], true),
    ("V", 1.0, [2, 1, -3, -1, 0, 0, 0], true),
    ("F", 1.0, [-2, -1, 4, 2, 0, 0, 0], true),
    ("Ohm", 1.0, [2, 1, -3, -2, 0, 0, 0], true),
    ("S", 1.0, [-2, -1, 3, 2, 0, 0, 0], true),
    ("Wb", 1.0, [2, 1, -2, -1, 0, 0, 0], true),
    ("T", 1.0, [0, 1, -2, -1, 0, 0, 0], true),
    ("H", 1.0, [2, 1, -2, -2, 0, 0, 0], true),
    ("lm", 1.0, [0, 0, 0, 0, 0, 0, 1], true),
    ("lx", 1.0, [-2, 0, 0, 0, 0, 0, 1], true),
    ("min", 60.0, [0, 0, 1, 0, 0, 0, 0], false),
    ("h", 3600.0, [0, 0, 1, 0, 0, 0, 0], false),
    ("d", 86400.0, [0, 0, 1, 0, 0, 0, 0], false),
    ("l", 1e-3, [3, 0, 0, 0, 0, 0, 0], true),
    ("L", 1e-3, [3, 0, 0, 0, 0, 0, 0], true),
];

const PREFIXES: &[(&str, f64)] = &[
    ("da", 1e1),
    ("h", 1e2),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("u", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
];

impl Unit {
    /// The unit that a text means; nothing where it is not one that is known here.
    pub fn parse(text: &str) -> Option<Unit> {
        let mut rest = text;
        let unit = quotient(&mut rest)?;
        rest.is_empty().then_some(unit)
    }

    /// Whether both are the same, but for rounding of factors.
    pub fn same(&self, other: &Unit) -> bool {
        self.exponents == other.exponents && (self.factor / other.factor - 1.0).abs() < 1e-9
    }

    fn times(mut self, other: Unit, power: i32) -> Unit {
        self.factor *= other.factor.powi(power);
        self.exponents.iter_mut().zip(other.exponents).for_each(|(a, b)| *a += b * power);
        self
    }

    fn symbol(name: &str) -> Option<Unit> {
        let known = |name: &str| SYMBOLS.iter().find(|s| s.0 == name);
        if let Some(&(_, factor, exponents, _)) = known(name) {
            return Some(Unit { factor, exponents });
        }
        PREFIXES.iter().find_map(|(prefix, scale)| {
            let &(_, factor, exponents, _) = known(name.strip_prefix(prefix)?).filter(|s| s.3)?;
            Some(Unit { factor: scale * factor, exponents })
        })
    }
}

/// `product [ "/" factor ]`: at most one division, whose divisor is a factor or a product in parentheses.
fn quotient(rest: &mut &str) -> Option<Unit> {
    let over = product(rest)?;
    match rest.strip_prefix('/') {
        Some(r) => {
            *rest = r;
            Some(over.times(factor(rest)?, -1))
        }
        None => Some(over),
    }
}

fn product(rest: &mut &str) -> Option<Unit> {
    let mut unit = factor(rest)?;
    while let Some(r) = rest.strip_prefix('.') {
        *rest = r;
        unit = unit.times(factor(rest)?, 1);
    }
    Some(unit)
}

fn factor(rest: &mut &str) -> Option<Unit> {
    if let Some(r) = rest.strip_prefix('(') {
        *rest = r;
        let unit = quotient(rest)?;
        *rest = rest.strip_prefix(')')?;
        return Some(unit);
    }
    if let Some(r) = rest.strip_prefix('1') {
        *rest = r;
        return Some(ONE);
    }
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (name, after) = rest.split_at(letters);
    let unit = Unit::symbol(name)?;
    let end = after.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+').unwrap_or(after.len());
    let (power, after) = after.split_at(end);
    *rest = after;
    match power {
        "" => Some(unit),
        p => Some(ONE.times(unit, p.parse().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        Unit::parse(a).unwrap().same(&Unit::parse(b).unwrap())
    }

    #[test]
    fn one_unit_has_many_names() {
        assert!(same("N.m", "J") && same("N", "kg.m/s2") && same("J/(kg.K)", "m2/(s2.K)") && same("rad/s", "s-1"));
        assert!(
            same("1/s", "Hz") && same("km", "km") && same("V.A", "W") && same("mm", "mm") && same("l/min", "l/min")
        );
        assert!(!same("m", "s") && !same("mm", "m") && !same("deg", "rad") && !same("bar", "Pa") && !same("min", "m"));
    }

    #[test]
    fn what_is_not_known_is_no_unit() {
        assert!(["", "degC", "furlong", "m/s/s", "m..s", "kg.", "mdeg", "(m"].iter().all(|u| Unit::parse(u).is_none()));
    }
}
