//! The random generators of Vigna's xorshift family, with states as pairs of 32-bit Integers (low word first).

use super::{ExtArg, ExtDerivative, ExtResult, External, array, num, set, set_array};
use rustc_hash::FxHashMap;
use std::sync::{LazyLock, Mutex};

fn words(a: &[ExtArg], i: usize, n: usize) -> Result<Vec<u64>, String> {
    let (_, v) = array(a, i)?;
    if v.len() < 2 * n {
        return Err(format!("the state has {} elements instead of {}", v.len(), 2 * n));
    }
    let word = |x: f64| u64::from(x as i64 as u32);
    Ok((0..n).map(|k| word(v[2 * k]) | word(v[2 * k + 1]) << 32).collect())
}

fn integers(state: &[u64]) -> Vec<f64> {
    state.iter().flat_map(|w| [f64::from(*w as u32 as i32), f64::from((*w >> 32) as u32 as i32)]).collect()
}

/// A number in (0, 1).
fn unit(x: u64) -> f64 {
    x as i64 as f64 * (0.5f64).powi(64) + 0.5
}

fn xorshift64star(a: &mut [ExtArg]) -> ExtResult {
    let mut x = words(a, 0, 1)?[0];
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    // The library's generators keep the number drawn as the state, unlike the published ones.
    x = x.wrapping_mul(2685821657736338717);
    set_array(a, 1, &integers(&[x]))?;
    set(a, 2, unit(x))?;
    Ok(0.0)
}

fn xorshift128plus(a: &mut [ExtArg]) -> ExtResult {
    let s = words(a, 0, 2)?;
    let (mut s1, s0) = (s[0], s[1]);
    s1 ^= s1 << 23;
    let next = (s1 ^ s0 ^ (s1 >> 17) ^ (s0 >> 26)).wrapping_add(s0);
    set_array(a, 1, &integers(&[s0, next]))?;
    set(a, 2, unit(next))?;
    Ok(0.0)
}

fn step1024(s: &mut [u64], p: &mut usize) -> f64 {
    let s0 = s[*p];
    *p = (*p + 1) & 15;
    let mut s1 = s[*p];
    s1 ^= s1 << 31;
    s[*p] = (s1 ^ (s1 >> 11)) ^ (s0 ^ (s0 >> 30));
    unit(s[*p].wrapping_mul(1181783497276652981))
}

fn xorshift1024star(a: &mut [ExtArg]) -> ExtResult {
    let mut s = words(a, 0, 16)?;
    let mut p = array(a, 0)?.1.get(32).map_or(0, |p| *p as i64 as usize & 15);
    let r = step1024(&mut s, &mut p);
    let mut out = integers(&s);
    out.push(p as f64);
    set_array(a, 1, &out)?;
    set(a, 2, r)?;
    Ok(0.0)
}

/// States of the impure generator, by id.
static IMPURE: LazyLock<Mutex<FxHashMap<i64, (Vec<u64>, usize)>>> = LazyLock::new(Default::default);

fn set_internal_state(a: &mut [ExtArg]) -> ExtResult {
    let s = words(a, 0, 16)?;
    let p = array(a, 0)?.1.get(32).map_or(0, |p| *p as i64 as usize & 15);
    IMPURE.lock().unwrap_or_else(|e| e.into_inner()).insert(num(a, 2)? as i64, (s, p));
    Ok(0.0)
}

/// The numbers and states of all impure generators, as the library writes states.
pub fn impure_generators() -> Vec<(f64, Vec<f64>)> {
    let all = IMPURE.lock().unwrap_or_else(|e| e.into_inner());
    let mut list: Vec<(f64, Vec<f64>)> =
        all.iter().map(|(id, (s, p))| (*id as f64, integers(s).into_iter().chain([*p as f64]).collect())).collect();
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    list
}

fn impure_random(a: &mut [ExtArg]) -> ExtResult {
    match IMPURE.lock().unwrap_or_else(|e| e.into_inner()).get_mut(&(num(a, 0)? as i64)) {
        Some((s, p)) => Ok(step1024(s, p)),
        None => Err("the impure random generator is used before initializeImpureRandom".into()),
    }
}

fn automatic_seed(_: &mut [ExtArg]) -> ExtResult {
    let t = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let x = (t ^ u64::from(std::process::id()) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Ok(f64::from((x >> 33) as u32 as i32))
}

macro_rules! random {
    ($symbol:literal, $call:expr) => {
        External { symbol: concat!("ModelicaRandom_", $symbol), call: $call, derivative: ExtDerivative::Zero }
    };
}

pub(super) static LIST: &[External] = &[
    random!("xorshift64star", xorshift64star),
    random!("xorshift128plus", xorshift128plus),
    random!("xorshift1024star", xorshift1024star),
    random!("setInternalState_xorshift1024star", set_internal_state),
    random!("impureRandom_xorshift1024star", impure_random),
    random!("automaticGlobalSeed", automatic_seed),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(call: fn(&mut [ExtArg]) -> ExtResult, state: &mut Vec<f64>) -> f64 {
        let vector = |data: &Vec<f64>| ExtArg::Array { dims: vec![data.len()], data: data.clone() };
        let mut a = [vector(state), vector(state), ExtArg::Num(0.0)];
        call(&mut a).unwrap();
        *state = array(&a, 1).unwrap().1.to_vec();
        num(&a, 2).unwrap()
    }

    /// The numbers every tool draws with local seed 10 and global seed 67867967.
    #[test]
    fn sequence_of_the_library() {
        let mut seed = vec![10.0, 67867967.0];
        for _ in 0..10 {
            draw(xorshift64star, &mut seed);
        }
        let mut state = seed.clone();
        draw(xorshift64star, &mut seed);
        state.extend(&seed);
        assert_eq!(state, [-1673359383.0, -248632645.0, -2101581925.0, -1740092094.0]);
        for r in [0.300542722, 0.261378294, 0.370168059, 0.433996782, 0.983588292] {
            assert!((draw(xorshift128plus, &mut state) - r).abs() < 1e-9);
        }
    }

    #[test]
    fn uniform_and_reproducible() {
        for (call, n) in
            [(xorshift64star as fn(&mut [ExtArg]) -> ExtResult, 2), (xorshift128plus, 4), (xorshift1024star, 33)]
        {
            let mut state: Vec<f64> = (0..n).map(|i| f64::from(123456789 + 7919 * i)).collect();
            if n == 33 {
                state[32] = 0.0;
            }
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..20000 {
                let r = draw(call, &mut state);
                assert!(r > 0.0 && r < 1.0);
                sum += r;
                squares += r * r;
            }
            assert!((sum / 20000.0 - 0.5).abs() < 0.01, "{n}");
            assert!((squares / 20000.0 - 1.0 / 3.0).abs() < 0.01, "{n}");
        }
    }
}
