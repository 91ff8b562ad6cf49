//! Routes beside the API. They are behind the same authentication and authorization: a caller needs the verb
//! `get` on the path.

use axum::{Extension, Router, response::IntoResponse, routing::get};
use orch_apiserver::routes::RouteCaller;
use serde_json::json;

/// What is answered besides resources.
pub fn router() -> Router {
    Router::new().route("/colours", get(colours))
}

async fn colours(Extension(caller): Extension<RouteCaller>) -> impl IntoResponse {
    let document = json!({"colours": ["Red", "Green", "Blue"], "caller": caller.0.name});
    ([("content-type", "application/json")], document.to_string())
}
