//! A plan as Cranelift IR: one function that loops over the rows.
//!
//! ```text
//! entry(values, words, rows, host, to):  end = words + rows*stride*4;  jump row(words)
//! row(p):                                …steps…;  store to[p[0]];  p' = p + stride*4;  brif p' != end, row(p'), exit
//! ```
//!
//! Rows of a [`Run`](saltus_program::Run) need no words but the first row's: their kernel counts rows and computes two at
//! a time where it can.
//!
//! There are no Cranelift variables: operands dominate their uses by construction of the plan.

use crate::jit::JitError;
use crate::plan::{Op, Plan, Step};
use crate::scalar::{Imports, Scalars, Val};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Endianness, Function, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type,
    Value, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::Module;
use saltus_expr::{Binary, Unary};
use saltus_program::Advance;

/// Symbol of the function call trampoline.
pub(crate) const CALL: &str = "saltus_call";
/// Symbol of the directional derivative trampoline.
pub(crate) const CALL_DER: &str = "saltus_call_der";

/// Flags of all loads: they may move to where their value is used. That is right for values too, since nothing is
/// stored before the last use of the row, and their addresses depend on the row, so none can leave the loop.
const PURE: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();

struct Emitter<'a> {
    s: Scalars<'a>,
    vals: Vec<Option<Val>>,
    word: Type,
    holes: Holes,
    /// The word of the first hole in a row.
    first_hole: u32,
    /// In runs: offsets of rows, steps, and their products.
    offsets: Vec<(Value, i32, Value)>,
}

/// Where the values of holes come from.
enum Holes {
    /// Through the words of the row.
    Words,
    /// In a run: the address of the first row's value, or the value itself if it stays; then the offset of the row.
    Run(Vec<(Place, bool)>, Value),
}

#[derive(Clone, Copy)]
enum Place {
    /// The address in the first row, and how many values further it is in the next.
    At(Value, i32),
    Fixed(Value),
}

/// Writes the kernel of a plan into an empty function.
pub(crate) fn kernel(
    plan: &Plan,
    module: &mut JITModule,
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    imports: &mut Imports,
) -> Result<(), JitError> {
    let word = module.target_config().pointer_type();
    let stride = i64::try_from(4 * plan.stride()).unwrap_or(i64::MAX);
    if !plan.holes_declared || stride > i64::from(i32::MAX) || word != types::I64 {
        return Err(JitError("template not fit for native code".into()));
    }
    let config = module.target_config();
    let mut e = Emitter::of(plan, module, func, context, imports);
    let entry = e.s.b.create_block();
    let row = e.s.b.create_block();
    let exit = e.s.b.create_block();
    e.s.b.append_block_params_for_function_params(entry);
    let at = e.s.b.append_block_param(row, word);
    e.s.b.switch_to_block(entry);
    let [values, words, rows, host, to] = *e.s.b.block_params(entry) else { unreachable!("five parameters") };
    let bytes = e.s.b.ins().imul_imm_s(rows, stride);
    let end = e.s.b.ins().iadd(words, bytes);
    e.s.b.ins().jump(row, &[BlockArg::Value(words)]);

    e.s.b.switch_to_block(row);
    e.steps(plan, values, at, host)?;
    for (&r, k) in plan.results.iter().zip(0..) {
        let result = e.real(r);
        let dest = e.word_at(at, k);
        let dest = e.slot_address(to, dest);
        e.s.b.ins().store(MemFlagsData::trusted(), result, dest, 0);
    }
    let next = e.s.b.ins().iadd_imm_s(at, stride);
    let more = e.s.b.ins().icmp(IntCC::NotEqual, next, end);
    e.s.b.ins().brif(more, row, &[BlockArg::Value(next)], exit, &[]);

    e.s.b.switch_to_block(exit);
    e.s.b.ins().return_(&[]);
    e.s.b.seal_all_blocks();
    e.s.b.finalize(config);
    Ok(())
}

/// Writes a chain: `fn(values, …, …, host)`, straight through its steps.
pub(crate) fn chain(
    plan: &Plan,
    module: &mut JITModule,
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    imports: &mut Imports,
) -> Result<(), JitError> {
    let config = module.target_config();
    let mut e = Emitter::of(plan, module, func, context, imports);
    let entry = e.s.b.create_block();
    e.s.b.append_block_params_for_function_params(entry);
    e.s.b.switch_to_block(entry);
    let [values, words, _, host, _] = *e.s.b.block_params(entry) else { unreachable!("five parameters") };
    e.steps(plan, values, words, host)?;
    e.s.b.ins().return_(&[]);
    e.s.b.seal_all_blocks();
    e.s.b.finalize(config);
    Ok(())
}

/// Writes the kernel of a plan for runs of one pattern: `fn(values, words of the first row, rows, host, to)`. Values that stay
/// are loaded once, the others are next to each other; where rows are independent and the plan is arithmetic alone, two
/// rows are computed at a time.
pub(crate) fn run_kernel(
    plan: &Plan,
    pattern: &[Advance],
    independent: bool,
    module: &mut JITModule,
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    imports: &mut Imports,
) -> Result<(), JitError> {
    let word = module.target_config().pointer_type();
    if !plan.holes_declared || word != types::I64 || pattern.len() != plan.stride() {
        return Err(JitError("template not fit for native code".into()));
    }
    let config = module.target_config();
    let mut e = Emitter::of(plan, module, func, context, imports);
    let entry = e.s.b.create_block();
    e.s.b.append_block_params_for_function_params(entry);
    e.s.b.switch_to_block(entry);
    let [values, words, rows, host, to] = *e.s.b.block_params(entry) else { unreachable!("five parameters") };
    let (mut places, mut targets) = (Vec::new(), Vec::new());
    for (p, k) in pattern.iter().zip(0u32..) {
        let w = e.word_at(words, k);
        if (k as usize) < plan.results.len() {
            let at = e.slot_address(to, w);
            targets.push((at, p.by));
            continue;
        }
        let at = e.slot_address(values, w);
        places.push(match p {
            // Nothing in the run writes it.
            Advance { by: 0, negate } if independent => {
                let v = e.s.b.ins().load(types::F64, MemFlagsData::trusted(), at, 0);
                (Place::Fixed(if *negate { e.s.b.ins().fneg(v) } else { v }), *negate)
            }
            Advance { by, negate } => (Place::At(at, *by), *negate),
        });
    }
    let zero = e.s.b.ins().iconst(types::I64, 0);
    let end = e.s.b.ins().ishl_imm_s(rows, 3);
    let exit = e.s.b.create_block();
    let row = e.s.b.create_block();
    let at = e.s.b.append_block_param(row, types::I64);
    let mut first = zero;
    if independent && plan.ops.iter().all(|op| in_pairs(plan, op)) {
        // Two rows at a time, as long as there are two.
        let pair = e.s.b.create_block();
        let rest = e.s.b.create_block();
        let p = e.s.b.append_block_param(pair, types::I64);
        let r = e.s.b.append_block_param(rest, types::I64);
        let fixed = e.splats(plan, &places);
        let even = e.s.b.ins().band_imm_s(end, !15);
        let any = e.s.b.ins().icmp(IntCC::NotEqual, even, zero);
        e.s.b.ins().brif(any, pair, &[BlockArg::Value(zero)], rest, &[BlockArg::Value(zero)]);
        e.s.b.switch_to_block(pair);
        e.scale_offsets(p, pattern.iter().map(|p| p.by));
        let vals = e.pairs(plan, &places, &fixed, p);
        for (&r, &(dest, step)) in plan.results.iter().zip(&targets) {
            let v = vals[r as usize];
            let to = e.row_address(dest, step, p);
            if step == 1 {
                e.s.b.ins().store(UNALIGNED, v, to, 0);
                continue;
            }
            for lane in 0..2 {
                let v = e.s.b.ins().extractlane(v, lane);
                e.s.b.ins().store(UNALIGNED, v, to, i32::from(lane) * 8 * step);
            }
        }
        let next = e.s.b.ins().iadd_imm_s(p, 16);
        let more = e.s.b.ins().icmp(IntCC::NotEqual, next, even);
        e.s.b.ins().brif(more, pair, &[BlockArg::Value(next)], rest, &[BlockArg::Value(next)]);
        e.s.b.switch_to_block(rest);
        first = r;
    }
    let left = e.s.b.ins().icmp(IntCC::NotEqual, first, end);
    e.s.b.ins().brif(left, row, &[BlockArg::Value(first)], exit, &[]);
    e.s.b.switch_to_block(row);
    e.scale_offsets(at, pattern.iter().map(|p| p.by));
    e.holes = Holes::Run(places, at);
    e.steps(plan, values, at, host)?;
    for (&r, (dest, step)) in plan.results.iter().zip(targets) {
        let result = e.real(r);
        let to = e.row_address(dest, step, at);
        e.s.b.ins().store(MemFlagsData::trusted(), result, to, 0);
    }
    let next = e.s.b.ins().iadd_imm_s(at, 8);
    let more = e.s.b.ins().icmp(IntCC::NotEqual, next, end);
    e.s.b.ins().brif(more, row, &[BlockArg::Value(next)], exit, &[]);
    e.s.b.switch_to_block(exit);
    e.s.b.ins().return_(&[]);
    e.s.b.seal_all_blocks();
    e.s.b.finalize(config);
    Ok(())
}

/// Bits seen as numbers, lane by lane.
const LITTLE: MemFlagsData = MemFlagsData::new().with_endianness(Endianness::Little);

/// Memory that is there but aligned to one number only.
const UNALIGNED: MemFlagsData = MemFlagsData::new().with_notrap();

/// Whether a step can be computed for two rows at a time with the same bits.
fn in_pairs(plan: &Plan, op: &Op) -> bool {
    match op {
        Op::Const(_) | Op::Hole(_) => true,
        Op::Unary(op, _) => matches!(op, Unary::Neg | Unary::Abs | Unary::Sqrt),
        Op::Binary(Binary::Pow, _, b) => matches!(plan.ops[*b as usize], Op::Const(2.0 | 3.0 | 4.0)),
        Op::Binary(op, ..) => {
            matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max)
        }
        _ => false,
    }
}

impl<'a> Emitter<'a> {
    /// A function of five words (values, words, rows, host, to), not yet begun.
    fn of(
        plan: &Plan,
        module: &'a mut JITModule,
        func: &'a mut Function,
        context: &'a mut FunctionBuilderContext,
        imports: &'a mut Imports,
    ) -> Emitter<'a> {
        let word = module.target_config().pointer_type();
        func.signature = module.make_signature();
        func.signature.params.extend([AbiParam::new(word); 5]);
        Emitter {
            s: Scalars::new(FunctionBuilder::new(func, context), module, imports),
            vals: vec![None; plan.ops.len()],
            word,
            holes: Holes::Words,
            first_hole: plan.results.len() as u32,
            offsets: Vec::new(),
        }
    }
}

impl Emitter<'_> {
    /// The address of a row's value, `offset` being eight times the number of the row.
    fn row_address(&mut self, first: Value, by: i32, offset: Value) -> Value {
        if by == 0 {
            return first;
        }
        let known = self.offsets.iter().find(|o| (o.0, o.1) == (offset, by)).map(|o| o.2);
        self.s.b.ins().iadd(first, known.unwrap_or(offset))
    }

    /// At the beginning of a row (or two): its offset times all the steps that occur, each once.
    fn scale_offsets(&mut self, offset: Value, steps: impl Iterator<Item = i32>) {
        for by in steps.filter(|by| *by != 0 && *by != 1) {
            if self.offsets.iter().any(|o| (o.0, o.1) == (offset, by)) {
                continue;
            }
            let scaled = match by {
                2 | 4 | 8 => self.s.b.ins().ishl_imm_s(offset, i64::from(by.trailing_zeros())),
                by => self.s.b.ins().imul_imm_s(offset, i64::from(by)),
            };
            self.offsets.push((offset, by, scaled));
        }
    }

    /// A value of the run at a row's offset, or two of them.
    fn moving(&mut self, (first, by): (Value, i32), offset: Value, negate: bool, ty: Type) -> Value {
        let at = self.row_address(first, by, offset);
        let v = if ty == types::F64 || by == 1 {
            self.s.b.ins().load(ty, UNALIGNED, at, 0)
        } else {
            let low = self.s.b.ins().load(types::F64, UNALIGNED, at, 0);
            let high = self.s.b.ins().load(types::F64, UNALIGNED, at, 8 * by);
            let v = self.s.b.ins().scalar_to_vector(ty, low);
            self.s.b.ins().insertlane(v, high, 1)
        };
        if negate { self.s.b.ins().fneg(v) } else { v }
    }

    /// The steps that are the same in every row, for two rows.
    fn splats(&mut self, plan: &Plan, places: &[(Place, bool)]) -> Vec<Option<Value>> {
        let mut all = Vec::with_capacity(plan.ops.len());
        for op in &plan.ops {
            let v = match op {
                Op::Const(c) => Some(self.s.constant(*c)),
                Op::Hole(k) => match places[*k as usize].0 {
                    Place::Fixed(v) => Some(v),
                    Place::At(..) => None,
                },
                _ => None,
            };
            all.push(v.map(|v| self.s.b.ins().splat(types::F64X2, v)));
        }
        all
    }

    /// The steps of an arithmetic plan for two rows.
    fn pairs(&mut self, plan: &Plan, places: &[(Place, bool)], fixed: &[Option<Value>], offset: Value) -> Vec<Value> {
        let mut vals: Vec<Value> = Vec::with_capacity(plan.ops.len());
        for (op, fixed) in plan.ops.iter().zip(fixed) {
            if let Some(v) = fixed {
                vals.push(*v);
                continue;
            }
            let v = match op {
                Op::Hole(k) => match places[*k as usize] {
                    (Place::At(first, by), negate) => self.moving((first, by), offset, negate, types::F64X2),
                    (Place::Fixed(_), _) => unreachable!("the same in every row"),
                },
                Op::Unary(op, a) => {
                    let a = vals[*a as usize];
                    match op {
                        Unary::Abs => self.s.b.ins().fabs(a),
                        Unary::Sqrt => self.s.b.ins().sqrt(a),
                        _ => self.s.b.ins().fneg(a),
                    }
                }
                Op::Binary(op, a, b) => {
                    let (x, y) = (vals[*a as usize], vals[*b as usize]);
                    match op {
                        Binary::Add => self.s.b.ins().fadd(x, y),
                        Binary::Sub => self.s.b.ins().fsub(x, y),
                        Binary::Mul => self.s.b.ins().fmul(x, y),
                        Binary::Div => self.s.b.ins().fdiv(x, y),
                        Binary::Pow => {
                            let square = self.s.b.ins().fmul(x, x);
                            match plan.ops[*b as usize] {
                                Op::Const(3.0) => self.s.b.ins().fmul(square, x),
                                Op::Const(4.0) => self.s.b.ins().fmul(square, square),
                                _ => square,
                            }
                        }
                        _ => {
                            let (p, q) = if *op == Binary::Min { (y, x) } else { (x, y) };
                            let less = self.s.b.ins().fcmp(FloatCC::LessThan, p, q);
                            let mask = self.s.b.ins().bitcast(types::F64X2, LITTLE, less);
                            self.s.b.ins().bitselect(mask, y, x)
                        }
                    }
                }
                _ => unreachable!("steps were looked at before"),
            };
            vals.push(v);
        }
        vals
    }

    fn steps(&mut self, plan: &Plan, values: Value, row: Value, host: Value) -> Result<(), JitError> {
        // Open branches: where the `else` part starts, and where both parts meet.
        let mut open: Vec<(Block, Block)> = Vec::new();
        for (i, op) in plan.ops.iter().enumerate() {
            self.vals[i] = match op {
                Op::Const(v) => Some(Val::Const(*v)),
                Op::Hole(k) => Some(Val::Real(self.hole(values, row, *k))),
                Op::Load(slot) => {
                    let flags = MemFlagsData::trusted();
                    Some(Val::Real(self.s.b.ins().load(types::F64, flags, values, 8 * *slot as i32)))
                }
                Op::Store(slot, v) => {
                    let v = self.real(*v);
                    self.s.b.ins().store(MemFlagsData::trusted(), v, values, 8 * *slot as i32);
                    None
                }
                Op::Unary(op, a) => Some(self.s.unary(*op, self.val(*a))?),
                Op::Binary(op, a, b) => Some(self.s.binary(*op, self.val(*a), self.val(*b))?),
                Op::Select(c, a, b) => {
                    let (c, a, b) = (self.truth(*c), self.real(*a), self.real(*b));
                    Some(Val::Real(self.s.b.ins().select(c, a, b)))
                }
                Op::If { cond, .. } => {
                    let c = self.truth(*cond);
                    let (then, els, end) = (self.s.b.create_block(), self.s.b.create_block(), self.s.b.create_block());
                    self.s.b.append_block_param(end, types::F64);
                    self.s.b.ins().brif(c, then, &[], els, &[]);
                    self.s.b.switch_to_block(then);
                    open.push((els, end));
                    None
                }
                Op::Else { value, .. } => {
                    let v = self.real(*value);
                    let &(els, end) = open.last().expect("branches nest");
                    self.s.b.ins().jump(end, &[BlockArg::Value(v)]);
                    self.s.b.switch_to_block(els);
                    None
                }
                Op::End { value } => {
                    let v = self.real(*value);
                    let (_, end) = open.pop().expect("branches nest");
                    self.s.b.ins().jump(end, &[BlockArg::Value(v)]);
                    self.s.b.switch_to_block(end);
                    Some(Val::Real(self.s.b.block_params(end)[0]))
                }
                Op::Call { func, at, n, out } => {
                    let args = &plan.args[*at as usize..][..*n as usize];
                    Some(Val::Real(self.host_call(CALL, host, func.0, *out, args, *n)?))
                }
                Op::CallDer { func, at, n, out } => {
                    let args = &plan.args[*at as usize..][..2 * *n as usize];
                    Some(Val::Real(self.host_call(CALL_DER, host, func.0, *out, args, *n)?))
                }
            };
        }
        Ok(())
    }

    /// Word `k` of the row, as 64 bits.
    fn word_at(&mut self, row: Value, k: u32) -> Value {
        let word = self.s.b.ins().load(types::I32, PURE, row, (4 * k) as i32);
        self.s.b.ins().uextend(types::I64, word)
    }

    fn slot_address(&mut self, values: Value, word: Value) -> Value {
        let slot = self.s.b.ins().band_imm_s(word, 0x7fff_ffff);
        let offset = self.s.b.ins().ishl_imm_s(slot, 3);
        self.s.b.ins().iadd(values, offset)
    }

    /// The value of a hole: loaded as bits, the sign bit flipped by the word's high bit.
    fn hole(&mut self, values: Value, row: Value, k: u32) -> Value {
        if let Holes::Run(places, offset) = &self.holes {
            let ((place, negate), offset) = (places[k as usize], *offset);
            return match place {
                Place::Fixed(v) => v,
                Place::At(first, by) => self.moving((first, by), offset, negate, types::F64),
            };
        }
        let word = self.word_at(row, self.first_hole + k);
        let address = self.slot_address(values, word);
        let bits = self.s.b.ins().load(types::I64, PURE, address, 0);
        let high = self.s.b.ins().ushr_imm_s(word, 31);
        let sign = self.s.b.ins().ishl_imm_s(high, 63);
        let bits = self.s.b.ins().bxor(sign, bits);
        self.s.b.ins().bitcast(types::F64, MemFlagsData::new(), bits)
    }

    /// A step as a number.
    fn real(&mut self, s: Step) -> Value {
        let v = self.val(s);
        self.s.real(v)
    }

    fn truth(&mut self, s: Step) -> Value {
        let v = self.val(s);
        self.s.truth(v)
    }

    fn val(&self, s: Step) -> Val {
        self.vals[s as usize].expect("operand without a value")
    }

    fn host_call(
        &mut self,
        name: &'static str,
        host: Value,
        func: u32,
        out: u32,
        args: &[Step],
        n: u32,
    ) -> Result<Value, JitError> {
        let size = u32::try_from(args.len() * 8).map_err(|_| JitError("too many arguments".into()))?;
        let slot = self.s.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size.max(8), 3));
        for (k, &a) in args.iter().enumerate() {
            let v = self.real(a);
            self.s.b.ins().stack_store(self.word, v, slot, (8 * k) as i32);
        }
        let w = self.word;
        let func = self.s.b.ins().iconst(types::I32, i64::from(func));
        let out = self.s.b.ins().iconst(types::I32, i64::from(out));
        let at = self.s.b.ins().stack_addr(w, slot, 0);
        let n = self.s.b.ins().iconst(w, i64::from(n));
        self.s.outside(name, &[w, types::I32, types::I32, w, w], &[host, func, out, at, n])
    }
}
