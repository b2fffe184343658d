//! The mini-languages of the MODRIO document (tables 3.1 and 4.1), for research and teaching.
//!
//! ```text
//! x, y : num = 1;                       // a numerical variable, with its start value
//! x' : num = 0;                         // the start value of its derivative (or x• : num = 0, of its next value)
//! g : const 9.81;                       // a number with a name
//! taut : pred x^2 + y^2 >= 1;           // a predicate
//! never : inv not (a and b);            // an invariant
//! e1 : when T do x'' = tension*x;       // a guarded equation; T and F are the truth values
//! e2 : when not taut do tension = 0;
//! hit : when down do v+ = -0.8*v;       // a right limit, set when the guard becomes true
//! d : when T do 0 <= v ⟂ i >= 0;        // complementarity (also written _|_)
//! u : dummy when not taut do c = 0;     // determines what nothing else does (section 3.3.2)
//! ```
//!
//! `x'` is a derivative and `x+` a right limit (table 4.1); `x•` is the next value (table 3.1). A system speaks of the one or
//! of the other. Names in a proposition are predicates, names in predicates and equations are numerical: the document's
//! well-formedness.
//!
//! A system is written as a Modelica model, definition by definition on the same lines, so everything behind the front end
//! and every line number is shared: before `e2 : when not taut do tension = 0`, after
//! `equation if not taut then tension = 0; end if;`. Next values become derivatives; who runs them knows that they are not.

mod text;

use saltus_base::Anchor;
use std::collections::{BTreeMap, BTreeSet};
use text::{Name, Piece, identifier, mark, pieces, plain, reserved, take_marks, without_comments};

/// A system written as a Modelica model.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// The name of the model.
    pub name: String,
    /// Its text, line by line that of the system.
    pub text: String,
    /// It speaks of next values: there is nothing to integrate.
    pub difference: bool,
    /// Start values of next values: (variable, how far ahead, value).
    pub ahead: Vec<(String, u8, f64)>,
    /// Variables of the model that the system does not name.
    pub hidden: Vec<String>,
    /// Where the pieces of the text come from.
    pub anchors: Vec<Anchor>,
}

/// The name of the Boolean that tells whether a numerical variable, or its value `ahead` instants later, takes part in an
/// instant (is not *dead*).
pub fn alive(variable: &str, ahead: usize) -> String {
    format!("'{variable}{} alive'", "•".repeat(ahead))
}

/// The name of the Boolean that tells whether the instant before has determined a numerical variable.
pub fn held(variable: &str) -> String {
    format!("'{variable} held'")
}

/// What is wrong, and where: (first byte, byte after the last, message).
pub type Problem = (usize, usize, String);

/// Translates the text of a system called `name`.
pub fn translate(name: &str, text: &str) -> Result<Translation, Vec<Problem>> {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !reserved(&name);
    let name = if good { name } else { format!("M_{name}") };
    let clean = without_comments(text);
    let mut t = Translator::default();
    let mut parts: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    for part in clean.split(';') {
        parts.push((part, at));
        at += part.len() + 1;
    }
    for &(part, at) in &parts {
        t.declare(part, at);
    }
    let mut out = format!("model {name} ");
    for &(part, at) in &parts {
        let lead = part.len() - part.trim_start().len();
        out.extend(part[..lead].chars().filter(|c| *c == '\n'));
        let body = part.trim();
        if !body.is_empty() {
            let lines = |s: &str| s.matches('\n').count();
            let from = out.len();
            out.push_str(&mark(at + lead, at + lead + body.len(), false));
            t.definition(body, at + lead, &mut out);
            let written = lines(&out[from..]);
            out.extend(std::iter::repeat_n('\n', lines(body).saturating_sub(written)));
        }
        if lead < part.len() {
            let tail = part.len() - part.trim_end().len();
            out.extend(part[part.len() - tail..].chars().filter(|c| *c == '\n'));
        }
    }
    t.rest(&mut out);
    out.push_str(&format!(" end {name};\n"));
    if let (Some(a), Some(b)) = (t.next, t.derivative) {
        let at = a.max(b);
        t.problems.push((
            at,
            at + 1,
            "a system speaks of next values (x•, table 3.1) or of derivatives and right limits (x', x+, table 4.1), not of both"
                .into(),
        ));
    }
    if t.problems.is_empty() {
        let (text, anchors) = take_marks(&out);
        let hidden = t.watched.iter().flat_map(|(v, k)| [alive(v, *k), held(v), next_text(v, *k)]).collect();
        Ok(Translation { name, text, difference: t.next.is_some(), ahead: t.ahead, hidden, anchors })
    } else {
        t.problems.sort();
        t.problems.dedup();
        Err(t.problems)
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Num,
    Const,
    Pred,
    Other,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Num => "numerical",
            Kind::Const => "a number",
            Kind::Pred => "a predicate",
            Kind::Other => "an equation or an invariant",
        }
    }
}

/// Where a name stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Proposition,
    Predicate,
    Equation,
}

#[derive(Default)]
struct Translator {
    kinds: BTreeMap<String, Kind>,
    /// Texts of predicates with their places, for shifted ones.
    predicates: BTreeMap<String, (String, usize)>,
    /// Shifted predicates in use: (name, how far).
    shifted: BTreeSet<(String, usize)>,
    /// Right limits that are solved for: variable and primes.
    limits: BTreeSet<(String, usize)>,
    /// The equations they stand in.
    jumps: Vec<Jump>,
    /// Derivatives that need a variable of their own, since their right limit is asked for.
    speeds: BTreeSet<(String, usize)>,
    ahead: Vec<(String, u8, f64)>,
    /// Variables with a start value.
    started: BTreeSet<String>,
    /// How far variables stand shifted.
    ticking: BTreeMap<String, usize>,
    /// Guards with their places, and the variables in the equations they guard, with their shifts.
    guards: Vec<(String, usize, BTreeMap<String, usize>)>,
    /// Variables, and how far ahead, that may be dead where a guard or an invariant reads them.
    watched: BTreeSet<(String, usize)>,
    /// Where the first next value and the first derivative or right limit stand.
    next: Option<usize>,
    derivative: Option<usize>,
    problems: Vec<Problem>,
}

/// A guarded equation of right limits.
struct Jump {
    guard: String,
    of: BTreeSet<(String, usize)>,
    text: String,
    at: usize,
    len: usize,
}

/// A definition in its parts.
struct Definition<'a> {
    names: Vec<(Name, usize)>,
    keyword: &'a str,
    /// What follows the keyword, and where.
    rest: &'a str,
    place: usize,
}

impl Translator {
    fn problem(&mut self, at: usize, len: usize, text: impl Into<String>) {
        self.problems.push((at, at + len.max(1), text.into()));
    }

    fn split<'a>(&mut self, body: &'a str, at: usize) -> Option<Definition<'a>> {
        let Some((names, term)) = body.split_once(':') else {
            self.problem(at, body.len(), "a definition is written `name : term`");
            return None;
        };
        let mut list = Vec::new();
        let mut place = at;
        for n in names.split(',') {
            let lead = n.len() - n.trim_start().len();
            match identifier(n.trim()) {
                Some(name) => list.push((name, place + lead)),
                None => {
                    self.problem(at, body.len(), format!("`{}` is not a name", n.trim()));
                    return None;
                }
            }
            place += n.len() + 1;
        }
        let offset = at + names.len() + 1 + (term.len() - term.trim_start().len());
        let term = term.trim_start();
        let end = term.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(term.len());
        Some(Definition { names: list, keyword: &term[..end], rest: &term[end..], place: offset + end })
    }

    /// First pass: what names stand for.
    fn declare(&mut self, part: &str, at: usize) {
        let lead = part.len() - part.trim_start().len();
        let (body, at) = (part.trim(), at + lead);
        if body.is_empty() {
            return;
        }
        let Some(d) = self.split(body, at) else { return };
        let kind = match d.keyword {
            "num" => Kind::Num,
            "const" => Kind::Const,
            "pred" => Kind::Pred,
            _ => Kind::Other,
        };
        if kind == Kind::Pred
            && let Some((n, _)) = d.names.first()
        {
            self.predicates.insert(n.base.clone(), (d.rest.to_string(), d.place));
        }
        for (n, place) in &d.names {
            // A start value of a derivative or next value speaks of a variable that is defined elsewhere.
            let ahead = n.marks() > 0 && kind == Kind::Num;
            if reserved(&n.base) {
                self.problem(*place, n.base.len(), format!("`{}` is a reserved word, not a name", n.base));
            }
            if !ahead && self.kinds.insert(n.base.clone(), kind).is_some() {
                self.problem(*place, n.base.len(), format!("`{}` is defined twice", n.base));
            }
        }
        for n in names(d.rest).into_iter().filter(|n| n.bullets > 0) {
            let most = self.ticking.entry(n.base).or_insert(0);
            *most = n.bullets.max(*most);
        }
        if kind == Kind::Num && d.rest.trim_start().starts_with('=') {
            self.started.extend(d.names.iter().filter(|n| n.0.marks() == 0).map(|n| n.0.base.clone()));
        }
        let guarded = d.rest.trim_start().strip_prefix("when").filter(|_| d.keyword == "dummy");
        if let Some(rest) = guarded.or((d.keyword == "when").then_some(d.rest))
            && let Some(p) = find_do(rest)
        {
            let place = d.place + d.rest.len() - rest.len();
            let mut of: BTreeMap<String, usize> = BTreeMap::new();
            for n in names(&rest[p + 2..]) {
                let most = of.entry(n.base).or_insert(0);
                *most = n.bullets.max(*most);
            }
            self.guards.push((rest[..p].to_string(), place, of));
        }
        // Right limits: those of an equation `x+ = value` are set; the others are solved for.
        if d.keyword == "when"
            && let Some(p) = find_do(d.rest)
        {
            let body = &d.rest[p + 2..];
            let found: Vec<Name> = names(body).into_iter().filter(|n| n.plus).collect();
            if !found.is_empty() && set_limit(body).is_none() {
                for n in found {
                    self.limits.insert((n.base.clone(), n.primes));
                }
            }
            for n in names(body).into_iter().filter(|n| n.plus && n.primes > 0) {
                self.speeds.insert((n.base, n.primes));
            }
        }
    }

    /// Second pass.
    fn definition(&mut self, body: &str, at: usize, out: &mut String) {
        let Some(d) = self.split(body, at) else { return };
        let Definition { names, keyword, rest, place } = d;
        if names.len() > 1 && keyword != "num" {
            self.problem(at, body.len(), "only numerical variables are defined several at once");
            return;
        }
        if keyword != "num"
            && let Some((n, p)) = names.iter().find(|n| n.0.marks() > 0)
        {
            self.problem(*p, n.base.len(), "only start values are given for derivatives and next values");
            return;
        }
        let name = &names[0].0.base;
        match keyword {
            "num" => self.variables(&names, rest, place, out),
            "const" => {
                let value = self.expression(rest, place, Place::Equation, 0);
                out.push_str(&format!("public parameter Real {name} = {value};"));
            }
            "pred" => {
                let value = self.expression(rest, place, Place::Predicate, 0);
                out.push_str(&format!("public Boolean {name}; equation {name} = {value};"));
            }
            "inv" => {
                let mut value = self.expression(rest, place, Place::Proposition, 0);
                for (v, k) in self.mortal(rest) {
                    value = format!("({value}) or not {}", alive(&v, k));
                }
                out.push_str(&format!("equation assert({value}, \"invariant {name}\");"));
            }
            "when" => self.equation(rest, place, false, out),
            "dummy" => {
                let lead = rest.len() - rest.trim_start().len();
                match rest.trim_start().strip_prefix("when") {
                    Some(r) => self.equation(r, place + lead + 4, true, out),
                    None => {
                        self.problem(place, rest.len(), "a dummy equation is written `dummy when guard do equation`")
                    }
                }
            }
            other => self.problem(
                place - other.len(),
                other.len(),
                format!("`{other}` is no term: it is num, const, pred, inv, when or dummy"),
            ),
        }
    }

    fn variables(&mut self, names: &[(Name, usize)], rest: &str, place: usize, out: &mut String) {
        let start = rest.trim();
        let value = match start.strip_prefix('=') {
            Some(v) => Some(self.expression(v, place + rest.len() - v.len(), Place::Equation, 0)),
            None if start.is_empty() => None,
            None => {
                self.problem(place, rest.len(), "after `num` comes `= start value`");
                return;
            }
        };
        for (n, at) in names {
            if n.marks() == 0 {
                let start = value.as_ref().map_or(String::new(), |v| format!("(start = {v}, fixed = true)"));
                out.push_str(&format!("public Real {}{}{start};", mark(*at, at + n.base.len(), true), n.base));
                continue;
            }
            if self.kinds.get(&n.base) != Some(&Kind::Num) {
                self.problem(*at, n.base.len(), format!("`{}` is no numerical variable", n.base));
            }
            let Some(value) = &value else {
                self.problem(*at, n.base.len(), "a start value is missing");
                continue;
            };
            if n.plus {
                self.problem(*at, n.base.len(), "a right limit has no start value");
            } else if n.bullets > 0 {
                self.next.get_or_insert(*at);
                match plain(value).replace(' ', "").parse() {
                    Ok(x) => self.ahead.push((n.base.clone(), n.bullets as u8, x)),
                    Err(_) => self.problem(*at, n.base.len(), "the start value of a next value is a number"),
                }
            } else {
                self.derivative.get_or_insert(*at);
                out.push_str(&format!("initial equation {} = {value};", self.derivative_text(&n.base, n.primes)));
            }
        }
    }

    fn equation(&mut self, rest: &str, place: usize, dummy: bool, out: &mut String) {
        let Some(p) = find_do(rest) else {
            self.problem(place, rest.len(), "a guarded equation is written `when guard do equation`");
            return;
        };
        if rest[..p].trim().is_empty() {
            self.problem(place, p, "the guard is missing");
            return;
        }
        let guard = self.guard(&rest[..p], place);
        let (body, at) = (&rest[p + 2..], place + p + 2);
        let found = names(body);
        if found.iter().any(|n| n.plus) && (plain(&guard) == "true" || dummy) {
            self.problem(at, body.len(), "a right limit needs a guard that becomes true: it is set at that instant");
            return;
        }
        let perpendicular = body.find('⟂').map(|i| (i, '⟂'.len_utf8())).or_else(|| body.find("_|_").map(|i| (i, 3)));
        let text = if let Some((i, n)) = perpendicular {
            let bare = |s: &str| s.replace(' ', "");
            let (left, right) = (&body[..i], &body[i + n..]);
            let sides = left.split_once("<=").zip(right.rsplit_once(">="));
            let Some(((zero, a), (b, nought))) = sides.filter(|(l, r)| !dummy && bare(l.0) == "0" && bare(r.1) == "0")
            else {
                self.problem(at, body.len(), "complementarity is written `0 <= a ⟂ b >= 0`");
                return;
            };
            let _ = nought;
            let a = self.expression(a, at + zero.len() + 2, Place::Equation, 0);
            let b = self.expression(b, at + i + n, Place::Equation, 0);
            format!("Saltus.complementarity({a}, {b});")
        } else {
            let Some((left, right)) = body.split_once('=') else {
                self.problem(at, body.len(), "an equation needs `=`");
                return;
            };
            let value_at = at + left.len() + 1;
            if let Some(n) = set_limit(body).filter(|n| !self.limits.contains(&(n.base.clone(), n.primes))) {
                self.derivative.get_or_insert(at);
                self.known(&n, at, Place::Equation);
                let value = self.expression(right, value_at, Place::Equation, 0);
                let var = self.speed(&n.base, n.primes);
                out.push_str(&format!("equation when {guard} then reinit({var}, {value}); end when;"));
                return;
            }
            let (l, r) =
                (self.expression(left, at, Place::Equation, 0), self.expression(right, value_at, Place::Equation, 0));
            if found.iter().any(|n| n.plus) {
                // All that speak of the same right limits stand in one if-equation, see `rest`.
                let of = found.into_iter().filter(|n| n.plus).map(|n| (n.base, n.primes)).collect();
                let guard = plain(&guard);
                self.jumps.push(Jump { guard, of, text: format!("{l} = {r};"), at, len: body.len() });
                return;
            }
            if dummy { format!("Saltus.dummy(({l}) - ({r}));") } else { format!("{l} = {r};") }
        };
        if plain(&guard) == "true" {
            out.push_str(&format!("equation {text}"));
        } else {
            out.push_str(&format!("equation if {guard} then {text} end if;"));
        }
    }

    /// A guard as Modelica: true where its proposition is true and reads nothing dead (MODRIO, 3.9).
    fn guard(&mut self, text: &str, at: usize) -> String {
        let lead = text.len() - text.trim_start().len();
        let guard = self.expression(text.trim(), at + lead, Place::Proposition, 0);
        let mortal = self.mortal(text);
        if mortal.is_empty() {
            return guard;
        }
        let alive: Vec<String> = mortal.iter().map(|(v, k)| alive(v, *k)).collect();
        format!("({guard}) and {}", alive.join(" and "))
    }

    /// Whether no equation determines a variable, so far ahead, always.
    fn may_die(&self, v: &str, ahead: usize) -> bool {
        let reaches = |of: &BTreeMap<String, usize>| of.get(v).is_some_and(|most| *most >= ahead);
        !self.ticking.is_empty()
            && self.kinds.get(v) == Some(&Kind::Num)
            && !self.guards.iter().any(|g| g.0.trim() == "T" && reaches(&g.2))
    }

    /// What a proposition reads, variable and how far ahead, that no equation determines always: it may be dead.
    fn mortal(&mut self, proposition: &str) -> BTreeSet<(String, usize)> {
        let mut out = BTreeSet::new();
        if self.ticking.is_empty() {
            return out;
        }
        for n in names(proposition) {
            match self.predicates.get(&n.base) {
                Some((text, _)) => out.extend(names(text).into_iter().map(|m| (m.base, m.bullets + n.bullets))),
                None => {
                    out.insert((n.base, n.bullets));
                }
            }
        }
        out.retain(|(v, k)| self.may_die(v, *k));
        self.watched.extend(out.iter().cloned());
        out
    }

    /// What is not dead: variables in an equation whose guard is true, and those that the instant before has determined (who
    /// runs the system says which these are).
    fn living(&mut self, out: &mut String) {
        let mut done = BTreeSet::new();
        while let Some((v, k)) = self.watched.difference(&done).next().cloned() {
            done.insert((v.clone(), k));
            let (name, held, started) = (alive(&v, k), held(&v), self.started.contains(&v));
            let mut when: Vec<String> = Vec::new();
            if k == 0 && (started || self.ticking.contains_key(&v)) {
                out.push_str(&format!(
                    " public Boolean {held}(start = {started}, fixed = true); equation {held} = pre({held});"
                ));
                when.push(held);
            }
            for (guard, at, of) in self.guards.clone() {
                if of.get(&v).is_some_and(|most| *most >= k) {
                    when.push(format!("({})", plain(&self.guard(&guard, at))));
                }
            }
            let when = if when.is_empty() { "false".into() } else { when.join(" or ") };
            out.push_str(&format!(" public Boolean {name}; equation {name} = {when};"));
            if k > 0 {
                // A next value has a name of its own where it may be dead: no equation then speaks of it.
                let (next, of) = (next_text(&v, k), self.derivative_text(&v, k));
                out.push_str(&format!(" public Real {next}; equation if {name} then {next} = {of}; end if;"));
            }
        }
    }

    /// What is not written where it was defined: right limits that are solved for, derivatives with a name, shifted
    /// predicates.
    fn rest(&mut self, out: &mut String) {
        for (base, primes) in self.speeds.clone() {
            let var = self.speed(&base, primes);
            let of = if primes > 1 && self.speeds.contains(&(base.clone(), primes - 1)) {
                format!("der({})", self.speed(&base, primes - 1))
            } else {
                format!("{}{base}{}", "der(".repeat(primes), ")".repeat(primes))
            };
            out.push_str(&format!(" public Real {var}; equation {var} = {of};"));
        }
        for (base, primes) in &self.limits {
            out.push_str(&format!(" public Real {};", limit_text(base, *primes)));
        }
        self.jump_groups(out);
        let mut done = BTreeSet::new();
        while let Some((base, k)) = self.shifted.difference(&done).next().cloned() {
            done.insert((base.clone(), k));
            let Some((text, at)) = self.predicates.get(&base).cloned() else { continue };
            let value = self.expression(&text, at, Place::Predicate, k);
            let name = format!("'{base}{}'", "•".repeat(k));
            out.push_str(&format!(" public Boolean {name}; equation {name} = {value};"));
        }
        self.living(out);
    }

    /// Right limits that are solved for together: a branch for each guard, with as many equations as limits.
    ///
    /// `when hit do a+ + b+ = a + b; when hit do a+ - b+ = b - a` ⇒
    /// `if hit then a+ + b+ = a + b; a+ - b+ = b - a; else a+ = a; b+ = b; end if; when hit then reinit(a, a+); …`
    fn jump_groups(&mut self, out: &mut String) {
        let mut left = std::mem::take(&mut self.jumps);
        while !left.is_empty() {
            let mut group = vec![left.remove(0)];
            let mut of = group[0].of.clone();
            out.push_str(&mark(group[0].at, group[0].at + group[0].len, false));
            while let Some(k) = left.iter().position(|j| j.of.intersection(&of).next().is_some()) {
                let j = left.remove(k);
                of.extend(j.of.iter().cloned());
                group.push(j);
            }
            let mut guards: Vec<&str> = Vec::new();
            for j in &group {
                if !guards.contains(&j.guard.as_str()) {
                    guards.push(&j.guard);
                }
            }
            let keep =
                |me: &Self, l: &(String, usize)| format!(" {} = {};", limit_text(&l.0, l.1), me.speed(&l.0, l.1));
            out.push_str(" equation");
            let mut wrong = Vec::new();
            for (k, guard) in guards.iter().enumerate() {
                let mine: Vec<&Jump> = group.iter().filter(|j| j.guard == *guard).collect();
                let asked: BTreeSet<_> = mine.iter().flat_map(|j| j.of.iter().cloned()).collect();
                if asked.len() != mine.len() {
                    let text = format!("{} equations for {} right limits", mine.len(), asked.len());
                    wrong.push((mine[0].at, mine[0].at + mine[0].len, text));
                }
                out.push_str(&format!(" {} {guard} then", if k == 0 { "if" } else { "elseif" }));
                mine.iter().for_each(|j| out.push_str(&format!(" {}", j.text)));
                of.iter().filter(|l| !asked.contains(*l)).for_each(|l| out.push_str(&keep(self, l)));
            }
            out.push_str(" else");
            of.iter().for_each(|l| out.push_str(&keep(self, l)));
            out.push_str(" end if;");
            let any = guards.join(" or ");
            for l in &of {
                let (var, limit) = (self.speed(&l.0, l.1), limit_text(&l.0, l.1));
                out.push_str(&format!(" when {any} then reinit({var}, {limit}); end when;"));
            }
            self.problems.extend(wrong);
        }
    }

    /// The variable a right limit belongs to.
    fn speed(&self, base: &str, primes: usize) -> String {
        if primes == 0 { base.to_string() } else { format!("'{base}{}'", "\\'".repeat(primes)) }
    }

    fn derivative_text(&self, base: &str, order: usize) -> String {
        // From the highest derivative that has a name of its own.
        match (1..=order).rev().find(|&k| self.speeds.contains(&(base.to_string(), k))) {
            Some(k) => format!("{}{}{}", "der(".repeat(order - k), self.speed(base, k), ")".repeat(order - k)),
            None => format!("{}{base}{}", "der(".repeat(order), ")".repeat(order)),
        }
    }

    /// Checks that a name may stand where it does.
    fn known(&mut self, n: &Name, at: usize, place: Place) {
        let kind = self.kinds.get(&n.base).copied();
        let ok = match (kind, place) {
            (None, _) => n.base == "time",
            (Some(Kind::Num | Kind::Const), Place::Predicate | Place::Equation) => true,
            (Some(Kind::Pred), Place::Proposition) => true,
            _ => false,
        };
        if ok {
            return;
        }
        let text = match kind {
            None => format!("`{}` is not defined", n.base),
            Some(k) => {
                let (is, wanted) = (
                    k.text(),
                    match place {
                        Place::Proposition => "a proposition is made of predicates",
                        Place::Predicate => "a predicate is made of numerical variables",
                        Place::Equation => "an equation is made of numerical variables",
                    },
                );
                format!("`{}` is {is}: {wanted}", n.base)
            }
        };
        self.problem(at, n.base.len(), text);
    }

    /// An expression or proposition as Modelica, its variables shifted `shift` times more.
    fn expression(&mut self, text: &str, at: usize, place: Place, shift: usize) -> String {
        // `when x > 1 do …`: a predicate written where it is used.
        let relation = text.contains(['<', '>']) || text.contains("==");
        let mut out = String::new();
        let mut seen = 0;
        for piece in pieces(text) {
            let (n, p) = match piece {
                Piece::Text(s) => {
                    out.push_str(&mark(at + seen, at + seen + s.len(), true));
                    out.push_str(s);
                    seen += s.len();
                    continue;
                }
                Piece::Name(n, p, end) => {
                    seen = end;
                    out.push_str(&mark(at + p, at + end, false));
                    (n, at + p)
                }
            };
            let call = n.marks() == 0 && text[p - at + n.base.len()..].trim_start().starts_with('(');
            if matches!(n.base.as_str(), "not" | "and" | "or" | "true" | "false") || call {
                out.push_str(&n.base);
                continue;
            }
            if place == Place::Proposition && n.marks() == 0 && (n.base == "T" || n.base == "F") {
                out.push_str(if n.base == "T" { "true" } else { "false" });
                continue;
            }
            let place = match place {
                Place::Proposition if relation && self.kinds.get(&n.base) != Some(&Kind::Pred) => Place::Predicate,
                place => place,
            };
            self.known(&n, p, place);
            if n.bullets > 0 {
                self.next.get_or_insert(p);
            }
            if n.primes > 0 || n.plus {
                self.derivative.get_or_insert(p);
            }
            if place == Place::Proposition {
                if n.primes > 0 || n.plus {
                    self.problem(
                        p,
                        n.base.len(),
                        format!("the predicate `{}` has no derivative and no right limit", n.base),
                    );
                }
                match n.bullets + shift {
                    0 => out.push_str(&n.base),
                    k => {
                        self.shifted.insert((n.base.clone(), k));
                        out.push_str(&format!("'{}{}'", n.base, "•".repeat(k)));
                    }
                }
                continue;
            }
            if n.marks() > 0 && self.kinds.get(&n.base) != Some(&Kind::Num) {
                self.problem(p, n.base.len(), format!("`{}` is no numerical variable", n.base));
            }
            if n.plus && place == Place::Predicate {
                self.problem(p, n.base.len(), "a right limit stands in equations only");
            }
            let moves = self.kinds.get(&n.base) == Some(&Kind::Num);
            let ahead = n.bullets + if moves { shift } else { 0 };
            if place == Place::Predicate && ahead > 0 && self.may_die(&n.base, ahead) {
                out.push_str(&next_text(&n.base, ahead));
                self.watched.insert((n.base, ahead));
                continue;
            }
            out.push_str(&match (n.plus, n.primes, n.bullets + if moves { shift } else { 0 }) {
                (true, primes, _) => limit_text(&n.base, primes),
                (false, primes, bullets) => self.derivative_text(&n.base, primes + bullets),
            });
        }
        out
    }
}

/// The name of a next value that may be dead.
fn next_text(base: &str, ahead: usize) -> String {
    format!("'{base}{}'", "•".repeat(ahead))
}

fn limit_text(base: &str, primes: usize) -> String {
    format!("'{base}{}+'", "\\'".repeat(primes))
}

/// The names in an expression.
fn names(text: &str) -> Vec<Name> {
    pieces(text)
        .into_iter()
        .filter_map(|p| match p {
            Piece::Name(n, ..) => Some(n),
            Piece::Text(_) => None,
        })
        .collect()
}

/// Where `do` stands.
fn find_do(text: &str) -> Option<usize> {
    pieces(text).into_iter().find_map(|p| match p {
        Piece::Name(n, at, _) if n.base == "do" && n.marks() == 0 => Some(at),
        _ => None,
    })
}

/// The right limit that an equation `x+ = value` sets.
fn set_limit(body: &str) -> Option<Name> {
    let (left, right) = body.split_once('=')?;
    let n = identifier(left.trim())?;
    (n.plus && !names(right).iter().any(|m| m.plus)).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let problems = translate("m", text).unwrap_err();
        problems.into_iter().map(|p| p.2).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn definitions_stay_on_their_lines() {
        let t = translate(
            "cup",
            "x, y : num = 1;\nT : num; // tension\ntaut : pred x >= 1;\ne1 : when T do x'' = T*x;\ne4 : when not taut do\n T = 0\n",
        )
        .unwrap();
        let lines: Vec<&str> = t.text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "model cup public Real x(start =  1, fixed = true);public Real y(start =  1, fixed = true);",
                "public Real T;",
                "public Boolean taut; equation taut =  x >= 1;",
                "equation  der(der(x))  =  T*x;",
                "equation if not taut then",
                "T  =  0; end if;",
                "end cup;"
            ]
        );
        assert!(!t.difference);
    }

    #[test]
    fn right_limits_are_set_or_solved_for() {
        let t = translate("b", "v : num; down : pred v < 0; h : when down do v+ = -0.8*v").unwrap();
        assert!(t.text.contains("when down then reinit(v,  -0.8*v); end when;"), "{}", t.text);
        let both = "a, b : num; hit : pred a > b; e : when hit do a+ + 2*b+ = a + 2*b; f : when hit do a+ - b+ = b-a";
        let t = translate("b", both).unwrap();
        let both = "if hit then  'a+' + 2*'b+'  =  a + 2*b;  'a+' - 'b+'  =  b-a; else 'a+' = a; 'b+' = b; end if;";
        assert!(t.text.contains(both), "{}", t.text);
        assert!(
            refused("a, b : num; h : pred a > b; e : when h do a+ + b+ = 1").contains("1 equations for 2 right limits")
        );
        assert!(t.text.contains("reinit(b, 'b+')"), "{}", t.text);
        assert!(refused("v : num; h : when T do v+ = 1").contains("becomes true"));
    }

    #[test]
    fn speeds_have_right_limits_and_start_values() {
        let t = translate(
            "b",
            "x : num = 1; x' : num = 2; low : pred x < 0; h : when low do x'+ = -x'; e : when T do x'' = 0",
        )
        .unwrap();
        assert!(t.text.contains("initial equation 'x\\'' =  2;"), "{}", t.text);
        assert!(t.text.contains("reinit('x\\'',  -'x\\'')"), "{}", t.text);
        assert!(t.text.contains("equation 'x\\'' = der(x);"), "{}", t.text);
        assert!(t.text.contains("der('x\\'')  =  0"), "{}", t.text);
    }

    #[test]
    fn next_values_and_shifted_predicates() {
        let t = translate(
            "b",
            "x : num = 1; x• : num = 0.5; g : pred x > 2; i : inv not (g and g•); e : when F do x•• = x•",
        )
        .unwrap();
        assert!(t.text.contains("if false then  der(der(x))  =  der(x); end if;"), "{}", t.text);
        assert!(t.text.contains("'g•' =  'x•' > 2;"), "{}", t.text);
        let t2 = translate("b", "x : num = 1; g : pred x > 2; i : inv g•; e : when T do x• = x").unwrap();
        assert!(t2.text.contains("'g•' =  der(x) > 2;"), "{}", t2.text);
        assert!(t.difference);
        assert_eq!(t.ahead, [("x".to_string(), 1, 0.5)]);
        assert!(refused("x : num; e : when T do x• = x'").contains("not of both"));
    }

    #[test]
    fn complementarity() {
        let t = translate("b", "u, i : num; d : when T do 0 <= u ⟂ i >= 0").unwrap();
        assert!(t.text.contains("Saltus.complementarity( u ,  i );"), "{}", t.text);
        assert!(refused("x, y : num; e : when T do 0 <= x ⟂ y").contains("complementarity is written"));
    }

    #[test]
    fn well_formed_programs() {
        assert!(refused("x : num; e : when x do x = 1").contains("made of predicates"));
        assert!(refused("x : num; p : pred x > 1; q : pred p > 1").contains("made of numerical"));
        assert!(refused("x : num; p : pred x > 1; e : when T do x = p").contains("made of numerical"));
        assert!(refused("x : num; e : when T do x = z").contains("`z` is not defined"));
        assert!(refused("x : num; x : num").contains("defined twice"));
        assert!(translate("m", "x : num; e : when x > 1 or not (x < 0) do x = sin(time)").is_ok());
    }

    #[test]
    fn a_sum_is_no_right_limit() {
        let t = translate("b", "a, b : num; e : when T do a+b = 1e+3; f : when T do a +b = 2").unwrap();
        assert!(t.text.contains("a+b  =  1e+3;") && t.text.contains("a +b  =  2;"), "{}", t.text);
    }

    #[test]
    fn places_lead_back() {
        let text = "x : num = 1; y : num;\ne : when x > 2 do x'' = y/3";
        let t = translate("m", text).unwrap();
        let mut map = saltus_base::SourceMap::default();
        let file = map.add("m.mdae", t.text.as_str());
        map.translated_from(file, text, t.anchors, '\'');
        for (there, here) in [
            ("der(der(x))  =  y/3", "x'' = y/3"),
            ("/3", "/3"),
            ("x > 2", "x > 2"),
            ("y;", "y : num;\n"),
            ("if x > 2 then  der(der(x))  =  y/3; end if", "e : when x > 2 do x'' = y/3"),
        ] {
            let at = t.text.find(there).unwrap_or_else(|| panic!("{there} in {}", t.text));
            let span = map.origin(saltus_base::Span::new(file, at, at + there.len()));
            assert!(here.starts_with(map.text(span)), "{there}: {}", map.text(span));
            assert!(!map.text(span).is_empty(), "{there}");
        }
    }

    #[test]
    fn what_reads_a_dead_variable_is_dead() {
        let t = translate(
            "m",
            "n : num = 0; y : num; k : when T do n• = n + 1; on : pred n > 2; e : when on do y = n; hi : pred y > 3;\
             f : when not hi do n = 1; i : inv hi",
        )
        .unwrap();
        assert!(t.text.contains("if (not hi) and 'y alive' then"), "{}", t.text);
        assert!(t.text.contains("assert(( hi) or not 'y alive',"), "{}", t.text);
        assert!(t.text.contains("'y alive' = (on);"), "{}", t.text);
        assert!(!t.text.contains("y held"), "{}", t.text);
    }

    #[test]
    fn mistakes_have_places() {
        let problems = translate("m", "x : num;\ny : number").unwrap_err();
        let text = "`number` is no term: it is num, const, pred, inv, when or dummy".to_string();
        assert_eq!(problems, [(13, 19, text)]);
        assert_eq!(translate("m", "nothing here").unwrap_err().len(), 1);
        assert_eq!(translate("m", "a : num; e : when a x = 1").unwrap_err().len(), 1);
    }
}
