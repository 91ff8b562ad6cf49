//! Proofs of the conversions in each release that has several versions; see `orch_proof`.

macro_rules! proofs {
    ($( $release:ident )*) => {
        $(
            mod $release {
                use crate::$release as api;

                include!(concat!(env!("OUT_DIR"), "/", stringify!($release), "/history.proofs.rs"));
            }
        )*
    };
}

proofs! { release_1_30 release_1_31 release_1_32 }
