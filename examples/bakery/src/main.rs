//! A server of bakeries, beside the product's own resources. All that a bakery is stands in the schema folder.

include!(concat!(env!("OUT_DIR"), "/bakery.rs"));

fn main() -> std::process::ExitCode {
    orch_apiserver::run(orch_api::VOCABULARIES, |server| {
        server.resources(orch_api::registry().iter().copied()).resources(registry().iter().copied())
    })
}
