//! Scalar operations as Cranelift IR: what kernels and functions have in common.
//!
//! Relations stay one-bit values until a number is asked for, so `if a < b` compares and branches.

use crate::jit::JitError;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{AbiParam, FuncRef, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use rustc_hash::FxHashMap;
use saltus_expr::{Binary, Unary};

/// Functions of the outside declared in a module so far.
pub(crate) type Imports = FxHashMap<&'static str, FuncId>;

/// A scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Val {
    Const(f64),
    Real(Value),
    /// Zero or one in an `i8`.
    Truth(Value),
}

/// A function under construction.
pub(crate) struct Scalars<'a> {
    pub b: FunctionBuilder<'a>,
    module: &'a mut JITModule,
    imports: &'a mut Imports,
    /// Imports already declared in this function.
    refs: FxHashMap<&'static str, FuncRef>,
}

impl<'a> Scalars<'a> {
    pub fn new(b: FunctionBuilder<'a>, module: &'a mut JITModule, imports: &'a mut Imports) -> Self {
        Scalars { b, module, imports, refs: FxHashMap::default() }
    }

    pub fn constant(&mut self, v: f64) -> Value {
        self.b.ins().f64const(Ieee64::with_bits(v.to_bits()))
    }

    /// As a number.
    pub fn real(&mut self, v: Val) -> Value {
        match v {
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
        }
    }

    /// Whether it is not zero (NaN is not).
    pub fn truth(&mut self, v: Val) -> Value {
        match v {
            Val::Truth(t) => t,
            Val::Const(v) => self.b.ins().iconst(types::I8, i64::from(v != 0.0)),
            Val::Real(v) => {
                let zero = self.constant(0.0);
                self.b.ins().fcmp(FloatCC::NotEqual, v, zero)
            }
        }
    }

    pub fn unary(&mut self, op: Unary, s: Val) -> Result<Val, JitError> {
        if op == Unary::Event {
            return Ok(s);
        }
        if op == Unary::Not {
            let t = self.truth(s);
            let one = self.b.ins().iconst(types::I8, 1);
            return Ok(Val::Truth(self.b.ins().bxor(t, one)));
        }
        let a = self.real(s);
        Ok(Val::Real(match op {
            Unary::Not | Unary::Event => unreachable!("handled above"),
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

    pub fn binary(&mut self, op: Binary, s: Val, t: Val) -> Result<Val, JitError> {
        if let Binary::And | Binary::Or = op {
            let (a, b) = (self.truth(s), self.truth(t));
            return Ok(Val::Truth(match op {
                Binary::And => self.b.ins().band(a, b),
                _ => self.b.ins().bor(a, b),
            }));
        }
        let exponent = match t {
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

    pub fn library(&mut self, name: &'static str, args: &[Value]) -> Result<Value, JitError> {
        let params = vec![types::F64; args.len()];
        self.outside(name, &params, args)
    }

    /// Calls a function of the outside, which returns a number.
    pub fn outside(&mut self, name: &'static str, params: &[Type], args: &[Value]) -> Result<Value, JitError> {
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
