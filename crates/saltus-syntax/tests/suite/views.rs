use crate::parsed;
use saltus_syntax::ast::*;
use std::sync::Arc;

fn class(text: &str) -> Arc<ClassDef> {
    let tree = parsed(text);
    assert!(tree.diagnostics.is_empty(), "{:?}", tree.diagnostics);
    tree.root.classes[0].clone()
}

#[test]
fn annotations_by_name() {
    let c = class(
        "model M annotation(experiment(StopTime = -2, Tolerance = 1e-6), Evaluate = true, uses(Modelica(version = \"4.1.0\")),
           Icon(graphics = {Line(points = {{0, 1}}, color = red), Text(textString = \"t\")})); end M;",
    );
    let a = c.annotation().unwrap();
    assert_eq!(a.find("experiment").unwrap().len(), 2);
    assert_eq!(a.value("experiment.StopTime").unwrap().as_f64(), Some(-2.0));
    assert_eq!(a.value("uses.Modelica.version").unwrap().as_str(), Some("4.1.0"));
    assert!(a.is_true("Evaluate") && !a.is_true("Inline"));
    assert_eq!(a.find("Evaluate").unwrap().len(), 0);
    assert!(a.find("Diagram").is_none() && a.value("experiment.StartTime").is_none());
    let ExprKind::Array(graphics) = &a.value("Icon.graphics").unwrap().kind else { panic!() };
    let line = graphics[0].as_call().unwrap();
    assert!(line.is("Line"));
    assert_eq!(line.named("color").unwrap().as_reference().unwrap().to_string(), "red");
    assert_eq!(graphics[1].to_string(), "Text(textString = \"t\")");
}

#[test]
fn modifiers_by_path() {
    let c = class("model M A a(b(start = 1), c.d = 2, redeclare model N = O, c.e = 3) = x; end M;");
    let (clause, component) = c.components().next().unwrap();
    let m = component.modification.as_ref().unwrap();
    assert_eq!(m.value("b.start").unwrap().to_string(), "1");
    assert_eq!(m.value("c.e").unwrap().to_string(), "3");
    assert!(m.get("c").is_none() && m.get("b.c").is_none());
    assert_eq!(m.argument("N").unwrap().to_string(), "redeclare model N = O");
    assert_eq!(m.to_string(), "(b(start = 1), c.d = 2, redeclare model N = O, c.e = 3) = x");
    assert_eq!(clause.type_spec.to_string(), "A");
}

#[test]
fn parts_of_classes() {
    let c = class("package P model A Real x, y; Real z; equation x = 1; end A; type T = Real; end P;");
    let names: Vec<&str> = c.classes().map(|d| d.name.name.as_str()).collect();
    assert_eq!(names, ["A", "T"]);
    let a = c.class("A").unwrap();
    assert_eq!(a.components().count(), 3);
    assert_eq!(a.sections().len(), 1);
    assert_eq!(c.class("T").unwrap().to_string(), "type T = Real");
    assert!(c.class("B").is_none());
}

#[test]
fn spans_cover_what_they_name() {
    let text = "model M\n  parameter Real x(start = 1) = 2*(y + 1) \"t\";\nequation\n  x + y = f(z[1]);\nend M;";
    let c = class(text);
    let of = |s: saltus_base::Span| &text[s.start as usize..s.end as usize];
    assert_eq!(of(c.span), &text[..text.len() - 1]);
    let (clause, component) = c.components().next().unwrap();
    assert_eq!(of(clause.span), "parameter Real x(start = 1) = 2*(y + 1) \"t\"");
    assert_eq!(of(component.span), "x(start = 1) = 2*(y + 1) \"t\"");
    let m = component.modification.as_ref().unwrap();
    assert_eq!(of(m.span.unwrap()), "(start = 1) = 2*(y + 1)");
    let ExprKind::Binary(_, _, right) = &m.binding.as_ref().unwrap().kind else { panic!() };
    assert_eq!(of(right.span), "(y + 1)");
    let Section::Equations { equations, .. } = &c.sections()[0] else { panic!() };
    assert_eq!(of(equations[0].span), "x + y = f(z[1])");
    let EquationKind::Simple(left, right) = &equations[0].kind else { panic!() };
    assert_eq!((of(left.span), of(right.span)), ("x + y", "f(z[1])"));
}
