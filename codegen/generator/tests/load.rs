//! The generator's front end over small, correct schema folders.

use std::path::{Path, PathBuf};

use orch_codegen::{
    Inputs, Loaded, load,
    model::{ColumnValue, Field, Model, Shape, TypeKind, Verb},
};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn basic() -> Loaded {
    let loaded = load(&Inputs { schema: fixture("basic"), imports: Vec::new() });
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
    assert!(widget.verbs.is_sorted() && widget.namespaced && widget.verbs.contains(&Verb::Watch));
    assert_eq!(widget.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["Name", "Age"]);
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
fn every_file_and_folder_is_watched() {
    let loaded = basic();
    assert!(loaded.files.contains(&fixture("basic/core/v1/configmap.yaml")));
    assert!(loaded.files.contains(&fixture("basic/core")));
}
