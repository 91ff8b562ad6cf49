//! A conversation with an editor: which files are open, and what is answered.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    cursor::{self, Cursor},
    expressions,
    keywords::Keywords,
    position, wire,
};
use crate::{
    Folder, Inputs, Loaded,
    diagnostic::{Diagnostic, Diagnostics, Severity},
    functions, load_with,
    model::{Model, Type, TypeId},
    package,
};

/// Marks a reference within a file.
const LOCAL: &str = "#/components/schemas/";

/// The kinds of things that are completed, as the protocol numbers them.
mod kind {
    pub const METHOD: u8 = 2;
    pub const FIELD: u8 = 5;
    pub const VARIABLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const PROPERTY: u8 = 10;
    pub const VALUE: u8 = 12;
}

/// The editor has said `exit`.
#[derive(Debug)]
pub struct Ending {
    /// Whether it had said `shutdown` before.
    pub in_order: bool,
}

/// What is known about the files of one editor.
pub struct Session {
    /// Named on the command line; they count for all folders.
    imports: Vec<(String, Folder)>,
    keywords: Keywords,
    open: BTreeMap<PathBuf, Arc<str>>,
    folders: BTreeMap<PathBuf, SchemaFolder>,
    /// Folders that have to be checked.
    changed: BTreeSet<PathBuf>,
    is_initialized: bool,
    is_shut_down: bool,
}

/// A schema folder of which a file is open.
struct SchemaFolder {
    inputs: Inputs,
    /// Where the functions are that its files name.
    sources: Vec<PathBuf>,
    loaded: Loaded,
    /// What was told about each file last.
    told: BTreeMap<PathBuf, Value>,
}

impl Session {
    /// Nothing is open yet.
    pub fn new(imports: Vec<(String, Folder)>) -> Self {
        Session {
            imports,
            keywords: Keywords::new(),
            open: BTreeMap::new(),
            folders: BTreeMap::new(),
            changed: BTreeSet::new(),
            is_initialized: false,
            is_shut_down: false,
        }
    }

    /// Takes a message; the answer, where it wants one.
    ///
    /// # Errors
    /// Where it ends the conversation.
    pub fn handle(&mut self, message: &Value) -> Result<Option<Value>, Ending> {
        let (method, id) = (message["method"].as_str(), message.get("id"));
        let params = &message["params"];
        let Some(method) = method else {
            // An answer to something that nobody asked.
            return Ok(None);
        };
        if method == "exit" {
            return Err(Ending { in_order: self.is_shut_down });
        }
        let Some(id) = id else {
            if self.is_initialized && !self.is_shut_down {
                self.notice(method, params);
            }
            return Ok(None);
        };
        if self.is_shut_down || !(self.is_initialized || method == "initialize") {
            let why = if self.is_shut_down { "the server is shut down" } else { "`initialize` comes first" };
            return Ok(Some(wire::failure(id, wire::INVALID_REQUEST, why)));
        }
        let found = match method {
            "initialize" => {
                self.is_initialized = true;
                Some(capabilities())
            }
            "shutdown" => {
                self.is_shut_down = true;
                Some(Value::Null)
            }
            "textDocument/completion" => self.at(params).map(|at| Value::Array(self.completions(&at))),
            "textDocument/hover" => self.at(params).map(|at| self.hover(&at)),
            "textDocument/definition" => self.at(params).map(|at| Self::definition(&at)),
            _ => {
                let why = format!("{method} is not known here");
                return Ok(Some(wire::failure(id, wire::METHOD_NOT_FOUND, &why)));
            }
        };
        Ok(Some(match found {
            Some(result) => wire::result(id, &result),
            None => wire::failure(id, wire::INVALID_PARAMS, "no position in an open file"),
        }))
    }

    /// What changed in the open files.
    fn notice(&mut self, method: &str, params: &Value) {
        let document = &params["textDocument"];
        let Some(path) = document["uri"].as_str().and_then(position::path) else { return };
        let text = match method {
            "textDocument/didOpen" => document["text"].as_str(),
            // The whole text is sent each time, as `initialize` asks for.
            "textDocument/didChange" => {
                params["contentChanges"].as_array().and_then(|changes| changes.last()?["text"].as_str())
            }
            _ => None,
        };
        match (method, text) {
            ("textDocument/didOpen" | "textDocument/didChange", Some(text)) => {
                self.open.insert(path.clone(), text.into());
            }
            ("textDocument/didClose", _) => drop(self.open.remove(&path)),
            ("textDocument/didSave", _) => {}
            _ => return,
        }
        self.changed.extend(folder_of(&path).map(Path::to_owned));
    }

    /// Checks the folders that have changed; what is to be told.
    pub fn check(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        for path in std::mem::take(&mut self.changed) {
            let mut folder = self.folders.remove(&path).unwrap_or_else(|| SchemaFolder {
                inputs: inputs_of(&path, &self.imports, &mut messages),
                sources: package::sources(&path),
                loaded: Loaded { model: Model::default(), diagnostics: Diagnostics::default() },
                told: BTreeMap::new(),
            });
            let mut remembered = Diagnostics::default();
            let open = || self.open.iter().filter(|(file, _)| file.starts_with(&path));
            for (file, text) in open() {
                remembered.add_source(file, Arc::clone(text));
            }
            folder.loaded = load_with(&folder.inputs, remembered);
            let Loaded { model, diagnostics } = &mut folder.loaded;
            functions::check(model, &folder.sources, diagnostics);
            folder.tell(open().map(|(file, _)| file), &mut messages);
            self.folders.insert(path, folder);
        }
        messages
    }

    /// The open file and the position that a request is about.
    fn at(&self, params: &Value) -> Option<At<'_>> {
        let path = position::path(params["textDocument"]["uri"].as_str()?)?;
        let text = self.open.get(&path)?;
        let (line, offset) = position::offset(&params["position"], text)?;
        let folder = folder_of(&path).and_then(|folder| self.folders.get(folder));
        Some(At { path, text, line, offset, folder })
    }

    fn completions(&self, at: &At<'_>) -> Vec<Value> {
        let cursor = cursor::at(at.text, at.line, at.offset);
        if !cursor.in_value {
            let keys = self.keywords.keys(&cursor.path).into_iter();
            let key = |word: &str, meaning: &str| item(word, kind::PROPERTY, meaning, &format!("{word}: "));
            return keys.map(|known| key(&known.word, &known.meaning)).collect();
        }
        if expressions::is_one(&cursor) {
            let Some((model, ty)) = at.enclosing_type(&cursor) else { return Vec::new() };
            let usable = expressions::usable(model, ty, &cursor).into_iter();
            let has_dot = cursor.typed.contains('.');
            return usable
                .map(|usable| {
                    let kind = match (usable.of.is_empty(), has_dot) {
                        (true, _) => kind::METHOD,
                        (false, true) => kind::FIELD,
                        (false, false) => kind::VARIABLE,
                    };
                    item(&usable.name, kind, &usable.of, &usable.name)
                })
                .collect();
        }
        if cursor.path.last().is_some_and(|key| key == "$ref") {
            return at
                .references()
                .iter()
                .map(|(name, detail)| item(name, kind::CLASS, detail, name))
                .collect();
        }
        self.keywords.values(&cursor.path).iter().map(|word| item(word, kind::VALUE, "", word)).collect()
    }

    fn hover(&self, at: &At<'_>) -> Value {
        let (mut cursor, is_key, word) = cursor::at_word(at.text, at.line, at.offset);
        let text = if is_key {
            cursor.path.push(word);
            self.keywords.explain(&cursor.path).or_else(|| Some(At::explain(at.enclosing(&cursor.path)?)))
        } else {
            at.named(&word).map(At::explain)
        };
        text.map_or(Value::Null, |text| json!({"contents": {"kind": "markdown", "value": text}}))
    }

    fn definition(at: &At<'_>) -> Value {
        let (_, _, word) = cursor::at_word(at.text, at.line, at.offset);
        let Some((model, ty)) = at.named(&word) else { return Value::Null };
        let span = &model.ty(ty).span;
        let text = at.folder.and_then(|folder| folder.loaded.diagnostics.source(&span.file));
        json!({"uri": position::uri(&absolute(&span.file)), "range": position::range(span, text)})
    }
}

impl SchemaFolder {
    /// What is new about each file, as messages. Of an open file it is told that nothing is wrong, too.
    fn tell<'f>(&mut self, open: impl Iterator<Item = &'f PathBuf>, messages: &mut Vec<Value>) {
        let found = &self.loaded.diagnostics;
        let known: BTreeSet<PathBuf> = open.cloned().chain(self.told.keys().cloned()).collect();
        let mut by_file: BTreeMap<PathBuf, Vec<Value>> =
            known.into_iter().map(|path| (path, Vec::new())).collect();
        for item in found.sorted() {
            by_file.entry(item.span.file.to_path_buf()).or_default().push(diagnostic(item, found));
        }
        for (path, items) in by_file {
            let items = Value::Array(items);
            if self.told.get(&path) != Some(&items) {
                let params = json!({"uri": position::uri(&absolute(&path)), "diagnostics": items});
                messages.push(wire::notification("textDocument/publishDiagnostics", &params));
                self.told.insert(path, items);
            }
        }
    }
}

/// A position in an open file.
struct At<'s> {
    path: PathBuf,
    text: &'s str,
    line: usize,
    offset: usize,
    folder: Option<&'s SchemaFolder>,
}

impl<'s> At<'s> {
    fn model(&self) -> Option<&'s Model> {
        self.folder.map(|folder| &folder.loaded.model)
    }

    /// The types of this file.
    fn own(&self) -> impl Iterator<Item = &'s Type> {
        let types = self.model().into_iter().flat_map(|model| &model.types);
        types.filter(|ty| *ty.span.file == self.path)
    }

    /// The type that a word refers to: `#/components/schemas/Name`, or a qualified name.
    fn named(&self, word: &str) -> Option<(&'s Model, TypeId)> {
        let model = self.model()?;
        let found = match word.strip_prefix(LOCAL) {
            Some(name) => self.own().find(|ty| ty.name == name),
            None => model.types.iter().find(|ty| ty.qualified_name == word),
        };
        found.map(|ty| (model, model.id(ty)))
    }

    /// The type whose name a path ends with.
    fn enclosing(&self, path: &[String]) -> Option<(&'s Model, TypeId)> {
        let [components, schemas, name] = path else { return None };
        let model = self.model().filter(|_| components == "components" && schemas == "schemas")?;
        self.own().find(|ty| ty.name == *name).map(|ty| (model, model.id(ty)))
    }

    /// The type that a position stands in.
    fn enclosing_type(&self, cursor: &Cursor) -> Option<(&'s Model, TypeId)> {
        self.enclosing(cursor.path.get(..3)?)
    }

    fn explain((model, ty): (&Model, TypeId)) -> String {
        let Type { qualified_name, description, .. } = model.ty(ty);
        let shape = expressions::shape(model, ty);
        format!("`{qualified_name}`\n\n{description}\n\n{shape}").trim_end().to_owned()
    }

    /// Everything that a reference can name, with what it is.
    fn references(&self) -> Vec<(String, String)> {
        let own = self.own().map(|ty| (format!("'{LOCAL}{}'", ty.name), ty.description.clone()));
        let others = self.model().into_iter().flat_map(|model| &model.types);
        let others = others.filter(|ty| *ty.span.file != self.path);
        own.chain(others.map(|ty| (ty.qualified_name.clone(), ty.description.clone()))).collect()
    }
}

/// One thing that can be completed.
fn item(label: &str, kind: u8, detail: &str, insert: &str) -> Value {
    json!({"label": label, "kind": kind, "detail": detail, "insertText": insert})
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            // 1: the whole text on each change.
            "textDocumentSync": {"openClose": true, "change": 1, "save": true},
            "completionProvider": {"triggerCharacters": [".", "#", "/", "$"]},
            "hoverProvider": true,
            "definitionProvider": true,
        },
        "serverInfo": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
    })
}

/// The schema folder of a file: `<folder>/<group>/<version>/<name>.yaml`.
fn folder_of(file: &Path) -> Option<&Path> {
    file.ancestors().nth(3).filter(|folder| folder.parent().is_some())
}

/// What is checked together. Where it cannot be found out what the folder imports, the editor shows why.
fn inputs_of(folder: &Path, named: &[(String, Folder)], messages: &mut Vec<Value>) -> Inputs {
    let imports = match named {
        [] => package::imports(folder).unwrap_or_else(|error| {
            // 2 is a warning.
            let params = json!({"type": 2, "message": error.to_string()});
            messages.push(wire::notification("window/showMessage", &params));
            Vec::new()
        }),
        named => named.to_vec(),
    };
    Inputs { schema: folder.into(), imports }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn diagnostic(item: &Diagnostic, found: &Diagnostics) -> Value {
    let Diagnostic { span, severity, message, help, code, related } = item;
    let severity = match severity {
        Severity::Error => 1,
        Severity::Warning => 2,
    };
    let related = related.iter().map(|(span, what)| {
        let range = position::range(span, found.source(&span.file));
        json!({"location": {"uri": position::uri(&absolute(&span.file)), "range": range}, "message": what})
    });
    json!({
        "range": position::range(span, found.source(&span.file)),
        "severity": severity,
        "code": code,
        "source": "orch-codegen",
        "message": format!("{message}\nhelp: {help}"),
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}
