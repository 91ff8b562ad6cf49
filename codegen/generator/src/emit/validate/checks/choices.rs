//! Choices between members, of which one may be given.

use orch_runtime::field_error::Reason;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{super::scope::Scope, members, told};
use crate::{
    emit::emitter::Emitter,
    model::{Check, Demand, ObjectType, Step},
};

/// The members of choices, as their rules are written one after the other.
#[derive(Default)]
pub(in super::super) struct Choices {
    /// How many members each choice has met.
    met: Vec<usize>,
}

impl Choices {
    /// The rules of a field and about it, if it is a member of a choice: after the first member that is
    /// given, each one is refused, and else its own rules are judged.
    pub(in super::super) fn member<'m>(
        &mut self,
        emitter: &Emitter<'m>,
        object: &'m ObjectType,
        name: &str,
        mut own: TokenStream,
    ) -> TokenStream {
        for (index, check) in object.checks.iter().enumerate() {
            let Some(members) = members(check).filter(|members| members.contains(&name)) else { continue };
            self.met.resize(object.checks.len(), 0);
            self.met[index] += 1;
            let taken = format_ident!("taken_{index}");
            let scope = Scope::new(object, "self");
            let path = vec![Step::Field(name.to_owned())];
            let given = scope.given(emitter, &path);
            if self.met[index] == 1 {
                let mutable = (members.len() > 2).then(|| quote!(mut));
                own = quote!(#own let #mutable #taken = #given;);
                continue;
            }
            let mut told = told(emitter, &scope, check);
            told.place = scope.place(emitter, &[Step::Field(told_as(check, name).to_owned())]);
            let report = told.report(Reason::Forbidden, "may not specify more than one of these", None);
            let remember = (self.met[index] < members.len()).then(|| quote!(#taken |= #given;));
            own = quote! {
                if #taken && #given { #report } else { #own #remember }
            };
        }
        own
    }
}

/// What errors call a member of a choice.
fn told_as<'c>(check: &'c Check, name: &'c str) -> &'c str {
    let Demand::AtMostOne { told_as, .. } = &check.demand else { return name };
    told_as.iter().find(|(field, _)| field == name).map_or(name, |(_, told)| told)
}
