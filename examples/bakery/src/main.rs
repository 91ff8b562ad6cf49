//! A server of bakeries, beside the product's own resources. The schema folder says all of what a bakery is.

include!(concat!(env!("OUT_DIR"), "/bakery.rs"));

fn main() -> std::process::ExitCode {
    orch_apiserver::run(orch_api::VOCABULARIES, |server| {
        server.resources(orch_api::registry().iter().copied()).resources(registry().iter().copied())
    })
}
