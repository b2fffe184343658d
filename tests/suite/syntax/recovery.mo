The parser goes on after an error, at the level of statements and elements, and tells all of them.

--- two-errors-in-one-file error check ---
model M
  Real x = ;
  Real y;
equation
  x = 1 + ;
  y = 2;
end M;

--- expect ---
exit: 3
error: expected an expression, found `;`
--> model.mo:2:11
error: expected an expression, found `;`
--> model.mo:5:10

--- missing-semicolon error check ---
model M
  Real x
  Real y;
equation
  x = 1;
  y = 2;
end M;

--- expect ---
exit: 3
error: expected `;` after the declaration, found `Real`
--> model.mo:2:9

--- wrong-end-name error check ---
model M
  Real x = 1;
end N;

--- expect ---
exit: 3
error: class `M` ends with the wrong name `N`
--> model.mo:3:5

--- unclosed-string error check ---
model M
  parameter String s = "open;
end M;

--- expect ---
exit: 3
error: this string is not closed
--> model.mo:2:24
error: expected `;` after the declaration, found `end`
--> model.mo:2:30

--- unclosed-comment error check ---
model M
  Real x = 1; /* never closed
end M;

--- expect ---
exit: 3
error: missing `end M` before end of file
--> model.mo:2:14
error: this comment is not closed
--> model.mo:2:15

--- missing-end-if error check ---
model M
  Real x;
equation
  if time > 1 then
    x = 1;
  else
    x = 2;
end M;

--- expect ---
exit: 3
error: missing `end if` before `end M`
--> model.mo:7:11

--- stray-character error check ---
model M
  Real x = 1 # 2;
end M;

--- expect ---
exit: 3
error: unknown character `#`
--> model.mo:2:14

--- empty-file error check ---
--- expect ---
exit: 3
error: model.mo holds no model

--- two-annotations-of-one-class error check ---
model M
  Real x = 1;
  annotation(Icon());
  annotation(experiment(StopTime = 1));
end M;
--- expect ---
exit: 0
warning: a class has only one annotation: this one is joined to the first
--> model.mo:4:3
