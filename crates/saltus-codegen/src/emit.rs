//! A plan as Cranelift IR: one function that loops over the rows.
//!
//! ```text
//! entry(values, words, rows, host):  end = words + rows*stride*4;  jump row(words)
//! row(p):                            …steps…;  store values[p[0]];  p' = p + stride*4;  brif p' != end, row(p'), exit
//! ```
//!
//! Relations stay one-bit values until a number is asked for, so `if a < b` compares and branches. There are no
//! Cranelift variables: operands dominate their uses by construction of the plan.

use crate::jit::JitError;
use crate::plan::{Op, Plan, Step};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, FuncRef, Function, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value,
    types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use rustc_hash::FxHashMap;
use saltus_expr::{Binary, Unary};

/// Symbol of the function call trampoline.
pub(crate) const CALL: &str = "saltus_call";
/// Symbol of the directional derivative trampoline.
pub(crate) const CALL_DER: &str = "saltus_call_der";

/// Functions of the outside declared in a module so far.
pub(crate) type Imports = FxHashMap<&'static str, FuncId>;

/// Flags of all loads: they may move to where their value is used. That is right for values too, since nothing is
/// stored before the last use of the row, and their addresses depend on the row, so none can leave the loop.
const PURE: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();

/// The value of a step.
#[derive(Clone, Copy)]
enum Val {
    None,
    Const(f64),
    Real(Value),
    /// Zero or one in an `i8`.
    Truth(Value),
}

struct Emitter<'a> {
    b: FunctionBuilder<'a>,
    module: &'a mut JITModule,
    imports: &'a mut Imports,
    /// Imports already declared in this function.
    refs: FxHashMap<&'static str, FuncRef>,
    vals: Vec<Val>,
    word: Type,
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
    let stride = i64::try_from(4 * (plan.holes + 1)).unwrap_or(i64::MAX);
    if !plan.holes_declared || stride > i64::from(i32::MAX) || word != types::I64 {
        return Err(JitError("template not fit for native code".into()));
    }
    func.signature = module.make_signature();
    func.signature.params.extend([AbiParam::new(word); 4]);
    let config = module.target_config();
    let mut e = Emitter {
        b: FunctionBuilder::new(func, context),
        module,
        imports,
        refs: FxHashMap::default(),
        vals: vec![Val::None; plan.ops.len()],
        word,
    };
    let entry = e.b.create_block();
    let row = e.b.create_block();
    let exit = e.b.create_block();
    e.b.append_block_params_for_function_params(entry);
    let at = e.b.append_block_param(row, word);
    e.b.switch_to_block(entry);
    let [values, words, rows, host] = *e.b.block_params(entry) else { unreachable!("four parameters") };
    let bytes = e.b.ins().imul_imm_s(rows, stride);
    let end = e.b.ins().iadd(words, bytes);
    e.b.ins().jump(row, &[BlockArg::Value(words)]);

    e.b.switch_to_block(row);
    e.steps(plan, values, at, host)?;
    let result = e.real(plan.result);
    let dest = e.word_at(at, 0);
    let dest = e.slot_address(values, dest);
    e.b.ins().store(MemFlagsData::trusted(), result, dest, 0);
    let next = e.b.ins().iadd_imm_s(at, stride);
    let more = e.b.ins().icmp(IntCC::NotEqual, next, end);
    e.b.ins().brif(more, row, &[BlockArg::Value(next)], exit, &[]);

    e.b.switch_to_block(exit);
    e.b.ins().return_(&[]);
    e.b.seal_all_blocks();
    e.b.finalize(config);
    Ok(())
}

impl Emitter<'_> {
    fn steps(&mut self, plan: &Plan, values: Value, row: Value, host: Value) -> Result<(), JitError> {
        // Open branches: where the `else` part starts, and where both parts meet.
        let mut open: Vec<(Block, Block)> = Vec::new();
        for (i, op) in plan.ops.iter().enumerate() {
            self.vals[i] = match op {
                Op::Const(v) => Val::Const(*v),
                Op::Hole(k) => Val::Real(self.hole(values, row, *k)),
                Op::Unary(op, a) => self.unary(*op, *a)?,
                Op::Binary(op, a, b) => self.binary(*op, *a, *b)?,
                Op::Select(c, a, b) => {
                    let (c, a, b) = (self.truth(*c), self.real(*a), self.real(*b));
                    Val::Real(self.b.ins().select(c, a, b))
                }
                Op::If { cond, .. } => {
                    let c = self.truth(*cond);
                    let (then, els, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
                    self.b.append_block_param(end, types::F64);
                    self.b.ins().brif(c, then, &[], els, &[]);
                    self.b.switch_to_block(then);
                    open.push((els, end));
                    Val::None
                }
                Op::Else { value, .. } => {
                    let v = self.real(*value);
                    let &(els, end) = open.last().expect("branches nest");
                    self.b.ins().jump(end, &[BlockArg::Value(v)]);
                    self.b.switch_to_block(els);
                    Val::None
                }
                Op::End { value } => {
                    let v = self.real(*value);
                    let (_, end) = open.pop().expect("branches nest");
                    self.b.ins().jump(end, &[BlockArg::Value(v)]);
                    self.b.switch_to_block(end);
                    Val::Real(self.b.block_params(end)[0])
                }
                Op::Call { func, at, n, out } => {
                    let args = &plan.args[*at as usize..][..*n as usize];
                    Val::Real(self.host_call(CALL, host, func.0, *out, args, *n)?)
                }
                Op::CallDer { func, at, n, out } => {
                    let args = &plan.args[*at as usize..][..2 * *n as usize];
                    Val::Real(self.host_call(CALL_DER, host, func.0, *out, args, *n)?)
                }
            };
        }
        Ok(())
    }

    /// Word `k` of the row, as 64 bits.
    fn word_at(&mut self, row: Value, k: u32) -> Value {
        let word = self.b.ins().load(types::I32, PURE, row, (4 * k) as i32);
        self.b.ins().uextend(types::I64, word)
    }

    fn slot_address(&mut self, values: Value, word: Value) -> Value {
        let slot = self.b.ins().band_imm_s(word, 0x7fff_ffff);
        let offset = self.b.ins().ishl_imm_s(slot, 3);
        self.b.ins().iadd(values, offset)
    }

    /// The value of a hole: loaded as bits, the sign bit flipped by the word's high bit.
    fn hole(&mut self, values: Value, row: Value, k: u32) -> Value {
        let word = self.word_at(row, k + 1);
        let address = self.slot_address(values, word);
        let bits = self.b.ins().load(types::I64, PURE, address, 0);
        let high = self.b.ins().ushr_imm_s(word, 31);
        let sign = self.b.ins().ishl_imm_s(high, 63);
        let bits = self.b.ins().bxor(sign, bits);
        self.b.ins().bitcast(types::F64, MemFlagsData::new(), bits)
    }

    fn constant(&mut self, v: f64) -> Value {
        self.b.ins().f64const(Ieee64::with_bits(v.to_bits()))
    }

    /// A step as a number.
    fn real(&mut self, s: Step) -> Value {
        match self.vals[s as usize] {
            Val::Real(v) => v,
            Val::Const(v) => self.constant(v),
            Val::Truth(t) => {
                // 0 or the bits of 1.0.
                let wide = self.b.ins().uextend(types::I64, t);
                let mask = self.b.ins().ineg(wide);
                let one = self.b.ins().iconst(types::I64, 1.0f64.to_bits() as i64);
                let bits = self.b.ins().band(mask, one);
                self.b.ins().bitcast(types::F64, MemFlagsData::new(), bits)
            }
            Val::None => unreachable!("operand without a value"),
        }
    }

    /// Whether a step is not zero (NaN is not).
    fn truth(&mut self, s: Step) -> Value {
        match self.vals[s as usize] {
            Val::Truth(t) => t,
            Val::Const(v) => self.b.ins().iconst(types::I8, i64::from(v != 0.0)),
            _ => {
                let (v, zero) = (self.real(s), self.constant(0.0));
                self.b.ins().fcmp(FloatCC::NotEqual, v, zero)
            }
        }
    }

    fn unary(&mut self, op: Unary, s: Step) -> Result<Val, JitError> {
        if op == Unary::Not {
            let t = self.truth(s);
            let one = self.b.ins().iconst(types::I8, 1);
            return Ok(Val::Truth(self.b.ins().bxor(t, one)));
        }
        let a = self.real(s);
        Ok(Val::Real(match op {
            Unary::Not => unreachable!("handled above"),
            Unary::Neg => self.b.ins().fneg(a),
            Unary::Abs => self.b.ins().fabs(a),
            Unary::Sqrt => self.b.ins().sqrt(a),
            Unary::Floor => self.b.ins().floor(a),
            Unary::Ceil => self.b.ins().ceil(a),
            Unary::Trunc => self.b.ins().trunc(a),
            Unary::Sign => {
                let zero = self.constant(0.0);
                let above = self.b.ins().fcmp(FloatCC::GreaterThan, a, zero);
                let below = self.b.ins().fcmp(FloatCC::LessThan, a, zero);
                let above = self.b.ins().uextend(types::I32, above);
                let below = self.b.ins().uextend(types::I32, below);
                let sign = self.b.ins().isub(above, below);
                self.b.ins().fcvt_from_sint(types::F64, sign)
            }
            Unary::Exp => self.library("saltus_exp", &[a])?,
            Unary::Log => self.library("saltus_log", &[a])?,
            Unary::Log10 => self.library("saltus_log10", &[a])?,
            Unary::Sin => self.library("saltus_sin", &[a])?,
            Unary::Cos => self.library("saltus_cos", &[a])?,
            Unary::Tan => self.library("saltus_tan", &[a])?,
            Unary::Asin => self.library("saltus_asin", &[a])?,
            Unary::Acos => self.library("saltus_acos", &[a])?,
            Unary::Atan => self.library("saltus_atan", &[a])?,
            Unary::Sinh => self.library("saltus_sinh", &[a])?,
            Unary::Cosh => self.library("saltus_cosh", &[a])?,
            Unary::Tanh => self.library("saltus_tanh", &[a])?,
        }))
    }

    fn binary(&mut self, op: Binary, s: Step, t: Step) -> Result<Val, JitError> {
        if let Binary::And | Binary::Or = op {
            let (a, b) = (self.truth(s), self.truth(t));
            return Ok(Val::Truth(match op {
                Binary::And => self.b.ins().band(a, b),
                _ => self.b.ins().bor(a, b),
            }));
        }
        let exponent = match self.vals[t as usize] {
            Val::Const(v) => v,
            _ => f64::NAN,
        };
        let (a, b) = (self.real(s), self.real(t));
        let relation = |e: &mut Self, cc| Ok(Val::Truth(e.b.ins().fcmp(cc, a, b)));
        Ok(Val::Real(match op {
            Binary::Add => self.b.ins().fadd(a, b),
            Binary::Sub => self.b.ins().fsub(a, b),
            Binary::Mul => self.b.ins().fmul(a, b),
            Binary::Div => self.b.ins().fdiv(a, b),
            Binary::Pow if matches!(exponent, 2.0 | 3.0 | 4.0) => {
                let square = self.b.ins().fmul(a, a);
                match exponent {
                    3.0 => self.b.ins().fmul(square, a),
                    4.0 => self.b.ins().fmul(square, square),
                    _ => square,
                }
            }
            Binary::Pow => self.library("saltus_pow", &[a, b])?,
            Binary::Atan2 => self.library("saltus_atan2", &[a, b])?,
            // In these forms x64 has them as one instruction.
            Binary::Min => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, b, a);
                self.b.ins().select(less, b, a)
            }
            Binary::Max => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
                self.b.ins().select(less, b, a)
            }
            Binary::Lt => return relation(self, FloatCC::LessThan),
            Binary::Le => return relation(self, FloatCC::LessThanOrEqual),
            Binary::Gt => return relation(self, FloatCC::GreaterThan),
            Binary::Ge => return relation(self, FloatCC::GreaterThanOrEqual),
            Binary::Eq => return relation(self, FloatCC::Equal),
            Binary::Ne => return relation(self, FloatCC::NotEqual),
            Binary::And | Binary::Or => unreachable!("handled above"),
        }))
    }

    fn library(&mut self, name: &'static str, args: &[Value]) -> Result<Value, JitError> {
        let params = vec![types::F64; args.len()];
        self.outside(name, &params, args)
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
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size.max(8), 3));
        for (k, &a) in args.iter().enumerate() {
            let v = self.real(a);
            self.b.ins().stack_store(self.word, v, slot, (8 * k) as i32);
        }
        let w = self.word;
        let func = self.b.ins().iconst(types::I32, i64::from(func));
        let out = self.b.ins().iconst(types::I32, i64::from(out));
        let at = self.b.ins().stack_addr(w, slot, 0);
        let n = self.b.ins().iconst(w, i64::from(n));
        self.outside(name, &[w, types::I32, types::I32, w, w], &[host, func, out, at, n])
    }

    /// Calls a function of the outside, which returns a number.
    fn outside(&mut self, name: &'static str, params: &[Type], args: &[Value]) -> Result<Value, JitError> {
        let callee = match self.refs.get(name) {
            Some(&r) => r,
            None => {
                let id = match self.imports.get(name) {
                    Some(&id) => id,
                    None => {
                        let mut sig = self.module.make_signature();
                        sig.params.extend(params.iter().map(|&t| AbiParam::new(t)));
                        sig.returns.push(AbiParam::new(types::F64));
                        let id = self
                            .module
                            .declare_function(name, Linkage::Import, &sig)
                            .map_err(|e| JitError(e.to_string()))?;
                        self.imports.insert(name, id);
                        id
                    }
                };
                let r = self.module.declare_func_in_func(id, self.b.func);
                self.refs.insert(name, r);
                r
            }
        };
        let call = self.b.ins().call(callee, args);
        Ok(self.b.inst_results(call)[0])
    }
}
