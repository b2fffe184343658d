//! External functions of the standard library that exported C brings along. Each takes all arguments in one form
//! (`saltus_arg`), writes its outputs into them and gives its result, texts as their numbers.

use saltus_function::external::{ExtDerivative, lookup};

const LAPACK: &str = include_str!("lapack.c");
const SCHUR: &str = include_str!("schur.c");
const RANDOM: &str = include_str!("random.c");
const IMPURE: &str = include_str!("impure.c");
const FOURIER: &str = include_str!("fourier.c");
const STRINGS: &str = include_str!("strings.c");
const FILES: &str = include_str!("files.c");

/// Parts of the file that functions may need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pieces {
    pub lapack: bool,
    pub schur: bool,
    pub random: bool,
    pub impure: bool,
    pub fourier: bool,
    pub strings: bool,
    pub files: bool,
}

impl Pieces {
    /// Adds what a symbol needs; whether it is one of those provided.
    pub fn add(&mut self, symbol: &str) -> bool {
        const LINEAR: [&str; 18] = [
            "dgesv", "dgetrf", "dgetrs", "dgetri", "dgtsv", "dgbsv", "dgecon", "dlange", "dpotrf", "dgeqrf", "dgeqp3",
            "dorgqr", "dormqr", "dgesvd", "dgesdd", "dgels", "dgelsy", "dgeev",
        ];
        const FORMS: [&str; 15] = [
            "dtrsm", "dgehrd", "dorghr", "dormhr", "dgglse", "dtrsyl", "dgesvx", "dgees", "dhseqr", "dtrsen", "dtrevc",
            "dgeevx", "dggev", "dggevx", "dhgeqz",
        ];
        const STREAMS: [&str; 19] = [
            "ModelicaError",
            "ModelicaWarning",
            "ModelicaMessage",
            "ModelicaStreams_closeFile",
            "ModelicaInternal_print",
            "ModelicaInternal_readLine",
            "ModelicaInternal_readFile",
            "ModelicaInternal_countLines",
            "ModelicaInternal_stat",
            "ModelicaInternal_rename",
            "ModelicaInternal_removeFile",
            "ModelicaInternal_copyFile",
            "ModelicaInternal_temporaryFileName",
            "ModelicaInternal_getenv",
            "ModelicaInternal_getTime",
            "system",
            "ModelicaIO_readMatrixSizes",
            "ModelicaIO_readRealMatrix",
            "ModelicaIO_writeRealMatrix",
        ];
        let schur = FORMS.contains(&symbol);
        let files = STREAMS.contains(&symbol);
        let strings = symbol.starts_with("ModelicaStrings_");
        let impure = symbol == "ModelicaRandom_automaticGlobalSeed"
            || symbol.starts_with("ModelicaRandom_impure")
            || symbol.starts_with("ModelicaRandom_setInternalState");
        let fourier = symbol == "ModelicaFFT_kiss_fftr";
        let lapack = schur || LINEAR.contains(&symbol);
        self.lapack |= lapack;
        self.schur |= schur;
        self.random |= impure;
        self.impure |= impure;
        self.fourier |= fourier;
        self.strings |= strings;
        self.files |= files;
        (lapack || files || strings || impure || fourier) && lookup(symbol).is_some()
    }

    /// Whether text is taken apart or built.
    pub fn texts(&self) -> bool {
        self.strings || self.files
    }

    /// What of them the file holds.
    pub fn text(&self) -> String {
        let list = [
            (self.lapack, LAPACK),
            (self.schur, SCHUR),
            (self.random, RANDOM),
            (self.impure, IMPURE),
            (self.fourier, FOURIER),
            (self.strings, STRINGS),
            (self.files, FILES),
        ];
        list.into_iter().filter(|p| p.0).map(|p| p.1).collect()
    }
}

/// Whether a function with this symbol is provided.
pub(crate) fn is_provided(symbol: &str) -> bool {
    Pieces::default().add(symbol)
}

/// Whether its results follow its Real arguments, by central differences.
pub(crate) fn has_slope(symbol: &str) -> bool {
    lookup(symbol).is_none_or(|x| !matches!(x.derivative, ExtDerivative::Zero))
}
