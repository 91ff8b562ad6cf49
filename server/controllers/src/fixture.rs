//! A server without HTTP for the tests of this crate: the product's kinds over a store in memory.

use std::{sync::Arc, time::Duration};

use orch_machinery::meta::Meta;
use orch_registry::{
    admission::AdmissionChain, behaviour::Behaviours, catalog::{Catalog, ServedResource}, client::Client, continue_token::{KEY_LENGTH, TokenKey},
    core::Core, feature_gates::FeatureGates, objects::Objects,
};
use orch_runtime::{Tree, object::Kind};
use orch_storage::{Storage, SystemClock};
use serde_json::json;
use tokio::sync::watch;

use crate::{
    controller::AnyController,
    runner::{Runner, Running},
    stats::Monitor,
};
