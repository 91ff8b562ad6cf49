//! What is computed from one state of an object once for each form in which clients ask for it.

use std::{ptr, sync::OnceLock};

use orch_runtime::resource_def::ResourceDef;

/// A value for each form, made when it is first asked for. There are a few forms in practice, so they are
/// looked through one by one.
pub struct PerForm<T>(OnceLock<Box<OfForm<T>>>);

struct OfForm<T> {
    def: &'static ResourceDef,
    value: T,
    others: PerForm<T>,
}

impl<T> Default for PerForm<T> {
    fn default() -> Self {
        PerForm(OnceLock::new())
    }
}

impl<T> PerForm<T> {
    /// The value for a form: the one that is there, or what `make` returns.
    pub fn get_or_make(&self, def: &'static ResourceDef, make: impl Fn() -> T) -> &T {
        let mut here = self;
        loop {
            let first =
                here.0.get_or_init(|| Box::new(OfForm { def, value: make(), others: PerForm::default() }));
            if ptr::eq(first.def, def) {
                return &first.value;
            }
            here = &first.others;
        }
    }
}
