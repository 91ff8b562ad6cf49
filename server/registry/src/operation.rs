//! Sub-resources that do something, and kinds that are questions: who performs and who answers them.
//!
//! Both are registered like behaviour ([`crate::behaviour`]): for exactly one kind, and an operation for one of its
//! sub-resources. The body of an operation is of the kind that the schema names for the sub-resource.

use std::{collections::HashMap, marker::PhantomData, sync::Arc};

use futures_util::future::BoxFuture;
use orch_runtime::{
    Tree,
    object::{ApiObject, Kind},
    resource_def::ResourceDef,
};
use serde::de::DeserializeOwned;

use crate::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    options::WriteOptions,
    request::Target,
};

/// The request that an operation is performed for.
#[derive(Clone, Copy)]
pub struct OperationContext<'a> {
    /// The request.
    pub cx: &'a RequestContext<'a>,
    /// The object, with the sub-resource.
    pub target: &'a Target<'a>,
    /// How it is written.
    pub options: &'a WriteOptions,
}

/// Performs the operations of one sub-resource.
pub trait Operation: Send + Sync + 'static {
    /// The type of the body.
    type Body: DeserializeOwned + Send;

    /// Does what the body asks for.
    fn perform<'a>(
        &'a self,
        context: OperationContext<'a>,
        body: Self::Body,
    ) -> BoxFuture<'a, Result<Answer>>;
}

/// Answers the questions of one kind.
pub trait Review<T: Kind>: Send + Sync + 'static {
    /// Fills in what the client may leave out, before the question is validated.
    ///
    /// # Errors
    /// 400 for a question that says too little.
    fn prepare(&self, _question: &mut T) -> Result<()> {
        Ok(())
    }

    /// Whether the answer repeats the question, with a record of who asked.
    fn repeats_question(&self) -> bool {
        true
    }

    /// Writes the answer into the question, which is complete and valid.
    fn answer<'a>(&'a self, cx: &'a RequestContext<'a>, question: &'a mut T) -> BoxFuture<'a, Result<()>>;
}

/// An operation with a body of any type. See [`Operation`].
pub trait AnyOperation: Send + Sync {
    /// Reads the body and does what it asks for.
    fn perform<'a>(&'a self, context: OperationContext<'a>, body: Tree) -> BoxFuture<'a, Result<Answer>>;
}

/// A review of any kind. See [`Review`].
#[allow(missing_docs, reason = "each method is the one of the same name of `Review`")]
pub trait AnyReview: Send + Sync {
    fn prepare(&self, question: &mut dyn ApiObject) -> Result<()>;
    fn repeats_question(&self) -> bool;
    fn answer<'a>(
        &'a self,
        cx: &'a RequestContext<'a>,
        question: &'a mut dyn ApiObject,
    ) -> BoxFuture<'a, Result<()>>;
}

/// Operations and reviews by the kind that they were registered for.
#[derive(Clone, Default)]
pub struct Operations {
    operations: HashMap<(KindName, &'static str), Arc<dyn AnyOperation>>,
    reviews: HashMap<KindName, Arc<dyn AnyReview>>,
}

/// Group (in schema spelling), version and kind.
type KindName = (&'static str, &'static str, &'static str);

impl Operations {
    /// Has operations of this sub-resource of the kind `T` performed so. A later registration takes the place of an
    /// earlier one.
    pub fn register<T: Kind>(&mut self, subresource: &'static str, operation: impl Operation) {
        self.operations.insert((name_of(T::RESOURCE), subresource), Arc::new(operation));
    }

    /// Has questions of the kind `T` answered so.
    pub fn register_review<T: Kind>(&mut self, review: impl Review<T>) {
        let typed = TypedReview { review, kind: PhantomData::<fn() -> T> };
        self.reviews.insert(name_of(T::RESOURCE), Arc::new(typed));
    }

    /// Who performs the operations of a sub-resource.
    pub fn operation(
        &self,
        def: &'static ResourceDef,
        subresource: &'static str,
    ) -> Option<&dyn AnyOperation> {
        self.operations.get(&(name_of(def), subresource)).map(|operation| &**operation)
    }

    /// Who answers the questions of a kind.
    pub fn review(&self, def: &'static ResourceDef) -> Option<&dyn AnyReview> {
        self.reviews.get(&name_of(def)).map(|review| &**review)
    }
}

fn name_of(def: &'static ResourceDef) -> KindName {
    (def.group, def.version, def.kind)
}

impl<O: Operation> AnyOperation for O {
    fn perform<'a>(&'a self, context: OperationContext<'a>, body: Tree) -> BoxFuture<'a, Result<Answer>> {
        let kind =
            context.target.subresource.and_then(|subresource| subresource.body).map_or("", |body| body.kind);
        match serde_json::from_value(body) {
            Ok(body) => Operation::perform(self, context, body),
            Err(error) => {
                let error = ApiError::BadRequest(format!("the body is no {kind}: {error}"));
                Box::pin(std::future::ready(Err(error)))
            }
        }
    }
}

struct TypedReview<T, R> {
    review: R,
    kind: PhantomData<fn() -> T>,
}

fn typed<T: Kind>(question: &mut dyn ApiObject) -> &mut T {
    question
        .as_any_mut()
        .downcast_mut()
        .expect("a review is asked questions of the kind that it was registered for")
}

impl<T: Kind, R: Review<T>> AnyReview for TypedReview<T, R> {
    fn prepare(&self, question: &mut dyn ApiObject) -> Result<()> {
        self.review.prepare(typed(question))
    }

    fn repeats_question(&self) -> bool {
        self.review.repeats_question()
    }

    fn answer<'a>(
        &'a self,
        cx: &'a RequestContext<'a>,
        question: &'a mut dyn ApiObject,
    ) -> BoxFuture<'a, Result<()>> {
        self.review.answer(cx, typed(question))
    }
}
