//! What priority and fairness costs a GET.

use orch_tests::TestServer;

use super::{
    report::{Report, Wanted},
    side_by_side,
};

/// GET with it on and off.
pub async fn measure(report: &mut Report) {
    let start =
        |flag: &'static str| TestServer::options().flag("--authorization-mode=AlwaysAllow").flag(flag);
    let fair = start("--enable-priority-and-fairness=true").start().await;
    let plain = start("--enable-priority-and-fairness=false").start().await;
    let (fair, plain) = (("GET with fairness", &fair), ("GET without", &plain));
    side_by_side::gets(report, fair, plain, Wanted::AtLeast(0.96)).await;
}
