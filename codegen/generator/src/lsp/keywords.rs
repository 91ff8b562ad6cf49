//! The keywords of schema files and what they mean, from the JSON schema of the language.

use serde_json::Value;

use super::cursor::ITEM;
use crate::idl::json_schema;

/// The JSON schema of schema files.
pub struct Keywords(Value);

/// A word that can stand somewhere.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// The word.
    pub word: String,
    /// What it means; empty where nothing is said.
    pub meaning: String,
}

impl Keywords {
    /// Those of the language.
    pub fn new() -> Self {
        Keywords(serde_json::from_str(&json_schema::text()).expect("the text was made of a JSON value"))
    }

    /// The keys that can stand in the map at a path, by name.
    pub fn keys(&self, path: &[String]) -> Vec<Known> {
        let mut keys: Vec<Known> = Vec::new();
        for schema in self.at(path) {
            for (word, of_key) in schema["properties"].as_object().into_iter().flatten() {
                if keys.iter().all(|known| known.word != *word) {
                    keys.push(Known { word: word.clone(), meaning: self.meaning(of_key) });
                }
            }
        }
        keys.sort_by(|one, other| one.word.cmp(&other.word));
        keys
    }

    /// The words that can be the value at a path, where it is one of a closed set.
    pub fn values(&self, path: &[String]) -> Vec<String> {
        let mut words = Vec::new();
        for schema in self.at(path) {
            let of_set = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
            words.extend(of_set.map(str::to_owned));
            if schema["type"] == "boolean" {
                words.extend(["true", "false"].map(str::to_owned));
            }
        }
        words
    }

    /// What the key at the end of a path means.
    pub fn explain(&self, path: &[String]) -> Option<String> {
        let (key, around) = path.split_last()?;
        let found = self.at(around).into_iter().find_map(|schema| schema["properties"].get(key))?;
        Some(self.meaning(found)).filter(|meaning| !meaning.is_empty())
    }

    /// What is said about a schema, or else about the one that it refers to.
    fn meaning(&self, schema: &Value) -> String {
        let of_it = schema["description"].as_str();
        let named = || self.choices(schema).into_iter().find_map(|choice| choice["description"].as_str());
        of_it.or_else(named).unwrap_or_default().replace('\n', " ")
    }

    /// The schemas of what stands at a path.
    fn at(&self, path: &[String]) -> Vec<&Value> {
        let mut here = self.choices(&self.0);
        for step in path {
            let below = here.iter().filter_map(|schema| {
                if step == ITEM {
                    return schema.get("items");
                }
                let additional = schema.get("additionalProperties").filter(|schema| schema.is_object());
                schema["properties"].get(step).or(additional)
            });
            here = below.flat_map(|schema| self.choices(schema)).collect();
        }
        here
    }

    /// A schema without references and choices: what it can be.
    fn choices<'s>(&'s self, schema: &'s Value) -> Vec<&'s Value> {
        let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"));
        let schema = name.and_then(|name| self.0["$defs"].get(name)).unwrap_or(schema);
        match schema["anyOf"].as_array() {
            None => vec![schema],
            Some(choices) => choices.iter().flat_map(|choice| self.choices(choice)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Keywords;

    fn path(text: &str) -> Vec<String> {
        text.split(' ').filter(|step| !step.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn keys_values_and_meanings_follow_the_path() {
        let keywords = Keywords::new();
        let keys = |text: &str| -> Vec<String> {
            keywords.keys(&path(text)).into_iter().map(|known| known.word).collect()
        };
        assert_eq!(keys(""), ["components", "info", "openapi", "x-orch-empty-texts"]);
        assert!(keys("components schemas A properties b").contains(&"x-orch-immutable".to_owned()));
        assert!(keys("components schemas A properties b items").contains(&"minimum".to_owned()));
        assert!(keys("components schemas A x-orch-resource columns []").contains(&"priority".to_owned()));
        assert!(keys("components schemas A x-orch-rules []").contains(&"when".to_owned()));
        assert_eq!(keys("no such path"), [""; 0]);
        let values = keywords.values(&path("components schemas A x-orch-resource scope"));
        assert_eq!(values, ["Namespaced", "Cluster"]);
        assert_eq!(keywords.values(&path("components schemas A nullable")), ["true", "false"]);
        let meaning = keywords.explain(&path("components schemas A minLength"));
        assert_eq!(meaning.as_deref(), Some("Least length of a string, in bytes."));
        assert_eq!(keywords.explain(&path("components schemas A")), None);
    }
}
