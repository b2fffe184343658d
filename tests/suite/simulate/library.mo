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

--- random-numbers-of-the-wider-generators simulate --stop 0 ---
// xorshift128+ on the words a, b: a ^= a << 23; the new second word is (a ^ b ^ a >> 17 ^ b >> 26) + b, the first one b.
// xorshift1024* on 16 words and a place p, moved on first: b ^= b << 31, b ^= b >> 11, a ^= a >> 30 for the word b there and the
// word a before it; their difference is kept there and times 1181783497276652981 is the number. Both computed apart from this.
function draw128
  input Integer before[4];
  output Real r;
  output Integer after[4];
external "C" ModelicaRandom_xorshift128plus(before, after, r);
end draw128;
function draw1024
  input Integer before[33];
  output Real r;
  output Integer after[33];
external "C" ModelicaRandom_xorshift1024star(before, after, r);
end draw1024;
model M
  Real r, q;
  Integer s[4];
  Integer t[33] annotation(HideResult = true);
  Integer low = t[3], high = t[4], untouched = t[5], place = t[33];
equation
  (r, s) = draw128({1, 2, 3, 4});
  (q, t) = draw1024(cat(1, 1:32, {0}));
end M;
--- expect ---
time,r,q,s[1],s[2],s[3],s[4],low,high,untouched,place
0.0,0.5039062821310871,0.37670097295847393,3,4,8454469,16777354,-2135949302,7,5,1

--- random-numbers-without-a-state-of-ones-own simulate --stop 0 ---
// The generator behind the impure function is the one with 33 Integers: from the same state both draw the same number.
impure function begin
  input Integer id;
  input Integer state[33];
external "C" ModelicaRandom_setInternalState_xorshift1024star(state, size(state, 1), id);
end begin;
impure function draw
  input Integer id;
  output Real r;
external "C" r = ModelicaRandom_impureRandom_xorshift1024star(id);
end draw;
model M
  parameter Real r(fixed = false);
  parameter Real next(fixed = false) annotation(HideResult = true);
  parameter Boolean another(fixed = false);
initial algorithm
  begin(7, cat(1, 1:32, {0}));
  r := draw(7);
  next := draw(7);
  another := abs(next - r) > 1e-6 and next > 0 and next < 1;
end M;
--- expect ---
time,r,another
0.0,0.37670097295847393,true

--- matrices-in-files simulate --stop 0 ---
// What is written is read again, into another array; a second matrix is appended to the same file.
impure function write
  input String file, name;
  input Real A[:, :];
  input Boolean append;
  output Boolean done;
external "C" done = ModelicaIO_writeRealMatrix(file, name, A, size(A, 1), size(A, 2), append, "4");
end write;
impure function sizes
  input String file, name;
  output Integer n[2];
external "C" ModelicaIO_readMatrixSizes(file, name, n);
end sizes;
impure function read
  input String file, name;
  input Integer rows, columns;
  output Real A[rows, columns];
external "C" ModelicaIO_readRealMatrix(file, name, A, rows, columns, false);
end read;
impure function remove
  input String file;
external "C" ModelicaInternal_removeFile(file);
end remove;
model M
  parameter Boolean first(fixed = false), second(fixed = false);
  parameter Integer n[2](each fixed = false), k[2](each fixed = false);
  parameter Real A[2, 3](each fixed = false), b[1, 2](each fixed = false);
initial algorithm
  first := write("matrices.mat", "A", [1, 2, 3; -4, 5.5, 1e-3], false);
  second := write("matrices.mat", "b", [7, 8], true);
  n := sizes("matrices.mat", "A");
  k := sizes("matrices.mat", "b");
  A := read("matrices.mat", "A", 2, 3);
  b := read("matrices.mat", "b", 1, 2);
  remove("matrices.mat");
end M;
--- expect ---
time,first,second,n[1],n[2],k[1],k[2],"A[1,1]","A[1,2]","A[1,3]","A[2,1]","A[2,2]","A[2,3]","b[1,1]","b[1,2]"
0.0,true,true,2,3,1,2,1.0,2.0,3.0,-4.0,5.5,0.001,7.0,8.0

--- a-matrix-that-is-not-in-its-file error simulate ---
impure function write
  input String file, name;
  input Real A[:, :];
  output Boolean done;
external "C" done = ModelicaIO_writeRealMatrix(file, name, A, size(A, 1), size(A, 2), false, "4");
end write;
impure function sizes
  input String file, name;
  output Integer n[2];
external "C" ModelicaIO_readMatrixSizes(file, name, n);
end sizes;
model M
  parameter Boolean done(fixed = false);
  parameter Integer n[2](each fixed = false);
initial algorithm
  done := write("other.mat", "A", [1, 2]);
  n := sizes("other.mat", "B");
end M;
--- expect ---
exit: 5
--> model.mo
B

--- lines-of-a-spectrum simulate --stop 0 --variables info,right,nothing,phased ---
// u = 3 + 2 cos(4 w t) + 0.5 sin(7 w t), 60 samples of one period. The sums are 60*3 for line 0, 30*2 for line 4 and 30*0.5 for
// line 7; the library divides them by the number of lines, 31. A cosine has the phase 0, a sine -pi/2.
function fft
  input Real u[:];
  output Integer info;
  output Real amplitudes[div(size(u, 1), 2) + 1];
  output Real phases[div(size(u, 1), 2) + 1];
protected
  Real work[3*size(u, 1) + 2*(div(size(u, 1), 2) + 1)];
external "C" info = ModelicaFFT_kiss_fftr(u, size(u, 1), work, size(work, 1), amplitudes, phases);
end fft;
model M
  constant Real w = 2*3.14159265358979;
  parameter Real u[60] = {3 + 2*cos(4*w*k/60) + 0.5*sin(7*w*k/60) for k in 0:59};
  parameter Integer info(fixed = false);
  parameter Real a[31](each fixed = false), phases[31](each fixed = false);
  parameter Boolean right = abs(a[1] - 180/31) < 1e-9 and abs(a[5] - 60/31) < 1e-9 and abs(a[8] - 15/31) < 1e-9;
  parameter Boolean nothing = sum(a) - a[1] - a[5] - a[8] < 1e-9;
  parameter Boolean phased = abs(phases[5]) < 1e-9 and abs(phases[8] + w/4) < 1e-9;
initial algorithm
  (info, a, phases) := fft(u);
end M;
--- expect ---
time,info,right,nothing,phased
0.0,0,true,true,true

--- a-spectrum-of-an-odd-number-of-values simulate --stop 0 --variables info ---
// The library's transform takes even numbers of values only, and says so.
function fft
  input Real u[:];
  output Integer info;
  output Real amplitudes[div(size(u, 1), 2) + 1];
  output Real phases[div(size(u, 1), 2) + 1];
protected
  Real work[3*size(u, 1) + 2*(div(size(u, 1), 2) + 1)];
external "C" info = ModelicaFFT_kiss_fftr(u, size(u, 1), work, size(work, 1), amplitudes, phases);
end fft;
model M
  Integer info = fft({1, 2, 3});
end M;
--- expect ---
time,info
0.0,1
