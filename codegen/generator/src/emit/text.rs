//! Tokens in, source text out, laid out as a person would.

use proc_macro2::TokenStream;

/// A piece of a file.
#[derive(Debug)]
pub enum Item {
    /// Items of Rust.
    Tokens(TokenStream),
    /// The call of a macro that defines an item, laid out already: no formatter looks into macros.
    Text(String),
}

impl From<TokenStream> for Item {
    fn from(tokens: TokenStream) -> Self {
        Item::Tokens(tokens)
    }
}

/// Formats items, with an empty line between them and between the functions of an impl.
pub fn source(items: &[Item]) -> String {
    let mut pieces = Vec::new();
    for item in items {
        match item {
            Item::Tokens(tokens) => pieces.extend(formatted(tokens)),
            Item::Text(text) => pieces.push(text.clone()),
        }
    }
    pieces.join("\n")
}

/// Each item as text; `use` lines stay together.
fn formatted(tokens: &TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(tokens.clone())
        .unwrap_or_else(|error| panic!("emitters write valid Rust, but: {error}\n{tokens}"));
    let all_uses = file.items.iter().all(|item| matches!(item, syn::Item::Use(_)));
    let groups: Vec<Vec<syn::Item>> =
        if all_uses { vec![file.items] } else { file.items.into_iter().map(|item| vec![item]).collect() };
    let with_content = groups.into_iter().filter(|items| !items.is_empty());
    with_content.map(|items| spaced(&prettyplease::unparse(&syn::File { items, ..empty_file() }))).collect()
}

fn empty_file() -> syn::File {
    syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: Vec::new() }
}

/// Puts an empty line after each function of an impl that another one follows.
fn spaced(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::with_capacity(text.len() + 64);
    for (index, line) in lines.iter().enumerate() {
        out.push_str(line);
        out.push('\n');
        let next = lines.get(index + 1).copied().unwrap_or_default();
        if *line == "    }" && next.starts_with("    ") {
            out.push('\n');
        }
    }
    out
}
