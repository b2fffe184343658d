//! Functions of C's math library, for `external "C"` and `external "builtin"` declarations.

use super::{ExtDerivative, External, num};
use crate::domain::unary_slope;
use saltus_expr::{Unary, unary};

macro_rules! one {
    ($symbol:literal, $op:expr) => {
        External {
            symbol: $symbol,
            call: |a| Ok(unary($op, num(a, 0)?)),
            derivative: ExtDerivative::Analytic(|a, d| {
                let x = num(a, 0)?;
                Ok(unary_slope($op, x, unary($op, x)) * num(d, 0)?)
            }),
        }
    };
}

pub(super) static LIST: &[External] = &[
    one!("sin", Unary::Sin),
    one!("cos", Unary::Cos),
    one!("tan", Unary::Tan),
    one!("asin", Unary::Asin),
    one!("acos", Unary::Acos),
    one!("atan", Unary::Atan),
    one!("sinh", Unary::Sinh),
    one!("cosh", Unary::Cosh),
    one!("tanh", Unary::Tanh),
    one!("exp", Unary::Exp),
    one!("log", Unary::Log),
    one!("log10", Unary::Log10),
    one!("sqrt", Unary::Sqrt),
    one!("fabs", Unary::Abs),
    one!("floor", Unary::Floor),
    one!("ceil", Unary::Ceil),
    External {
        symbol: "atan2",
        call: |a| Ok(num(a, 0)?.atan2(num(a, 1)?)),
        derivative: ExtDerivative::Analytic(|a, d| {
            let (y, x) = (num(a, 0)?, num(a, 1)?);
            Ok((x * num(d, 0)? - y * num(d, 1)?) / (x * x + y * y))
        }),
    },
    External {
        symbol: "pow",
        call: |a| Ok(saltus_expr::binary(saltus_expr::Binary::Pow, num(a, 0)?, num(a, 1)?)),
        derivative: ExtDerivative::Differences,
    },
    External { symbol: "fmod", call: |a| Ok(num(a, 0)? % num(a, 1)?), derivative: ExtDerivative::Differences },
];
