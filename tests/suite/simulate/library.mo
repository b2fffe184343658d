The standard library's external functions, called by their symbols: they need no C code.

--- tables-of-one-abscissa simulate --stop 0 ---
// The points lie on y = 2u, which every kind of smoothness (1, 2, 4, 5, 6) reproduces but constant segments (3); beyond
// the last point, at u = 5: the last value, the last slope, the period of 4.
class Table
  extends ExternalObject;
  function constructor
    input Real table[:, :];
    input Integer smoothness;
    input Integer extrapolation;
    output Table t;
  external "C" t = ModelicaStandardTables_CombiTable1D_init3("NoName", "NoName", table, size(table, 1), size(table, 2),
    {2}, 1, smoothness, extrapolation, false, ",", 0);
  end constructor;
  function destructor
    input Table t;
  external "C" ModelicaStandardTables_CombiTable1D_close(t);
  end destructor;
end Table;
function value
  input Table t;
  input Real u;
  output Real y;
external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u);
end value;
model M
  parameter Real points[4, 2] = [0, 0; 1, 2; 2, 4; 4, 8];
  Table t1 = Table(points, 1, 1), t2 = Table(points, 2, 2), t3 = Table(points, 3, 3);
  Table t4 = Table(points, 4, 2), t5 = Table(points, 5, 2), t6 = Table(points, 6, 3);
  Real a = value(t1, 1.5), b = value(t2, 1.5), c = value(t3, 1.5), d = value(t4, 1.5), e = value(t5, 1.5),
    f = value(t6, 1.5);
  Real hold = value(t1, 5), slope = value(t2, 5), around = value(t6, 5);
  Real h4 = slope + value(t4, 5) + value(t5, 5);
end M;
--- expect ---
time,"points[1,1]","points[1,2]","points[2,1]","points[2,2]","points[3,1]","points[3,2]","points[4,1]","points[4,2]",a,b,c,d,e,f,hold,slope,around,h4
0.0,0.0,0.0,1.0,2.0,2.0,4.0,4.0,8.0,3.0,3.0,2.0,3.0,3.0,3.0,8.0,10.0,2.0,30.0

--- tables-of-two-abscissas simulate --stop 2 --intervals 2 ---
// The values are products, which bilinear interpolation reproduces: 1.5*t.
class Table
  extends ExternalObject;
  function constructor
    input Real table[:, :];
    output Table t;
  external "C" t = ModelicaStandardTables_CombiTable2D_init3("NoName", "NoName", table, size(table, 1), size(table, 2),
    1, 2, false, ",", 0);
  end constructor;
  function destructor
    input Table t;
  external "C" ModelicaStandardTables_CombiTable2D_close(t);
  end destructor;
end Table;
function value
  input Table t;
  input Real u1, u2;
  output Real y;
external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u1, u2);
end value;
model M
  Table t = Table([0, 0, 1, 3; 0, 0, 0, 0; 1, 0, 1, 3; 2, 0, 2, 6]);
  Real y = value(t, 1.5, time);
end M;
--- expect ---
time,y
0.0,0.0
1.0,1.5
2.0,3.0

--- outside-of-a-table error simulate --stop 5 ---
class Table
  extends ExternalObject;
  function constructor
    input Real table[:, :];
    output Table t;
  external "C" t = ModelicaStandardTables_CombiTable1D_init3("NoName", "NoName", table, size(table, 1), size(table, 2),
    {2}, 1, 1, 4, false, ",", 0);
  end constructor;
  function destructor
    input Table t;
  external "C" ModelicaStandardTables_CombiTable1D_close(t);
  end destructor;
end Table;
function value
  input Table t;
  input Real u;
  output Real y;
external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u);
end value;
model M
  Table t = Table([0, 0; 1, 2]);
  Real y = value(t, time);
end M;
--- expect ---
exit: 6
is outside the table, which goes from 0 to 1

--- a-table-in-a-file-that-is-not-there error simulate ---
class Table
  extends ExternalObject;
  function constructor
    input String file;
    output Table t;
  external "C" t = ModelicaStandardTables_CombiTable1D_init3(file, "tab", fill(0.0, 0, 2), 0, 2, {2}, 1, 1, 1, false,
    ",", 0);
  end constructor;
  function destructor
    input Table t;
  external "C" ModelicaStandardTables_CombiTable1D_close(t);
  end destructor;
end Table;
function value
  input Table t;
  input Real u;
  output Real y;
external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u);
end value;
model M
  Table t = Table("nowhere.txt");
  Real y = value(t, time);
end M;
--- expect ---
exit: 5
the file nowhere.txt cannot be read

--- strings-of-the-library simulate --stop 0 ---
function length
  input String s;
  output Integer n;
external "C" n = ModelicaStrings_length(s);
end length;
function substring
  input String s;
  input Integer first, last;
  output String r;
external "C" r = ModelicaStrings_substring(s, first, last);
end substring;
function scanReal
  input String s;
  input Integer from;
  output Integer next;
  output Real x;
external "C" ModelicaStrings_scanReal(s, from, false, next, x);
end scanReal;
model M
  parameter String s = "ab12.5cd";
  Integer n = length(s);
  Boolean middle = substring(s, 2, 4) == "b12";
  Integer next;
  Real x;
equation
  (next, x) = scanReal(s, 3);
end M;
--- expect ---
time,n,middle,next,x
0.0,8,true,7,12.5

--- random-numbers-of-the-library simulate --stop 0 ---
// xorshift64*: x ^= x >> 12, x ^= x << 25, x ^= x >> 27 on 64 bits; the number is the product with 2685821657736338717 as a
// signed number, divided by 2^64, plus a half. The state 1, 0 becomes 0x2000001 before, and -1989354211, 1206177355 after
// the product.
function draw
  input Integer before[2];
  output Real r;
  output Integer after[2];
external "C" ModelicaRandom_xorshift64star(before, after, r);
end draw;
model M
  Real r;
  Integer s[2];
  Boolean inside = r > 0 and r < 1;
equation
  (r, s) = draw({1, 0});
end M;
--- expect ---
time,r,s[1],s[2],inside
0.0,0.7808350500503596,-1989354211,1206177355,true

--- more-strings-of-the-library simulate --stop 0 ---
function compare
  input String a, b;
  input Boolean caseSensitive;
  output Integer r;
external "C" r = ModelicaStrings_compare(a, b, caseSensitive);
end compare;
function scanInteger
  input String s;
  input Integer start;
  output Integer next;
  output Integer n;
external "C" ModelicaStrings_scanInteger(s, start, false, next, n);
end scanInteger;
function scanIdentifier
  input String s;
  input Integer start;
  output Integer next;
  output String word;
external "C" ModelicaStrings_scanIdentifier(s, start, next, word);
end scanIdentifier;
function skipWhiteSpace
  input String s;
  input Integer start;
  output Integer next;
external "C" next = ModelicaStrings_skipWhiteSpace(s, start);
end skipWhiteSpace;
model M
  Integer less = compare("abc", "abd", true), equal = compare("ABC", "abc", false), greater = compare("b", "a", true);
  Integer next, n, after, blanks = skipWhiteSpace("   x", 1);
  String word;
  Boolean right = word == "alpha_1";
algorithm
  (next, n) := scanInteger("  -42 x", 1);
  (after, word) := scanIdentifier(" alpha_1+2", 1);
end M;

--- expect ---
time,less,equal,greater,next,n,after,blanks,right
0.0,1,2,3,6,-42,9,4,true

--- files-of-the-library simulate --stop 0 ---
impure function print
  input String text, file;
external "C" ModelicaInternal_print(text, file);
end print;
impure function close
  input String file;
external "C" ModelicaStreams_closeFile(file);
end close;
impure function countLines
  input String file;
  output Integer n;
external "C" n = ModelicaInternal_countLines(file);
end countLines;
impure function readLine
  input String file;
  input Integer line;
  output String text;
  output Boolean end_of_file;
external "C" text = ModelicaInternal_readLine(file, line, end_of_file);
end readLine;
impure function stat
  input String name;
  output Integer kind;
external "C" kind = ModelicaInternal_stat(name);
end stat;
impure function remove
  input String file;
external "C" ModelicaInternal_removeFile(file);
end remove;
model M
  parameter Integer lines(fixed = false), there(fixed = false), gone(fixed = false);
  parameter Boolean second(fixed = false), over(fixed = false);
protected
  parameter String text(fixed = false);
  parameter Boolean within_it(fixed = false);
initial algorithm
  print("one", "lines.txt");
  print("two", "lines.txt");
  close("lines.txt");
  lines := countLines("lines.txt");
  (text, within_it) := readLine("lines.txt", 2);
  second := text == "two" and not within_it;
  (text, over) := readLine("lines.txt", 3);
  there := stat("lines.txt");
  remove("lines.txt");
  gone := stat("lines.txt");
end M;

--- expect ---
time,lines,there,gone,second,over,within_it
0.0,2,2,1,true,true,false

--- a-file-that-is-not-there error simulate ---
impure function countLines
  input String file;
  output Integer n;
external "C" n = ModelicaInternal_countLines(file);
end countLines;
model M
  parameter Integer lines(fixed = false);
initial algorithm
  lines := countLines("nothing.txt");
end M;
--- expect ---
exit: 5
error: initialization failed at time 0.0: nothing.txt: No such file or directory (os error 2)
--> model.mo:1:17
