#[test]
fn versions_v1alpha1_gadget_and_versions_v1beta1_gadget() {
    orch_proof::prove(
        <api::versions::v1alpha1::Gadget as orch_runtime::object::Kind>::RESOURCE,
        <api::versions::v1beta1::Gadget as orch_runtime::object::Kind>::RESOURCE,
    );
}

#[test]
fn versions_v1alpha1_gadget_and_versions_v1_gadget() {
    orch_proof::prove(
        <api::versions::v1alpha1::Gadget as orch_runtime::object::Kind>::RESOURCE,
        <api::versions::v1::Gadget as orch_runtime::object::Kind>::RESOURCE,
    );
}

#[test]
fn versions_v1beta1_gadget_and_versions_v1_gadget() {
    orch_proof::prove(
        <api::versions::v1beta1::Gadget as orch_runtime::object::Kind>::RESOURCE,
        <api::versions::v1::Gadget as orch_runtime::object::Kind>::RESOURCE,
    );
}

#[test]
fn versions_v1beta1_relay_and_versions_v1_relay() {
    orch_proof::prove(
        <api::versions::v1beta1::Relay as orch_runtime::object::Kind>::RESOURCE,
        <api::versions::v1::Relay as orch_runtime::object::Kind>::RESOURCE,
    );
}
