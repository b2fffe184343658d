//! The external functions of the Modelica Standard Library, by their symbol, implemented natively.
//!
//! Absent here: foreign code. A symbol that is not in the list is an error of the call, not of the model.

/// An argument of an external call: by value for scalars, by reference for arrays and for outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtArg {
    /// A scalar (strings and objects by handle).
    Num(f64),
    /// An array, row by row.
    Array {
        /// Its sizes.
        dims: Vec<usize>,
        /// Its elements.
        data: Vec<f64>,
    },
}

/// What an external function says when it fails.
pub type ExtResult = Result<f64, String>;

/// How the derivative of an external function is found.
#[derive(Clone, Copy)]
pub enum ExtDerivative {
    /// It does not depend on its Real arguments smoothly, or has none.
    Zero,
    /// The directional derivative of the returned value: arguments, then their derivatives.
    Analytic(fn(&[ExtArg], &[ExtArg]) -> ExtResult),
    /// By central differences of the call itself.
    Differences,
}

/// An external function.
pub struct External {
    /// Its symbol.
    pub symbol: &'static str,
    /// Runs it: outputs are written into the arguments, the returned value is the result.
    pub call: fn(&mut [ExtArg]) -> ExtResult,
    /// Its derivative.
    pub derivative: ExtDerivative,
}

impl std::fmt::Debug for External {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.symbol)
    }
}

/// The external function with this symbol.
pub fn lookup(_symbol: &str) -> Option<&'static External> {
    None
}

thread_local! {
    static WARNINGS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Warnings of external functions on this thread since the last time.
pub(crate) fn take_warnings() -> Vec<String> {
    WARNINGS.with_borrow_mut(|w| if w.is_empty() { Vec::new() } else { std::mem::take(w) })
}

pub(crate) fn warn(message: String) {
    WARNINGS.with_borrow_mut(|w| {
        if w.len() < 1000 {
            w.push(message);
        }
    });
}
