//! `ModelicaStrings_*`: positions count characters from 1.

use super::{ExtArg, ExtDerivative, ExtResult, External, num, set, string};
use crate::strings::intern;

fn chars(a: &[ExtArg], i: usize) -> Result<Vec<char>, String> {
    Ok(string(a, i)?.chars().collect())
}

fn start(a: &[ExtArg], i: usize) -> Result<usize, String> {
    Ok((num(a, i)?.max(1.0) as usize) - 1)
}

fn blank(s: &[char], mut i: usize) -> usize {
    while i < s.len() && s[i].is_whitespace() {
        i += 1;
    }
    i
}

fn digits(s: &[char], mut i: usize) -> usize {
    while i < s.len() && s[i].is_ascii_digit() {
        i += 1;
    }
    i
}

fn sign(s: &[char], i: usize, unsigned: bool) -> Option<usize> {
    match s.get(i) {
        Some('+' | '-') if unsigned => None,
        Some('+' | '-') => Some(i + 1),
        _ => Some(i),
    }
}

fn substring(a: &mut [ExtArg]) -> ExtResult {
    let s = chars(a, 0)?;
    let (from, to) = (num(a, 1)?.max(1.0) as usize, num(a, 2)?.max(0.0) as usize);
    let to = to.min(s.len());
    if from > to {
        return Ok(0.0);
    }
    Ok(intern(&s[from - 1..to].iter().collect::<String>()))
}

fn compare(a: &mut [ExtArg]) -> ExtResult {
    let (x, y) = (string(a, 0)?, string(a, 1)?);
    let order = if num(a, 2)? != 0.0 { x.cmp(&y) } else { x.to_lowercase().cmp(&y.to_lowercase()) };
    // The library's Compare: Less, Equal, Greater.
    Ok(f64::from(order as i8) + 2.0)
}

fn scan_real(a: &mut [ExtArg]) -> ExtResult {
    let (s, from, unsigned) = (chars(a, 0)?, start(a, 1)?, num(a, 2)? != 0.0);
    let begin = blank(&s, from);
    let found = sign(&s, begin, unsigned).and_then(|i| {
        let mut end = digits(&s, i);
        let mut any = end > i;
        if s.get(end) == Some(&'.') {
            let e = digits(&s, end + 1);
            any |= e > end + 1;
            if any {
                end = e;
            }
        }
        if !any {
            return None;
        }
        if matches!(s.get(end), Some('e' | 'E')) {
            let k = sign(&s, end + 1, false)?;
            let e = digits(&s, k);
            if e > k {
                end = e;
            }
        }
        let v = s[begin..end].iter().collect::<String>().parse::<f64>().ok()?;
        Some((end, v))
    });
    let (next, v) = found.map_or((num(a, 1)?, 0.0), |(e, v)| (e as f64 + 1.0, v));
    set(a, 3, next)?;
    set(a, 4, v)?;
    Ok(0.0)
}

fn scan_integer(a: &mut [ExtArg]) -> ExtResult {
    let (s, from, unsigned) = (chars(a, 0)?, start(a, 1)?, num(a, 2)? != 0.0);
    let begin = blank(&s, from);
    let found = sign(&s, begin, unsigned).and_then(|i| {
        let end = digits(&s, i);
        if end == i || matches!(s.get(end), Some('.' | 'e' | 'E')) {
            return None;
        }
        let v = s[begin..end].iter().collect::<String>().parse::<i32>().ok()?;
        Some((end, f64::from(v)))
    });
    let (next, v) = found.map_or((num(a, 1)?, 0.0), |(e, v)| (e as f64 + 1.0, v));
    set(a, 3, next)?;
    set(a, 4, v)?;
    Ok(0.0)
}

fn scan_string(a: &mut [ExtArg]) -> ExtResult {
    let (s, from) = (chars(a, 0)?, start(a, 1)?);
    let begin = blank(&s, from);
    let mut found = None;
    if s.get(begin) == Some(&'"') {
        let mut i = begin + 1;
        let mut text = String::new();
        while let Some(c) = s.get(i) {
            match c {
                '"' => {
                    found = Some((i + 1, intern(&text)));
                    break;
                }
                '\\' if s.get(i + 1) == Some(&'"') => {
                    text.push('"');
                    i += 1;
                }
                c => text.push(*c),
            }
            i += 1;
        }
    }
    let (next, v) = found.map_or((num(a, 1)?, 0.0), |(e, v)| (e as f64 + 1.0, v));
    set(a, 2, next)?;
    set(a, 3, v)?;
    Ok(0.0)
}

fn scan_identifier(a: &mut [ExtArg]) -> ExtResult {
    let (s, from) = (chars(a, 0)?, start(a, 1)?);
    let begin = blank(&s, from);
    let mut end = begin;
    if s.get(begin).is_some_and(|c| c.is_ascii_alphabetic()) {
        while s.get(end).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_') {
            end += 1;
        }
    }
    let found = end > begin;
    let next = if found { end as f64 + 1.0 } else { num(a, 1)? };
    set(a, 2, next)?;
    set(a, 3, if found { intern(&s[begin..end].iter().collect::<String>()) } else { 0.0 })?;
    Ok(0.0)
}

/// The hash of Arash Partow over the bytes, which gives the values in the library's documentation.
fn hash(a: &mut [ExtArg]) -> ExtResult {
    let mut h = 0xAAAA_AAAAu32;
    for (i, b) in string(a, 0)?.bytes().enumerate() {
        let c = u32::from(b);
        h ^= if i % 2 == 0 { (h << 7) ^ c.wrapping_mul(h >> 3) } else { !((h << 11).wrapping_add(c ^ (h >> 5))) };
    }
    Ok(f64::from(h as i32))
}

macro_rules! text {
    ($symbol:literal, $call:expr) => {
        External { symbol: concat!("ModelicaStrings_", $symbol), call: $call, derivative: ExtDerivative::Zero }
    };
}

pub(super) static LIST: &[External] = &[
    text!("length", |a| Ok(chars(a, 0)?.len() as f64)),
    text!("substring", substring),
    text!("compare", compare),
    text!("scanReal", scan_real),
    text!("scanInteger", scan_integer),
    text!("scanString", scan_string),
    text!("scanIdentifier", scan_identifier),
    text!("skipWhiteSpace", |a| Ok(blank(&chars(a, 0)?, start(a, 1)?) as f64 + 1.0)),
    text!("hashString", hash),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::text;

    fn s(x: &str) -> ExtArg {
        ExtArg::Num(intern(x))
    }
    fn n(x: f64) -> ExtArg {
        ExtArg::Num(x)
    }

    #[test]
    fn hashes_of_the_documentation() {
        assert_eq!(hash(&mut [s("this is a test")]), Ok(1827717433.0));
        assert_eq!(hash(&mut [s("Controller.noise1")]), Ok(-1025762750.0));
    }

    #[test]
    fn scanning() {
        let real = |x: &str, from: f64, unsigned: f64| {
            let mut a = [s(x), n(from), n(unsigned), n(0.0), n(0.0)];
            scan_real(&mut a).unwrap();
            (num(&a, 3).unwrap(), num(&a, 4).unwrap())
        };
        assert_eq!(real("  -1.5e3 x", 1.0, 0.0), (9.0, -1500.0));
        assert_eq!(real("  -1.5e3 x", 1.0, 1.0), (1.0, 0.0));
        assert_eq!(real(".5", 1.0, 0.0), (3.0, 0.5));
        assert_eq!(real("1e", 1.0, 0.0), (2.0, 1.0));
        assert_eq!(real("abc", 2.0, 0.0), (2.0, 0.0));
        assert_eq!(real("", 9.0, 0.0), (9.0, 0.0));
        let mut a = [s("  ab_1+"), n(1.0), n(0.0), n(0.0)];
        scan_identifier(&mut a).unwrap();
        assert_eq!((num(&a, 2).unwrap(), &*text(num(&a, 3).unwrap())), (7.0, "ab_1"));
        let mut a = [s("x \"a\\\"b\" y"), n(2.0), n(0.0), n(0.0)];
        scan_string(&mut a).unwrap();
        assert_eq!((num(&a, 2).unwrap(), &*text(num(&a, 3).unwrap())), (9.0, "a\"b"));
        assert_eq!(&*text(substring(&mut [s("hello"), n(2.0), n(3.0)]).unwrap()), "el");
        assert_eq!(compare(&mut [s("a"), s("B"), n(0.0)]), Ok(1.0));
        assert_eq!(compare(&mut [s("a"), s("B"), n(1.0)]), Ok(3.0));
    }
}
