//! Tokens in, source text out, laid out as a person would.

use proc_macro2::TokenStream;

/// Formats items, with an empty line between them and between the functions of an impl.
pub fn source(items: &[TokenStream]) -> String {
    let mut out = String::new();
    for tokens in items {
        let file: syn::File = syn::parse2(tokens.clone())
            .unwrap_or_else(|error| panic!("emitters write valid Rust, but: {error}\n{tokens}"));
        let all_uses = file.items.iter().all(|item| matches!(item, syn::Item::Use(_)));
        let groups: Vec<Vec<syn::Item>> =
            if all_uses { vec![file.items] } else { file.items.into_iter().map(|item| vec![item]).collect() };
        for items in groups.into_iter().filter(|items| !items.is_empty()) {
            if !out.is_empty() {
                out.push('\n');
            }
            let file = syn::File { items, ..empty_file() };
            out.push_str(&spaced(&prettyplease::unparse(&file)));
        }
    }
    out
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
