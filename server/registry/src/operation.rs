//! Operations, which are sub-resources that do something, and reviews, which are kinds that are a question to
//! the server.
//!
//! Both are registered like behaviour ([`crate::behaviour`]) for exactly one kind; an operation is registered
//! for one of its sub-resources. The body of an operation is of the kind that the schema names for the
//! sub-resource. An operation for the sub-resource `""` of a virtual kind is what POST to its collection
//! does.

use std::{collections::HashMap, marker::PhantomData, sync::Arc};

use futures_util::future::BoxFuture;
use orch_runtime::{
    Tree,
    object::{ApiObject, Kind},
    resource_def::ResourceDef,
    tree_reader,
};
use serde::de::DeserializeOwned;

use crate::{
    answer::Answer,
    context::RequestContext,
    core::Core,
    error::{ApiError, Result},
    kind_name::KindName,
    options::WriteOptions,
    request::Target,
};

/// The request that an operation is performed for.
#[derive(Clone, Copy)]
pub struct OperationContext<'a> {
    /// The request.
    pub cx: &'a RequestContext<'a>,
    /// The object and the sub-resource.
    pub target: &'a Target<'a>,
    /// How it is written.
    pub options: &'a WriteOptions,
}

/// What POST to one sub-resource does.
pub trait Operation: Send + Sync + 'static {
    /// The type of the body.
    type Body: DeserializeOwned + Send;

    /// Older versions of the body's group. A body of one of them is read as one of today's, which has the
    /// same fields.
    const OLDER_VERSIONS: &'static [&'static str] = &[];

    /// How many bytes of other objects than that of the target it reads. Where they are many, the request is
    /// answered apart, so that it holds up no other.
    fn reads(&self, _core: &Core, _target: &Target<'_>) -> usize {
        0
    }

    /// Does what the body asks for.
    fn perform<'a>(
        &'a self,
        context: OperationContext<'a>,
        body: Self::Body,
    ) -> BoxFuture<'a, Result<Answer>>;
}

/// How the server answers a kind that is a question.
pub trait Review<T: Kind>: Send + Sync + 'static {
    /// Fills in what the client may leave out, before the question is validated.
    ///
    /// # Errors
    /// 400 for a question that says too little.
    fn prepare(&self, _question: &mut T) -> Result<()> {
        Ok(())
    }

    /// Whether the answer has managed fields, which record who set the fields of the question.
    fn repeats_question(&self) -> bool {
        true
    }

    /// Whether the answer may be long, and so takes long to make, however short the question is.
    fn may_be_long(&self) -> bool {
        false
    }

    /// Writes the answer into the question, which is complete and valid.
    fn answer<'a>(&'a self, cx: &'a RequestContext<'a>, question: &'a mut T) -> BoxFuture<'a, Result<()>>;
}

/// An operation with a body of any type. See [`Operation`].
pub trait AnyOperation: Send + Sync {
    /// Older versions of the body's group that are read too.
    fn older_versions(&self) -> &'static [&'static str];

    /// How many bytes of other objects it reads.
    fn reads(&self, core: &Core, target: &Target<'_>) -> usize;

    /// Reads the body and does what it asks for.
    fn perform<'a>(&'a self, context: OperationContext<'a>, body: Tree) -> BoxFuture<'a, Result<Answer>>;
}

/// A review of any kind. See [`Review`].
#[allow(missing_docs, reason = "each method is the one of the same name of `Review`")]
pub trait AnyReview: Send + Sync {
    fn prepare(&self, question: &mut dyn ApiObject) -> Result<()>;
    fn repeats_question(&self) -> bool;
    fn may_be_long(&self) -> bool;
    fn answer<'a>(
        &'a self,
        cx: &'a RequestContext<'a>,
        question: &'a mut dyn ApiObject,
    ) -> BoxFuture<'a, Result<()>>;
}

/// All registered operations and reviews, by kind.
#[derive(Clone, Default)]
pub struct Operations {
    operations: HashMap<(KindName, &'static str), Arc<dyn AnyOperation>>,
    reviews: HashMap<KindName, Arc<dyn AnyReview>>,
}

impl Operations {
    /// Registers what POST to this sub-resource of the kind `T` does; `""` is the collection of a virtual
    /// kind. A later registration replaces an earlier one.
    pub fn register<T: Kind>(&mut self, subresource: &'static str, operation: impl Operation) {
        self.operations.insert((KindName::of(T::RESOURCE), subresource), Arc::new(operation));
    }

    /// Registers how questions of the kind `T` are answered. A later registration replaces an earlier one.
    pub fn register_review<T: Kind>(&mut self, review: impl Review<T>) {
        let typed = TypedReview { review, kind: PhantomData::<fn() -> T> };
        self.reviews.insert(KindName::of(T::RESOURCE), Arc::new(typed));
    }

    /// Takes over what `others` registers; that replaces what was registered here.
    pub fn extend(&mut self, others: Operations) {
        self.operations.extend(others.operations);
        self.reviews.extend(others.reviews);
    }

    /// The operation of a sub-resource.
    pub fn operation(
        &self,
        def: &'static ResourceDef,
        subresource: &'static str,
    ) -> Option<&dyn AnyOperation> {
        self.operations.get(&(KindName::of(def), subresource)).map(|operation| &**operation)
    }

    /// The review of a kind.
    pub fn review(&self, def: &'static ResourceDef) -> Option<&dyn AnyReview> {
        self.reviews.get(&KindName::of(def)).map(|review| &**review)
    }
}

impl<O: Operation> AnyOperation for O {
    fn older_versions(&self) -> &'static [&'static str] {
        O::OLDER_VERSIONS
    }

    fn reads(&self, core: &Core, target: &Target<'_>) -> usize {
        Operation::reads(self, core, target)
    }

    fn perform<'a>(&'a self, context: OperationContext<'a>, body: Tree) -> BoxFuture<'a, Result<Answer>> {
        let target = context.target;
        let body_kind = target.subresource.and_then(|subresource| subresource.body);
        let kind = body_kind.map_or(target.resource.def.kind, |body| body.kind);
        match tree_reader::read(body) {
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

    fn may_be_long(&self) -> bool {
        self.review.may_be_long()
    }

    fn answer<'a>(
        &'a self,
        cx: &'a RequestContext<'a>,
        question: &'a mut dyn ApiObject,
    ) -> BoxFuture<'a, Result<()>> {
        self.review.answer(cx, typed(question))
    }
}

#[cfg(test)]
mod tests {
    use orch_api::{core::v1::ConfigMap, storage::v1::CSIDriver};
    use orch_auth::user::UserInfo;
    use orch_meta::meta::v1::Status;
    use serde_json::json;

    use super::*;
    use crate::{
        behaviour::Behaviours,
        test_core::{self, NAMESAKE},
    };

    /// Answers with the name in the body.
    struct Names;

    #[derive(serde::Deserialize)]
    struct Name {
        name: String,
    }

    impl Operation for Names {
        type Body = Name;

        fn perform<'a>(&'a self, _: OperationContext<'a>, body: Name) -> BoxFuture<'a, Result<Answer>> {
            let status = Status { message: body.name, ..Status::default() };
            Box::pin(std::future::ready(Ok(Answer::Status(Box::new(status)))))
        }
    }

    /// A review that only says whether it repeats the question.
    struct Repeats(bool);

    impl<T: Kind> Review<T> for Repeats {
        fn repeats_question(&self) -> bool {
            self.0
        }

        fn answer<'a>(&'a self, _: &'a RequestContext<'a>, _: &'a mut T) -> BoxFuture<'a, Result<()>> {
            Box::pin(std::future::ready(Ok(())))
        }
    }

    #[test]
    fn an_operation_is_that_of_one_subresource_of_one_kind() {
        let mut operations = Operations::default();
        operations.register::<CSIDriver>("check", Names);
        assert!(operations.operation(CSIDriver::RESOURCE, "check").is_some());
        for (def, subresource) in
            [(CSIDriver::RESOURCE, "status"), (&NAMESAKE, "check"), (ConfigMap::RESOURCE, "check")]
        {
            let found = operations.operation(def, subresource).is_some();
            assert!(!found, "{} {} {subresource}", def.group, def.kind);
        }
    }

    #[test]
    fn a_review_is_that_of_one_kind_and_the_last_one_counts() {
        let mut operations = Operations::default();
        operations.register_review::<CSIDriver>(Repeats(true));
        operations.register_review::<CSIDriver>(Repeats(false));
        let repeats = |def| operations.review(def).map(AnyReview::repeats_question);
        assert_eq!(repeats(CSIDriver::RESOURCE), Some(false));
        assert_eq!(repeats(&NAMESAKE), None);
    }

    #[tokio::test]
    async fn an_operation_gets_a_body_of_its_type() {
        let (core, user) = (test_core::core(&Behaviours::default()), UserInfo::anonymous());
        let cx = RequestContext::new(&core, test_core::caller(&user), "test");
        let config_maps = core.catalog().served(ConfigMap::RESOURCE).unwrap();
        let target = Target::item(config_maps, "n", "a");
        let context = OperationContext { cx: &cx, target: &target, options: &WriteOptions::internal("test") };
        let operation: &dyn AnyOperation = &Names;
        let answer = operation.perform(context, json!({"name": "x"})).await;
        assert!(matches!(answer, Ok(Answer::Status(status)) if status.message == "x"));
        let refused = operation.perform(context, json!({"name": 1})).await;
        assert!(matches!(refused, Err(ApiError::BadRequest(_))));
    }
}
