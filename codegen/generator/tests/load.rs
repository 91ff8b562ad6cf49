//! The generator's front end over small, correct schema folders.

use std::{
    fs,
    path::{Path, PathBuf},
};

use orch_codegen::{
    Folder, Inputs, Loaded, load,
    model::{ColumnValue, Field, Model, Scope, Shape, TypeKind, Verb},
};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn basic() -> Loaded {
    let loaded = load(&Inputs { schema: fixture("basic").into(), imports: Vec::new() });
    assert!(!loaded.diagnostics.has_errors(), "{}", loaded.diagnostics.render());
    loaded
}

fn field<'m>(model: &'m Model, ty: &str, name: &str) -> &'m Field {
    let ty = model.types.iter().find(|known| known.qualified_name == ty).expect("the type is declared");
    let TypeKind::Object(object) = &ty.kind else { panic!("{ty:?} is an object") };
    object.fields.iter().find(|field| field.name == name).expect("the field is declared")
}

#[test]
fn the_smallest_resource_is_complete() {
    let model = basic().model;
    let names: Vec<_> =
        model.group_versions.iter().map(|gv| (gv.group.as_str(), gv.version.as_str())).collect();
    assert_eq!(names, [("", "v1"), ("example.orch.io", "v1"), ("meta", "v1")]);
    let widget = &model.group_versions[1].resources[0];
    assert_eq!(
        (widget.kind.as_str(), widget.plural.as_str(), widget.singular.as_str()),
        ("Widget", "widgets", "widget")
    );
    assert_eq!(widget.verbs.len(), 8);
    assert!(
        widget.verbs.is_sorted() && widget.scope == Scope::Namespaced && widget.verbs.contains(&Verb::Watch)
    );
    assert!(widget.columns.is_empty(), "{:?}", widget.columns);
    let TypeKind::Object(object) = &model.ty(widget.ty).kind else { panic!("a kind is an object") };
    assert_eq!(
        object.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(),
        ["metadata", "spec"]
    );
}

#[test]
fn fields_say_what_was_written() {
    let model = basic().model;
    let colour = field(&model, "example.orch.io.v1.WidgetSpec", "colour");
    assert!(colour.required && !colour.omit_empty);
    assert_eq!(colour.usage.constraints.enum_values, ["Red", "Green"]);
    let replicas = field(&model, "example.orch.io.v1.WidgetSpec", "replicas");
    assert!(matches!(replicas.usage.shape, Shape::Int32));
    assert_eq!((replicas.default.clone(), replicas.omit_empty), (Some(1.into()), false));
    let binary = field(&model, "core.v1.ConfigMap", "binaryData");
    assert_eq!((binary.rust_name.as_str(), binary.tag, binary.omit_empty), ("binary_data", Some(3), true));
    let metadata = field(&model, "core.v1.ConfigMap", "metadata");
    assert_eq!(metadata.tag, Some(1));
    assert!(matches!(metadata.usage.shape, Shape::Named(id) if model.ty(id).name == "ObjectMeta"));
    assert!(field(&model, "meta.v1.ObjectMeta", "creationTimestamp").usage.nullable);
}

#[test]
fn columns_are_paths() {
    let model = basic().model;
    let columns = &model.group_versions[0].resources[0].columns;
    assert_eq!(columns[1].column_type, "integer");
    assert!(matches!(&columns[1].value, ColumnValue::Count(paths) if paths.len() == 2));
    assert!(
        matches!(&columns[2].value, ColumnValue::Age(path) if path.join(".") == "metadata.creationTimestamp")
    );
}

#[test]
fn a_part_of_a_folder_is_generated_in_one_crate_and_the_rest_in_another() {
    let whole = Folder::from(fixture("basic"));
    let part = Folder { only: vec!["meta".to_owned()], ..whole.clone() };
    assert_eq!(part.watched(), [fixture("basic/meta")]);
    let groups = |inputs: &Inputs| {
        let loaded = load(inputs);
        assert!(!loaded.diagnostics.has_errors(), "{}", loaded.diagnostics.render());
        let all = loaded.model.group_versions.into_iter();
        all.map(|gv| (gv.group, gv.extern_crate, gv.in_folder)).collect::<Vec<_>>()
    };
    let meta = groups(&Inputs { schema: part.clone(), imports: Vec::new() });
    assert_eq!(meta, [("meta".to_owned(), None, true)]);
    let rest = groups(&Inputs { schema: whole, imports: vec![("orch_meta".to_owned(), part.clone())] });
    let expected = [("", None), ("example.orch.io", None), ("meta", Some("orch_meta"))];
    let expected = expected.map(|(group, krate)| (group.to_owned(), krate.map(str::to_owned), true));
    assert_eq!(rest, expected);

    let misspelt = Folder { only: vec!["metta".to_owned()], ..part };
    let report = load(&Inputs { schema: misspelt, imports: Vec::new() }).diagnostics.render();
    assert!(report.contains("the folder has no `metta`"), "{report}");
}

/// Loads one file of types, with the types of `tests/fixtures/meta` imported.
fn types(schemas: &str) -> Model {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let version = folder.path().join("example.orch.io/v1");
    fs::create_dir_all(&version).expect("a folder can be made");
    let head = "openapi: 3.1.0\ninfo: {title: example.orch.io, version: v1}\ncomponents:\n  schemas:\n";
    fs::write(version.join("types.yaml"), format!("{head}{schemas}")).expect("the file can be written");
    let imports = vec![("orch_api".to_owned(), fixture("meta").into())];
    let loaded = load(&Inputs { schema: folder.path().into(), imports });
    assert!(!loaded.diagnostics.has_errors(), "{}", loaded.diagnostics.render());
    loaded.model
}

#[test]
fn imported_types_are_linked_and_belong_to_their_crate() {
    let model = types("    Holder: {type: object, properties: {meta: {$ref: meta.v1.ObjectMeta}}}\n");
    let crates: Vec<_> =
        model.group_versions.iter().map(|gv| (gv.group.as_str(), gv.extern_crate.as_deref())).collect();
    assert_eq!(crates, [("example.orch.io", None), ("meta", Some("orch_api"))]);
    let meta = field(&model, "example.orch.io.v1.Holder", "meta");
    assert!(
        matches!(meta.usage.shape, Shape::Named(id) if model.ty(id).qualified_name == "meta.v1.ObjectMeta")
    );
    assert_eq!(meta.description, "What every object says about itself.");
}

#[test]
fn empty_values_are_left_out_where_the_rule_says_so() {
    let model = types(
        "    Words: {type: string, enum: ['', pod-only, Always]}
    Name: {type: string, format: dns-label}
    Names: {type: array, items: {$ref: '#/components/schemas/Name'}}
    Holder:
      type: object
      required: [must]
      properties:
        must: {type: string}
        text: {type: string}
        name: {$ref: '#/components/schemas/Name'}
        bytes: {type: string, format: byte}
        list: {type: array, items: {type: string}}
        names: {$ref: '#/components/schemas/Names'}
        map: {type: object, additionalProperties: {type: string}}
        words: {$ref: '#/components/schemas/Words'}
        flag: {type: boolean}
        count: {type: integer}
        time: {type: string, format: date-time}
        holder: {$ref: meta.v1.ObjectMeta}
        keptText: {type: string, x-orch-omit-empty: false}
        keptList: {type: array, items: {type: string}, x-orch-omit-empty: false}
        omittedCount: {type: integer, x-orch-omit-empty: true}
        omittedFlag: {type: boolean, x-orch-omit-empty: true}
",
    );
    for (name, omitted) in [
        ("must", false),
        ("text", true),
        ("name", true),
        ("bytes", true),
        ("list", true),
        ("names", true),
        ("map", true),
        ("words", false),
        ("flag", false),
        ("count", false),
        ("time", false),
        ("holder", false),
        ("keptText", false),
        ("keptList", false),
        ("omittedCount", true),
        ("omittedFlag", true),
    ] {
        assert_eq!(field(&model, "example.orch.io.v1.Holder", name).omit_empty, omitted, "{name}");
    }
    let words = model.types.iter().find(|ty| ty.name == "Words").expect("the type is declared");
    let TypeKind::Enum(values) = &words.kind else { panic!("{words:?} is an enum") };
    let names: Vec<&str> = values.iter().map(|value| value.rust_name.as_str()).collect();
    assert_eq!(names, ["Empty", "PodOnly", "Always"]);
}

#[test]
fn shapes_follow_type_and_format() {
    let model = types(
        "    Shapes:
      type: object
      properties:
        int32: {type: integer, format: int32}
        int64: {type: integer}
        double: {type: number}
        quantity: {type: string, format: quantity}
        port: {type: [integer, string]}
        target: {type: string, format: int-or-string}
        nullable: {type: [string, 'null']}
        any: {}
        object: {type: object}
        anyMap: {type: object, additionalProperties: true}
        address: {type: string, format: ip}
        parts: {type: array, items: {type: string}, x-orch-list-type: set}
        labels: {type: object, additionalProperties: {type: string}, propertyNames: {format: label-key}, x-orch-map-type: atomic}
",
    );
    let shape = |name: &str| format!("{:?}", field(&model, "example.orch.io.v1.Shapes", name).usage.shape);
    for (name, expected) in [
        ("int32", "Int32"),
        ("int64", "Int64"),
        ("double", "Double"),
        ("quantity", "Quantity"),
        ("port", "IntOrString"),
        ("target", "IntOrString"),
        ("nullable", "String(None)"),
        ("any", "Any"),
        ("object", "Any"),
        ("address", "String(Some(Ip))"),
    ] {
        assert_eq!(shape(name), expected, "{name}");
    }
    assert!(field(&model, "example.orch.io.v1.Shapes", "nullable").usage.nullable);
    assert!(shape("parts").ends_with("semantics: Set }"), "{}", shape("parts"));
    assert!(
        shape("labels").contains("String(Some(LabelKey))") && shape("labels").ends_with("atomic: true }")
    );
    assert!(shape("anyMap").starts_with("Map {") && shape("anyMap").contains("value: Usage { shape: Any"));
}

#[test]
fn columns_take_what_their_field_says() {
    let model = types(
        "    Widget:
      type: object
      x-orch-resource:
        plural: widgets
        scope: Cluster
        subresources: [{name: paint}, status]
        columns:
          - {name: Replicas, path: .replicas}
          - {name: Text, path: .replicas, type: string, description: Its own.}
      properties:
        replicas: {description: How many., type: integer}
        status: {type: string}
",
    );
    let resource = &model.group_versions[0].resources[0];
    let columns: Vec<_> = resource
        .columns
        .iter()
        .map(|column| (column.column_type.as_str(), column.description.as_str()))
        .collect();
    assert_eq!(columns, [("integer", "How many."), ("string", "Its own.")]);
    let subresources: Vec<_> =
        resource.subresources.iter().map(|sub| (sub.name.as_str(), sub.verbs.len())).collect();
    assert_eq!(subresources, [("paint", 1), ("status", 3)]);
}

/// Types that are reached on many ways are looked at once.
#[test]
fn forty_levels_of_types_are_read_at_once() {
    let mut text =
        "openapi: 3.1.0\ninfo: {title: example.orch.io, version: v1}\ncomponents:\n  schemas:\n".to_owned();
    for level in 0..40 {
        let fields = match level {
            39 => "        text: {type: string, maxLength: 3, description: A text.}\n".to_owned(),
            _ => ["one", "other"]
                .map(|name| format!("        {name}: {{$ref: '#/components/schemas/Level{}'}}\n", level + 1))
                .concat(),
        };
        let kind = if level == 0 { "      x-orch-resource: {plural: levels, scope: Cluster}\n" } else { "" };
        let rule = match level {
            0 => "self == oldSelf",
            39 => "self.txt != ''",
            _ => "true",
        };
        let ty = format!(
            "    Level{level}:\n      description: A level.\n{kind}      type: object\n      x-orch-validations: \
             [{{rule: \"{rule}\"}}]\n      properties:\n{fields}"
        );
        text.push_str(&ty);
    }
    let folder = tempfile::tempdir().unwrap();
    let version = folder.path().join("example.orch.io/v1");
    fs::create_dir_all(&version).unwrap();
    fs::write(version.join("levels.yaml"), text).unwrap();
    let imports = vec![("orch_api".to_owned(), "tests/fixtures/meta".into())];
    let loaded = load(&Inputs { schema: folder.path().into(), imports });
    let report = loaded.diagnostics.render();
    assert!(report.contains("has no field \"txt\"") && report.contains("the rule has no bound"), "{report}");
}
