//! Addresses of the web.

use std::sync::Arc;

use super::{Table, text};
use crate::expression::{
    fault::Fault,
    url::Url,
    value::{Key, Value},
};

pub(super) const TABLE: Table = &[
    ("isURL(string) -> bool", |args, _| Ok(Value::Bool(Url::parse(text(&args[0])?).is_some()))),
    ("url(string) -> net.URL", |args, _| {
        let text = text(&args[0])?;
        let found = Url::parse(text).ok_or_else(|| Fault::invalid(format!("{text:?} is no URL")))?;
        Ok(Value::Url(Arc::new(found)))
    }),
    ("(net.URL).getScheme() -> string", |args, _| Ok(Value::from(url(&args[0])?.scheme()))),
    ("(net.URL).getHost() -> string", |args, _| Ok(Value::from(url(&args[0])?.host()))),
    ("(net.URL).getHostname() -> string", |args, _| Ok(Value::from(url(&args[0])?.host_name()))),
    ("(net.URL).getPort() -> string", |args, _| Ok(Value::from(url(&args[0])?.port()))),
    ("(net.URL).getEscapedPath() -> string", |args, _| Ok(Value::from(url(&args[0])?.escaped_path()))),
    ("(net.URL).getQuery() -> map(string, list(string))", |args, budget| {
        let address = url(&args[0])?;
        budget.spend_bytes(address.to_string().len())?;
        let values = |values: Vec<String>| Value::list(values.into_iter().map(Value::from).collect());
        let entries = address.query().into_iter();
        Ok(Value::map(entries.map(|(name, all)| (Key::from(name.as_str()), values(all))).collect()))
    }),
];

fn url(value: &Value) -> Result<&Url, Fault> {
    if let Value::Url(url) = value { Ok(url) } else { Err(Fault::wrong_type()) }
}
