//! The product words of `vocabulary.yaml`, as statics.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::emitter::upper_snake;
use crate::model::VocabularyWords;

/// One static per vocabulary, and `VOCABULARIES`, which lists them in the order written.
pub fn vocabularies(all: &[VocabularyWords]) -> TokenStream {
    if all.is_empty() {
        return TokenStream::new();
    }
    let names: Vec<_> = all.iter().map(|words| format_ident!("{}", upper_snake(&words.name))).collect();
    let statics = all.iter().zip(&names).map(|(words, name)| vocabulary(words, name));
    quote! {
        #(#statics)*

        /// Every set of product words that this crate knows; the first is the default.
        pub static VOCABULARIES: &[&orch_runtime::vocabulary::Vocabulary] = &[#(&#names),*];
    }
}

fn vocabulary(words: &VocabularyWords, item: &proc_macro2::Ident) -> TokenStream {
    let name = &words.name;
    let docs = format!(" The words of `{name}`.");
    let fields = words.words.iter().map(|(symbol, spelling)| {
        let symbol = format_ident!("{symbol}");
        quote!(#symbol: #spelling,)
    });
    quote! {
        #[doc = #docs]
        pub static #item: orch_runtime::vocabulary::Vocabulary = orch_runtime::vocabulary::Vocabulary {
            name: #name,
            #(#fields)*
        };
    }
}
