//! A server of widgets, beside the product's own resources.

include!(concat!(env!("OUT_DIR"), "/widgets.rs"));

fn main() -> std::process::ExitCode {
    let resources = [orch_api::registry(), registry()].concat().leak();
    orch_apiserver::bootstrap::main_with(resources, orch_api::VOCABULARIES)
}

#[cfg(test)]
mod tests;
