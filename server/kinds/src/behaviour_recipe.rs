//! `ConfigMap`: an annotation says how many entries it has. An example.

use orch_api::core::v1::ConfigMap;
use orch_registry::behaviour::{Behaviour, WriteInfo};

pub(crate) struct ConfigMapBehaviour;

impl Behaviour<ConfigMap> for ConfigMapBehaviour {
    fn prepare(&self, map: &mut ConfigMap, _old: Option<&ConfigMap>, _write: &WriteInfo<'_>) {
        let entries = map.data.len().to_string();
        map.metadata.annotations.insert("example.com/entries".to_owned(), entries);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    #[tokio::test]
    async fn entries_are_counted() {
        let server = TestServer::start().await;
        let map = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
        let map = server.create::<ConfigMap>(NAMESPACE, map).await.unwrap();
        assert_eq!(map["metadata"]["annotations"]["example.com/entries"], "1");
    }
}
