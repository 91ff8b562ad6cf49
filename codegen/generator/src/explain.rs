//! What each code means: `orch-codegen explain E0121`.
//!
//! The texts are pages of their own, `explain/errors.md` and `explain/breaking.md`: a section for each code,
//! with its title, what to do, and an example.

const PAGES: [&str; 2] = [include_str!("explain/errors.md"), include_str!("explain/breaking.md")];

/// The section of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `E0121`.
    pub code: &'static str,
    /// What is wrong, without the names of a case.
    pub title: &'static str,
    /// The rest: Markdown.
    pub text: &'static str,
}

/// Every section, in the order of the codes.
pub fn entries() -> impl Iterator<Item = Entry> {
    PAGES.iter().flat_map(|page| page.split("\n## ").skip(1)).filter_map(|section| {
        let (head, text) = section.split_once('\n')?;
        let (code, title) = head.split_once(": ")?;
        Some(Entry { code, title, text: text.trim() })
    })
}

/// The section of one code, in capital or small letters.
pub fn entry(code: &str) -> Option<Entry> {
    entries().find(|entry| entry.code.eq_ignore_ascii_case(code))
}
