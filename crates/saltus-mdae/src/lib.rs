//! The mini-languages of the MODRIO document (tables 3.1 and 4.1), for research and teaching.
//!
//! ```text
//! x, y : num = 1;                       // a numerical variable, with its start value
//! g : const 9.81;                       // a number with a name
//! taut : pred x^2 + y^2 >= 1;           // a predicate
//! never : inv not (a and b);            // an invariant
//! e1 : when T do x'' = tension*x;       // a guarded equation; T and F are the truth values
//! e2 : when not taut do tension = 0;
//! hit : when down do v+ = -0.8*v;       // a right limit, set when the guard becomes true
//! d : when T do 0 <= v ⟂ i >= 0;        // complementarity (also written _|_)
//! ```
//!
//! `x'` is a derivative (table 4.1). `x•` is the next value (table 3.1): such a system has a structure and a scheme, and
//! no continuous run.
//!
//! A system is written as a Modelica model, definition by definition on the same lines, so everything behind the front end
//! and every line number is shared: before `e2 : when not taut do tension = 0`, after
//! `equation if not taut then tension = 0; end if;`.

/// A system written as a Modelica model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The name of the model.
    pub name: String,
    /// Its text, line by line that of the system.
    pub text: String,
    /// It speaks of next values: there is nothing to integrate.
    pub difference: bool,
}

/// What is wrong, and where: (first byte, byte after the last, message).
pub type Problem = (usize, usize, String);

/// Translates the text of a system called `name`.
pub fn translate(name: &str, text: &str) -> Result<Translation, Vec<Problem>> {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("M_{name}") };
    let clean = without_comments(text);
    let mut t = Translator { difference: false, problems: Vec::new() };
    let mut out = format!("model {name} ");
    let mut at = 0;
    for part in clean.split(';') {
        let lead = part.len() - part.trim_start().len();
        out.extend(part[..lead].chars().filter(|c| *c == '\n'));
        let body = part.trim();
        if !body.is_empty() {
            t.definition(body, at + lead, &mut out);
        }
        let tail = part.len() - part.trim_end().len();
        if lead < part.len() {
            out.extend(part[part.len() - tail..].chars().filter(|c| *c == '\n'));
        }
        at += part.len() + 1;
    }
    out.push_str(&format!(" end {name};\n"));
    if t.problems.is_empty() { Ok(Translation { name, text: out, difference: t.difference }) } else { Err(t.problems) }
}

/// Comments as blanks, so that places stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(p) = rest.find("//") {
        let end = rest[p..].find('\n').map_or(rest.len(), |e| p + e);
        out.push_str(&rest[..p]);
        out.extend(std::iter::repeat_n(' ', end - p));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

struct Translator {
    difference: bool,
    problems: Vec<Problem>,
}

impl Translator {
    fn definition(&mut self, body: &str, at: usize, out: &mut String) {
        let Some((names, term)) = body.split_once(':') else {
            self.problems.push((at, at + body.len(), "a definition is written `name : term`".into()));
            return;
        };
        let offset = at + names.len() + 1;
        let lead = term.len() - term.trim_start().len();
        let (term, offset) = (term.trim_start(), offset + lead);
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        if let Some(bad) = names.iter().find(|n| !identifier(n)) {
            self.problems.push((at, at + body.len(), format!("`{bad}` is not a name")));
            return;
        }
        let keyword: String = term.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
        let rest = &term[keyword.len()..];
        let place = offset + keyword.len();
        if names.len() > 1 && keyword != "num" {
            self.problems.push((at, at + body.len(), "only numerical variables are defined several at once".into()));
            return;
        }
        match keyword.as_str() {
            "num" => {
                let start = rest.trim();
                let start = match start.strip_prefix('=') {
                    Some(v) => format!("(start = {}, fixed = true)", self.expression(v)),
                    None if start.is_empty() => String::new(),
                    None => {
                        self.problems.push((place, place + rest.len(), "after `num` comes `= start value`".into()));
                        return;
                    }
                };
                let list: Vec<String> = names.iter().map(|n| format!("{n}{start}")).collect();
                out.push_str(&format!("public Real {};", list.join(", ")));
            }
            "const" => {
                let value = self.expression(rest);
                out.push_str(&format!("public parameter Real {} = {value};", names[0]));
            }
            "pred" => {
                let value = self.expression(rest);
                out.push_str(&format!("public Boolean {0}; equation {0} = {value};", names[0]));
            }
            "inv" => {
                let value = proposition(rest);
                out.push_str(&format!("equation assert({value}, \"invariant {}\");", names[0]));
            }
            "when" => self.equation(rest, place, out),
            other => self.problems.push((
                offset,
                offset + other.len().max(1),
                format!("`{other}` is no term: it is num, const, pred, inv or when"),
            )),
        }
    }

    fn equation(&mut self, rest: &str, place: usize, out: &mut String) {
        let Some(p) = words(rest).into_iter().find(|w| w.1 == "do").map(|w| w.0) else {
            self.problems.push((
                place,
                place + rest.len(),
                "a guarded equation is written `when guard do equation`".into(),
            ));
            return;
        };
        let (guard, body) = (proposition(&rest[..p]), &rest[p + 2..]);
        if guard.trim().is_empty() {
            self.problems.push((place, place + p, "the guard is missing".into()));
            return;
        }
        let always = guard.trim() == "true";
        let body_at = place + p + 2;
        let perpendicular = body.find('⟂').map(|i| (i, '⟂'.len_utf8())).or_else(|| body.find("_|_").map(|i| (i, 3)));
        let text = if let Some((i, n)) = perpendicular {
            let (a, b) = (body[..i].trim(), body[i + n..].trim());
            let bare = |s: &str| s.replace(' ', "");
            let (Some(a), Some(b)) = (a.split_once("<="), b.rsplit_once(">=")) else {
                self.problems.push((
                    body_at,
                    body_at + body.len(),
                    "complementarity is written `0 <= a ⟂ b >= 0`".into(),
                ));
                return;
            };
            if bare(a.0) != "0" || bare(b.1) != "0" {
                self.problems.push((
                    body_at,
                    body_at + body.len(),
                    "complementarity is written `0 <= a ⟂ b >= 0`".into(),
                ));
                return;
            }
            format!("Saltus.complementarity({}, {});", self.expression(a.1), self.expression(b.0))
        } else {
            let Some((left, right)) = body.split_once('=') else {
                self.problems.push((body_at, body_at + body.len(), "an equation needs `=`".into()));
                return;
            };
            let limit = left.trim().strip_suffix(['+', '⁺']).map(str::trim_end);
            if let Some(var) = limit.filter(|v| identifier(v)) {
                let value = self.expression(right);
                out.push_str(&format!("equation when {guard} then reinit({var}, {value}); end when;"));
                return;
            }
            format!("{} = {};", self.expression(left), self.expression(right))
        };
        if always {
            out.push_str(&format!("equation {text}"));
        } else {
            out.push_str(&format!("equation if {guard} then {text} end if;"));
        }
    }

    /// Primes and bullets become derivatives.
    fn expression(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if !(c.is_ascii_alphabetic() || c == '_') {
                out.push(c);
                continue;
            }
            let mut name = String::from(c);
            while let Some(&d) = chars.peek() {
                if !(d.is_ascii_alphanumeric() || d == '_') {
                    break;
                }
                name.push(d);
                chars.next();
            }
            let mut order = 0;
            while let Some(&d) = chars.peek() {
                match d {
                    '\'' | '′' | '’' => order += 1,
                    '•' => {
                        order += 1;
                        self.difference = true;
                    }
                    _ => break,
                }
                chars.next();
            }
            out.push_str(&"der(".repeat(order));
            out.push_str(&name);
            out.push_str(&")".repeat(order));
        }
        out
    }
}

fn identifier(s: &str) -> bool {
    let mut chars = s.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Words with their places.
fn words(s: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = None;
    for (i, c) in s.char_indices().chain([(s.len(), ' ')]) {
        let inside = c.is_ascii_alphanumeric() || c == '_';
        match (inside, start) {
            (true, None) => start = Some(i),
            (false, Some(from)) => {
                out.push((from, &s[from..i]));
                start = None;
            }
            _ => {}
        }
    }
    out
}

/// A propositional formula: T and F are the truth values.
fn proposition(s: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (p, w) in words(s) {
        out.push_str(&s[at..p]);
        out.push_str(match w {
            "T" => "true",
            "F" => "false",
            w => w,
        });
        at = p + w.len();
    }
    out.push_str(&s[at..]);
    out.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_stay_on_their_lines() {
        let t = translate(
            "cup",
            "x, y : num = 1;\nT : num; // tension\ne1 : when T do x'' = T*x;\ne4 : when not taut do T = 0\n",
        )
        .unwrap();
        assert_eq!(
            t.text,
            "model cup public Real x(start =  1, fixed = true), y(start =  1, fixed = true);\npublic Real T; \
             \nequation  der(der(x))  =  T*x;\nequation if not taut then  T  =  0; end if;\n end cup;\n"
                .replace("public Real T; \n", "public Real T;\n")
        );
        assert!(!t.difference);
    }

    #[test]
    fn right_limits_complementarity_and_next_values() {
        let t = translate("b", "h : when down do v+ = -0.8*v; d : when T do 0 <= u ⟂ i >= 0; e : when F do x• = y")
            .unwrap();
        assert!(t.text.contains("when down then reinit(v,  -0.8*v); end when;"), "{}", t.text);
        assert!(t.text.contains("Saltus.complementarity( u, i );"), "{}", t.text);
        assert!(t.text.contains("if false then  der(x)  =  y; end if;"), "{}", t.text);
        assert!(t.difference);
    }

    #[test]
    fn mistakes_have_places() {
        let problems = translate("m", "x : num;\ny : number").unwrap_err();
        assert_eq!(problems, [(13, 19, "`number` is no term: it is num, const, pred, inv or when".to_string())]);
        assert_eq!(translate("m", "nothing here").unwrap_err().len(), 1);
        assert_eq!(translate("m", "e : when a x = 1").unwrap_err().len(), 1);
        assert_eq!(translate("m", "e : when a do 0 <= x ⟂ y").unwrap_err().len(), 1);
    }
}
