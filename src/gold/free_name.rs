//! Unique names for things with the same name.

/// The first of `name`, `name-2`, `name-3`, … that is free.
pub fn free_name(name: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let mut names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
    // The numbers never end.
    names.find(|name| is_free(name)).unwrap_or_default()
}
