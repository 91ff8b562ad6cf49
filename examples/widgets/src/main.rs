//! A server of widgets, beside the product's own resources.

include!(concat!(env!("OUT_DIR"), "/widgets.rs"));

fn main() -> std::process::ExitCode {
    orch_apiserver::bootstrap::main_with(&[orch_api::registry(), registry()], orch_api::VOCABULARIES)
}

#[cfg(test)]
mod tests;
