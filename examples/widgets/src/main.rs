//! A server of widgets, beside the product's own resources.
//!
//! The schema folder says what a widget is; that alone makes a complete API. Each other file shows one
//! thing that a schema cannot say.

mod behaviour;
mod colour_policy;
mod recipes;
mod routes;

use crate::example::v1::Widget;

include!(concat!(env!("OUT_DIR"), "/widgets.rs"));

fn main() -> std::process::ExitCode {
    orch_apiserver::run(orch_api::VOCABULARIES, |server| {
        server
            .resources(orch_api::registry().iter().copied())
            .resources(registry().iter().copied())
            .behaviour::<Widget>(behaviour::WidgetBehaviour)
            .admission(colour_policy::ColourPolicy)
            .controller(recipes::Recipes)
            .router(routes::router())
    })
}

#[cfg(test)]
mod batch_tests;
#[cfg(test)]
mod tests;
