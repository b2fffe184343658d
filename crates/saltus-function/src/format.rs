//! Numbers as text, in the manner of C's `printf` and Modelica's `String`.

/// `%.{digits}g`.
pub fn general(x: f64, digits: usize) -> String {
    let digits = digits.clamp(1, 100);
    match exponent_form(x, digits) {
        None => special(x),
        Some((mantissa, exp)) => {
            if exp < -4 || exp >= digits as i32 {
                format!("{}e{}{:02}", trim(&mantissa), if exp < 0 { '-' } else { '+' }, exp.abs())
            } else {
                trim(&format!("{:.*}", (digits as i32 - 1 - exp).max(0) as usize, x)).to_string()
            }
        }
    }
}

/// `%.{digits}e`.
pub fn scientific(x: f64, digits: usize) -> String {
    match exponent_form(x, digits.min(100) + 1) {
        None => special(x),
        Some((mantissa, exp)) => format!("{mantissa}e{}{:02}", if exp < 0 { '-' } else { '+' }, exp.abs()),
    }
}

fn special(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else if x > 0.0 {
        "inf".into()
    } else {
        "-inf".into()
    }
}

fn exponent_form(x: f64, digits: usize) -> Option<(String, i32)> {
    if !x.is_finite() {
        return None;
    }
    let s = format!("{:.*e}", digits.max(1) - 1, x);
    let (mantissa, exp) = s.split_once('e')?;
    Some((mantissa.to_string(), exp.parse().ok()?))
}

fn trim(s: &str) -> &str {
    if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.') } else { s }
}

/// Pads to a minimum width with blanks, on the right if `left` justified.
pub fn pad(s: String, width: usize, left: bool) -> String {
    let n = s.chars().count();
    if n >= width {
        return s;
    }
    let fill = " ".repeat((width - n).min(10_000));
    if left { s + &fill } else { fill + &s }
}

/// One number through a C format (with or without the leading `%`; other text is kept). `None` if it is no such format.
pub fn c_format(format: &str, x: f64) -> Option<String> {
    let (before, rest) = match format.split_once('%') {
        Some((b, r)) => (b, r),
        None => ("", format),
    };
    let flags_end = rest.find(|c: char| !"-+ #0".contains(c)).unwrap_or(rest.len());
    let (flags, rest) = rest.split_at(flags_end);
    let width_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (width, mut rest) = rest.split_at(width_end);
    let mut precision = None;
    if let Some(r) = rest.strip_prefix('.') {
        let end = r.find(|c: char| !c.is_ascii_digit()).unwrap_or(r.len());
        precision = Some(r[..end].parse::<usize>().unwrap_or(0).min(100));
        rest = &r[end..];
    }
    let rest = rest.trim_start_matches(['l', 'h', 'L']);
    let kind = rest.chars().next()?;
    let after = &rest[kind.len_utf8()..];
    let p = precision.unwrap_or(6);
    let mut body = match kind {
        'd' | 'i' => format!("{:.0}", x),
        'u' => format!("{:.0}", x.abs()),
        'x' => format!("{:x}", x as i64),
        'X' => format!("{:X}", x as i64),
        'o' => format!("{:o}", x as i64),
        'f' | 'F' => format!("{:.*}", p, x),
        'e' => scientific(x, p),
        'E' => scientific(x, p).to_uppercase(),
        'g' => general(x, p.max(1)),
        'G' => general(x, p.max(1)).to_uppercase(),
        _ => return None,
    };
    if !body.starts_with('-') {
        if flags.contains('+') {
            body.insert(0, '+');
        } else if flags.contains(' ') {
            body.insert(0, ' ');
        }
    }
    let width = width.parse::<usize>().unwrap_or(0).min(10_000);
    let n = body.chars().count();
    if flags.contains('0') && !flags.contains('-') && n < width && x.is_finite() {
        let at = usize::from(body.starts_with(['-', '+', ' ']));
        body.insert_str(at, &"0".repeat(width - n));
    }
    Some(format!("{before}{}{after}", pad(body, width, flags.contains('-'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_printf() {
        let cases = [
            (0.0, 6, "0"),
            (1.0, 6, "1"),
            (0.1, 6, "0.1"),
            (123456.0, 6, "123456"),
            (1234567.0, 6, "1.23457e+06"),
            (1e-5, 6, "1e-05"),
            (0.0001, 6, "0.0001"),
            (-2.5e100, 6, "-2.5e+100"),
            (std::f64::consts::PI, 10, "3.141592654"),
            (999999.5, 6, "1e+06"),
        ];
        for (x, p, s) in cases {
            assert_eq!(general(x, p), s);
        }
        assert_eq!(c_format("%8.3f", 1.5).unwrap(), "   1.500");
        assert_eq!(c_format("-8.3e", 1.5).unwrap(), "1.500e+00");
        assert_eq!(c_format("05d", -7.0).unwrap(), "-0007");
        assert_eq!(c_format("x = %.2g m", 0.25).unwrap(), "x = 0.25 m");
        assert_eq!(c_format("", 1.0), None);
        assert_eq!(c_format("%q", 1.0), None);
        assert_eq!(pad("ab".into(), 4, true), "ab  ");
        assert_eq!(pad("ab".into(), 4, false), "  ab");
    }
}
