//! Where things of the user lie.

use std::path::PathBuf;

/// The folder for what may be thrown away: `$XDG_CACHE_HOME/saltus`, else `$HOME/.cache/saltus`, else a temporary one.
pub fn cache_folder() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|h| h.join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("saltus")
}
