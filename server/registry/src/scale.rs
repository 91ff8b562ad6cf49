//! The sub-resource `scale` (`autoscaling/v1`): how many replicas an object shall have, in a form that is the
//! same for all kinds.
//!
//! A write of the scale is a write of the object in which one number changes. It goes through all stages of a
//! write, with the rules and the behaviour of the kind. The manager comes to own that number in the object,
//! with `scale` as the sub-resource.

use orch_machinery::{
    meta::{self, Meta, MetaMut, field},
    tree::at,
};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    path::Path,
    resource_def::{BodyKind, FieldPath, ScaleDef},
};
use serde_json::json;

use crate::{
    answer::{Answer, Outcome},
    context::RequestContext,
    error::{ApiError, Result},
    request::Target,
    stored,
};

/// What a scale shows of the metadata of its object.
const SHOWN: &[&str] =
    &[field::NAME, field::NAMESPACE, field::UID, field::RESOURCE_VERSION, field::CREATION_TIMESTAMP];

/// What an applied scale says about the metadata of its object: which one, and in which version.
const APPLIED: &[&str] = &[field::NAME, field::NAMESPACE, field::UID, field::RESOURCE_VERSION];

/// The wanted number in a scale.
const REPLICAS: FieldPath = &["spec", "replicas"];

/// The scale of the objects of a kind.
#[derive(Clone, Copy)]
pub struct Scaling<'t> {
    target: &'t Target<'t>,
    places: ScaleDef,
    body: BodyKind,
}

impl<'t> Scaling<'t> {
    /// The scale that a request is for; `None` for the object itself and other sub-resources.
    pub fn of(target: &'t Target<'t>) -> Option<Self> {
        let subresource = target.subresource?;
        Some(Scaling { target, places: subresource.scale?, body: subresource.body? })
    }

    /// The scale of an object, as far as it has one: the wanted number is left out where there is none.
    pub fn of_object(&self, object: &Tree) -> Tree {
        let ScaleDef { replicas, status_replicas, selector } = self.places;
        let number = |path| at(object, path).and_then(Tree::as_i64);
        let mut status = json!({"replicas": number(status_replicas).unwrap_or_default()});
        if let Some(text) = selector.and_then(|path| at(object, path)).and_then(Tree::as_str) {
            status["selector"] = json!(text);
        }
        let mut scale = json!({"metadata": {}, "spec": {}, "status": status});
        if let Some(replicas) = number(replicas) {
            scale["spec"]["replicas"] = json!(replicas);
        }
        let metadata = Meta::of(object);
        for name in SHOWN {
            MetaMut::of(&mut scale).set(name, metadata.get(name).cloned());
        }
        let api_version = self.target.resource.vocabulary.api_version(self.body.group, self.body.version);
        meta::set_type(&mut scale, self.body.kind, &api_version);
        scale
    }

    /// The object with the number that a scale wants, and with the version that it relies on.
    ///
    /// # Errors
    /// 400 where there is no number before and after, 422 for one below zero.
    pub fn scaled(&self, cx: &RequestContext<'_>, object: &Tree, scale: &Tree) -> Result<Tree> {
        let had = at(object, self.places.replicas).is_some_and(|replicas| !replicas.is_null());
        let replicas = match at(scale, REPLICAS).and_then(Tree::as_i64) {
            Some(replicas) => replicas,
            // What a scale leaves out is zero, as it is shown.
            None if had => 0,
            None => {
                let message = format!("the spec replicas field \"{}\" cannot be empty", self.shown_path());
                return Err(ApiError::BadRequest(message));
            }
        };
        self.check(cx, replicas)?;
        let mut object = meta::without_managed_fields(object);
        let version = Meta::of(scale).resource_version();
        if !version.is_empty() {
            MetaMut::of(&mut object).set_resource_version(version);
        }
        put(&mut object, self.places.replicas, json!(replicas));
        Ok(object)
    }

    /// What an applied scale says about the object.
    pub fn configuration(&self, scale: &Tree) -> Tree {
        let resource = self.target.resource;
        let mut configuration = json!({"metadata": {}});
        let metadata = Meta::of(scale);
        for name in APPLIED {
            MetaMut::of(&mut configuration).set(name, metadata.get(name).cloned());
        }
        if let Some(replicas) = at(scale, REPLICAS) {
            put(&mut configuration, self.places.replicas, replicas.clone());
        }
        meta::set_type(&mut configuration, resource.def.kind, &resource.api_version);
        configuration
    }

    /// Checks the number in a configuration of the object.
    ///
    /// # Errors
    /// 422 for one below zero.
    pub fn check_configuration(&self, cx: &RequestContext<'_>, configuration: &Tree) -> Result<()> {
        let replicas = at(configuration, self.places.replicas).and_then(Tree::as_i64);
        replicas.map_or(Ok(()), |replicas| self.check(cx, replicas))
    }

    fn check(&self, cx: &RequestContext<'_>, replicas: i64) -> Result<()> {
        if replicas >= 0 {
            return Ok(());
        }
        let mut violations = Validation::new(cx.core.vocabulary());
        let spec = Path::ROOT.field("spec");
        let detail = "must be greater than or equal to 0";
        violations.push(FieldError::invalid(&spec.field("replicas"), &replicas, detail));
        Err(ApiError::Invalid {
            group: self.target.resource.vocabulary.group(self.body.group).into_owned(),
            kind: self.body.kind.to_owned(),
            name: self.target.name.to_string(),
            errors: violations.into_errors(),
        })
    }

    /// The scale instead of the object that a verb answers with.
    ///
    /// # Errors
    /// 500 for a damaged object, and for one that has no wanted number.
    pub fn shown(&self, answer: Answer) -> Result<Answer> {
        let resource = self.target.resource;
        let object = match &answer {
            Answer::Object(object) => stored::tree_of(resource, object)?,
            Answer::Transient { json, .. } => stored::tree_of_bytes(resource.def, json)
                .map_err(|error| ApiError::internal("the object cannot be read", error))?,
            Answer::Created(_)
            | Answer::Accepted(_)
            | Answer::Status(_)
            | Answer::List(_)
            | Answer::Watch(_) => return Ok(answer),
        };
        let mut scale = self.of_object(&object);
        match at(&scale, REPLICAS).and_then(Tree::as_i64) {
            Some(0) => scale["spec"] = json!({}),
            Some(_) => {}
            None => {
                let why = format!("the spec replicas field \"{}\" does not exist", self.shown_path());
                return Err(ApiError::internal(why, "the object has no number of replicas"));
            }
        }
        Ok(Answer::Transient {
            json: stored::transient(self.body.type_def, &scale, None),
            outcome: Outcome::Done,
        })
    }

    /// `.spec.replicas`, or wherever the kind has it.
    fn shown_path(&self) -> String {
        format!(".{}", self.places.replicas.join("."))
    }
}

/// Sets the value at a path of names. What is no object on the way becomes one.
fn put(tree: &mut Tree, path: &[&str], value: Tree) {
    let Some((name, rest)) = path.split_first() else {
        *tree = value;
        return;
    };
    if !tree.is_object() {
        *tree = json!({});
    }
    if let Some(fields) = tree.as_object_mut() {
        put(fields.entry((*name).to_owned()).or_insert(Tree::Null), rest, value);
    }
}
