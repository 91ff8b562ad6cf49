//! Proofs of the conversions of the product's kinds; see `orch_proof`.
//!
//! `ORCH_TEST_CASES=100000` looks at more objects; `ORCH_TEST_SEED=7` repeats a run.

use orch_api as api;

include!(concat!(env!("OUT_DIR"), "/orch_api.proofs.rs"));
