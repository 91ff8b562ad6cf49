//! Macros over the items of lists and maps.

use std::collections::BTreeMap;

use orch_runtime::expression::access::exact_key;

use super::{Evaluated, Evaluation, failed, is_final};
use crate::{
    ast::FoldKind,
    error::Failure,
    fault::Fault,
    typed::Fold,
    value::{Key, Value},
};

/// What was made of the items so far.
#[derive(Default)]
struct Made {
    items: Vec<Value>,
    entries: BTreeMap<Key, Value>,
    matches: usize,
    /// The first failure, where another item may still decide.
    failure: Option<Box<Failure>>,
}

impl Evaluation<'_> {
    pub(super) fn fold(&mut self, fold: &Fold) -> Evaluated {
        let range = self.term(&fold.range)?;
        let depth = self.locals.len();
        let mut made = Made::default();
        let decided = match &range {
            Value::List(list) => list.items().iter().enumerate().try_for_each(|(position, item)| {
                self.item(fold, &mut made, &Value::Int(position as i64), item, item)
            }),
            Value::Map(map) => map.entries().iter().try_for_each(|(key, value)| {
                let key = key.value();
                self.item(fold, &mut made, &key, value, &key)
            }),
            _ => Err(Some(failed(fold.range.at, Fault::wrong_type()))),
        };
        self.locals.truncate(depth);
        match decided {
            Err(Some(failure)) => return Err(failure),
            Err(None) => return Ok(Value::Bool(fold.kind == FoldKind::Exists)),
            Ok(()) => {}
        }
        if let Some(failure) = made.failure {
            return Err(failure);
        }
        Ok(match fold.kind {
            FoldKind::All => Value::Bool(true),
            FoldKind::Exists => Value::Bool(false),
            FoldKind::ExistsOne => Value::Bool(made.matches == 1),
            FoldKind::Filter | FoldKind::Map => Value::list(made.items),
            FoldKind::TransformMap | FoldKind::TransformMapEntry => Value::map(made.entries),
        })
    }

    /// One item. `single` is what a macro with one variable sees. An error without a failure means that the
    /// item decides for all: `exists` holds, or `all` does not.
    fn item(
        &mut self,
        fold: &Fold,
        made: &mut Made,
        first: &Value,
        second: &Value,
        single: &Value,
    ) -> Result<(), Option<Box<Failure>>> {
        let depth = self.locals.len();
        if fold.variables == 1 {
            self.locals.push(single.clone());
        } else {
            self.locals.extend([first.clone(), second.clone()]);
        }
        let result = self.item_in_scope(fold, made, first, single);
        self.locals.truncate(depth);
        result
    }

    fn item_in_scope(
        &mut self,
        fold: &Fold,
        made: &mut Made,
        key: &Value,
        single: &Value,
    ) -> Result<(), Option<Box<Failure>>> {
        if let Some(filter) = &fold.filter
            && !self.boolean(filter)?
        {
            return Ok(());
        }
        match fold.kind {
            FoldKind::All | FoldKind::Exists => match self.boolean(&fold.body) {
                Ok(holds) if holds == (fold.kind == FoldKind::Exists) => return Err(None),
                Ok(_) => {}
                Err(failure) if is_final(&failure) => return Err(Some(failure)),
                Err(failure) => made.failure = made.failure.take().or(Some(failure)),
            },
            FoldKind::ExistsOne => made.matches += usize::from(self.boolean(&fold.body)?),
            FoldKind::Filter => {
                if self.boolean(&fold.body)? {
                    made.items.push(single.clone());
                }
            }
            FoldKind::Map => made.items.push(self.term(&fold.body)?),
            FoldKind::TransformMap => {
                let key = exact_key(key).map_err(|fault| failed(fold.range.at, fault))?;
                made.entries.insert(key, self.term(&fold.body)?);
            }
            FoldKind::TransformMapEntry => self.entries(fold, made)?,
        }
        Ok(())
    }

    /// The entries of the map that the body makes; a key may come once.
    fn entries(&mut self, fold: &Fold, made: &mut Made) -> Result<(), Box<Failure>> {
        let Value::Map(map) = self.term(&fold.body)? else {
            return Err(failed(fold.body.at, Fault::wrong_type()));
        };
        self.budget.spend(map.entries().len()).map_err(|fault| failed(fold.body.at, fault))?;
        for (key, value) in map.entries() {
            if made.entries.insert(key.clone(), value.clone()).is_some() {
                let problem = format!("the key {key} is made twice");
                return Err(failed(fold.body.at, Fault::invalid(problem)));
            }
        }
        Ok(())
    }
}
