//! Each rule of the schema file, broken once by a new bakery: what exactly the server answers, in order.

use orch_runtime::constraint;
use orch_tests::client::Client;
use serde_json::{Value, json};

use crate::{
    objects::{BAKERIES, bakery, server, with},
    told::{Row, accepted, difference, refused, told, tried, warned},
};

/// Tries each row. `is_judged` says whether the causes come from expressions; after some others, these are
/// not looked at.
async fn look(client: &Client, rows: Vec<Row>, is_judged: bool) {
    let mut differences = Vec::new();
    for row in rows {
        let answer = tried(client, &with(&row.0)).await;
        differences.extend(difference(&row, is_judged, &answer));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn each_rule_is_told_in_its_own_words_and_place() {
    let server = server().start().await;
    let client = server.admin();
    let (found, warned) = told(&tried(&client, &bakery()).await);
    assert_eq!((found, warned), (Vec::new(), Vec::new()), "the bakery breaks no rule");
    look(&client, with_conditions(), false).await;
    look(&client, about_several_values(), false).await;
    look(&client, in_words(), false).await;
    look(&client, of_an_oven(), false).await;
    look(&client, of_breads_and_cakes(), false).await;
    look(&client, with_choices(), false).await;
    look(&client, of_bounds(), false).await;
    look(&client, in_order(), false).await;
    look(&client, in_expressions(), true).await;
    look(&client, of_the_computer(), true).await;
    look_at_formats(&client).await;
}

fn with_conditions() -> Vec<Row> {
    vec![
        refused(
            json!({"/metadata/annotations/orch.io~1closed": "maybe"}),
            r#"NotSupported metadata.annotations[orch.io/closed]: Unsupported value: "maybe": supported values: "yes", "no""#,
        ),
        refused(json!({"owner": null}), "Required spec.owner: Required value: somebody has signed the lease"),
        // Nobody is there: hours are not judged, and what else is wrong with the delivery is not told.
        accepted(json!({"bakers": 0, "delivery": null, "hours/0/closes": 99})),
        refused(
            json!({"bakers": 0, "delivery/radius": 0}),
            "Forbidden spec.delivery: Forbidden: nobody is there who could go",
        ),
        refused(
            json!({"delivery/radius": 20}),
            r#"Invalid spec.delivery.insured: Invalid value: "": whoever goes that far is insured"#,
        ),
        refused(
            json!({"delivery": {"by": "Van", "van": {}, "radius": 2}}),
            "Forbidden spec.delivery.van: Forbidden: that near a bike is faster",
        ),
        refused(
            json!({"hours/4": null}),
            r#"Invalid spec.hours: Invalid value: "Bike": who delivers is open on five days"#,
        ),
        refused(json!({"bakers": 3}), "TooMany spec.ovens: Too many: 4: so few bakers have three ovens"),
        refused(
            json!({"front/phones": null}),
            "Required spec.front.phones: Required value: who delivers can be called",
        ),
        warned(
            json!({"breads": null, "cakes": null, "offers": null}),
            "spec.breads: a bakery bakes something",
        ),
    ]
}

fn about_several_values() -> Vec<Row> {
    vec![
        refused(
            json!({"cakes/0/name": "rye"}),
            r#"Duplicate spec.cakes[0].name: Duplicate value: "rye": every product has a name of its own"#,
        ),
        refused(
            json!({"shelves/1": {"row": 1, "column": 1}}),
            r#"Duplicate spec.shelves[1]: Duplicate value: {"column":1,"row":1}: row 1 has this column already"#,
        ),
        refused(
            json!({"shelves/0/boxes": ["rye", "rye"]}),
            r#"Duplicate spec.shelves[0].boxes[1]: Duplicate value: "rye": each box stands there once"#,
        ),
        refused(
            json!({"shelves/0/boxes": ["spare"]}),
            r#"Invalid spec.shelves[0].boxes[0]: Invalid value: "spare": spare boxes are not at the bottom"#,
        ),
        refused(json!({"breads/0/oven": "gone"}), r#"NotFound spec.breads[0].oven: Not found: "gone""#),
        refused(json!({"cakes/0/oven": "gone"}), r#"NotFound spec.cakes[0].oven: Not found: "gone""#),
        refused(
            json!({"cakes/0/oven": "stone"}),
            r#"Invalid spec.cakes[0].oven: Invalid value: "stone": cakes do not like smoke"#,
        ),
        // An oven with errors is none that one can refer to.
        (
            json!({"ovens/0/trays": 0}),
            vec![
                "Invalid spec.ovens[0].trays: Invalid value: 0: must be greater than or equal to 1",
                r#"NotFound spec.cakes[0].oven: Not found: "big""#,
            ],
            vec![],
        ),
        // Its name may be empty.
        refused(
            json!({"offers/0/name": ""}),
            r#"NotFound spec.offers[0]: Not found: {"grams":1000,"name":""}: there is no such bread"#,
        ),
        refused(
            json!({"offers/0/grams": 500}),
            r#"NotFound spec.offers[0]: Not found: {"grams":500,"name":"rye"}: there is no such bread"#,
        ),
        refused(
            json!({"closedOn": ["Monday"]}),
            r#"Invalid spec.closedOn[0]: Invalid value: "Monday": it is open on that day"#,
        ),
        refused(
            json!({"labels/orch.io~1sort": "best"}),
            r#"Invalid spec.labels[orch.io/sort]: Invalid value: "orch.io/sort": orch.io is reserved"#,
        ),
        refused(
            json!({
                "ovens/4": oven("a"), "ovens/5": oven("b"), "ovens/6": oven("c"), "ovens/7": oven("d"),
                "ovens/8": oven("e"),
            }),
            "TooLong spec.ovens[8].name: Too long: there is room for eight ovens",
        ),
        // Judged is what is behind `https://`.
        refused(
            json!({"front/website": "https://a..b"}),
            r#"Invalid spec.front.website: Invalid value: "a..b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
        ),
        // All names come before all prices.
        (
            json!({"breads/0/cents": 451, "breads/1": {"name": "bread", "grams": 500, "cents": 3}}),
            vec![
                r#"NotSupported spec.breads[1].name: Unsupported value: "bread": breads have better names"#,
                "Invalid spec.breads[0].cents: Invalid value: 451: there are no coins for 451",
                "Invalid spec.breads[1].cents: Invalid value: 3: there are no coins for 3",
            ],
            vec![],
        ),
    ]
}

fn oven(name: &str) -> Value {
    json!({"name": name, "power": "1k"})
}

fn in_words() -> Vec<Row> {
    vec![
        refused(
            json!({"bakers": 101}),
            "Invalid spec.bakers: Invalid value: 101: a bakery has 0 to 100 bakers, not 101",
        ),
        refused(
            json!({"address/town": null}),
            "Required spec.address.town: Required value: every bakery is in a town",
        ),
        refused(
            json!({"address/street": "X"}),
            r#"Invalid spec.address.street: Invalid value: "X": is too short for a street"#,
        ),
        warned(json!({"address/street": "x".repeat(81)}), "spec.address.street: will be cut off on letters"),
        refused(
            json!({"address/postcode": "1"}),
            r#"Invalid spec.address.postcode: Invalid value: "a postcode": must be five digits"#,
        ),
        // Errors of the old name are told at the new one.
        refused(json!({"address/zip": "04109"}), "Forbidden spec.address.postcode: Forbidden: is told twice"),
        warned(
            json!({"address/zip": "04109", "address/postcode": null}),
            "spec.address.zip: write `postcode`",
        ),
        refused(
            json!({"front/phones": ["x"]}),
            r#"Invalid spec.front.phones: Invalid value: "x": x is no number"#,
        ),
        refused(
            json!({"front/phones": ["1", "2", "3", "4", "5"]}),
            "TooMany spec.front.phones: Too many: 5: nobody answers so many",
        ),
    ]
}

fn of_an_oven() -> Vec<Row> {
    vec![
        refused(
            json!({"ovens/3/power": null}),
            "Required spec.ovens[3].power: Required value: the power of an oven for Electric is known",
        ),
        refused(
            json!({"ovens/1/chimney": null, "breads/0/oven": null}),
            r#"NotFound spec.ovens[1].chimney: Not found: "stone": the smoke goes somewhere"#,
        ),
        refused(
            json!({"ovens/2/hottest": 250}),
            "Invalid spec.ovens[2].hottest: Invalid value: 250: must be greater than or equal to 300",
        ),
        refused(
            json!({"ovens/3/hottest": 450, "ovens/3/trays": 10}),
            "Invalid spec.ovens[3].hottest: Invalid value: 450: must be less than or equal to 400",
        ),
        refused(
            json!({"ovens/3/hottest": 100}),
            "Invalid spec.ovens[3].hottest: Invalid value: 100: must be greater than 100",
        ),
        refused(
            json!({"ovens/3/hottest": 500.0}),
            "Invalid spec.ovens[3].hottest: Invalid value: 500: must be less than 500",
        ),
        refused(
            json!({"ovens/3/hottest": 300.2}),
            "Invalid spec.ovens[3].hottest: Invalid value: 300.2: must be a multiple of 0.5",
        ),
        refused(
            json!({"ovens/3/power": "0"}),
            r#"Invalid spec.ovens[3].power: Invalid value: "0": must be greater than 0"#,
        ),
        refused(
            json!({"ovens/3/fuel": "Coal"}),
            r#"NotSupported spec.ovens[3].fuel: Unsupported value: "Coal": supported values: "Gas", "Electric", "Wood""#,
        ),
        refused(json!({"ovens/3/name": "big"}), r#"Duplicate spec.ovens[3].name: Duplicate value: "big""#),
    ]
}

fn of_breads_and_cakes() -> Vec<Row> {
    let parts = |name: &str| json!([{"name": "flour", "percent": 60}, {"name": name}]);
    vec![
        refused(
            json!({"breads/0/grams": 0, "offers": null}),
            "Invalid spec.breads[0].grams: Invalid value: 0: must be between 1 and 5000, inclusive",
        ),
        refused(
            json!({"cakes/0/grams": 5001}),
            "Invalid spec.cakes[0].grams: Invalid value: 5001: must be between 1 and 5000, inclusive",
        ),
        refused(
            json!({"breads/0/ingredients": parts("flour")}),
            r#"Duplicate spec.breads[0].ingredients[1].name: Duplicate value: "flour": each ingredient is listed once"#,
        ),
        warned(
            json!({"cakes/0/ingredients": [{"name": "flour"}, {"name": "milk"}]}),
            "spec.cakes[0].ingredients: no ingredient is the main one",
        ),
        refused(
            json!({"cakes/0/ingredients": [{"name": "flour", "percent": 100}]}),
            "Invalid spec.cakes[0].ingredients: Invalid value: 1: must have at least 2 items",
        ),
        refused(
            json!({"breads/0/flour": "Wheat", "breads/0/sliced": true}),
            "Required spec.breads[0].crust: Required value: it is what holds slices together",
        ),
        refused(
            json!({"breads/0/flour": "Wheat", "breads/0/seeds": "poppy", "breads/0/label": "Poppy"}),
            "Forbidden spec.breads[0].seeds: Forbidden: they do not go with Wheat",
        ),
        refused(
            json!({"breads/0/seeds": "poppy"}),
            r#"Invalid spec.breads[0].label: Invalid value: "rye": breads with seeds are written large"#,
        ),
        refused(
            json!({"breads/0/label": "R"}),
            r#"Invalid spec.breads[0].label: Invalid value: "R": must be at least 3 bytes"#,
        ),
        refused(
            json!({"breads/0/label": "Hard"}),
            r#"Duplicate spec.breads[0].label: Duplicate value: "Hard": says nothing new"#,
        ),
        refused(
            json!({"breads/0/seeds": "poppy", "breads/0/label": "Rye", "breads/0/crumble": "butter"}),
            "Forbidden spec.breads[0].streusel: Forbidden: one thing is on top",
        ),
    ]
}

fn with_choices() -> Vec<Row> {
    vec![
        refused(
            json!({"cakes/0/topping/icing": "sugar"}),
            r#"Invalid spec.cakes[0].topping: Invalid value: "{glaze, icing}": must specify at most one of: `glaze`, `icing`"#,
        ),
        refused(
            json!({"delivery/van": {}}),
            r#"Invalid spec.delivery.van: Invalid value: "": may only be specified when `by` is "Van""#,
        ),
        refused(
            json!({"delivery/by": "Van", "delivery/bike": null}),
            r#"Invalid spec.delivery.van: Invalid value: "": must be specified when `by` is "Van""#,
        ),
    ]
}

fn in_expressions() -> Vec<Row> {
    vec![
        refused(
            json!({"/metadata/name": "a".repeat(41)}),
            r#"Invalid metadata.name: Invalid value: "object": must have at most 40 letters"#,
        ),
        warned(json!({"tags": ["Leipzig"]}), "spec.tags: people look for the town anyway"),
        refused(
            json!({"hours/0/closes": 7}),
            r#"Invalid spec.hours[0].closes: Invalid value: "object": must be after it opens"#,
        ),
        refused(
            json!({"hours/0/closes": 20}),
            "Forbidden spec.hours[0].closes: Forbidden: 13 hours are too many",
        ),
        warned(json!({"hours/4/day": "Sunday"}), "spec.hours[4].day: bakers want to rest too"),
        refused(
            json!({"stock/flour": "201"}),
            r#"Invalid spec.stock.flour: Invalid value: "object": there is no room for it"#,
        ),
        warned(json!({"stock/yeast": "1"}), "spec.stock.yeast: will be short"),
        refused(
            json!({"stock/amounts": {"salt": "1500m"}}),
            "Invalid spec.stock.amounts[salt]: Invalid value: 2: is no whole sack",
        ),
    ]
}

fn of_the_computer() -> Vec<Row> {
    vec![
        refused(
            json!({"computer/address": "2001:db8::1", "computer/network": "2001:db8::/64"}),
            r#"Invalid spec.computer.address: Invalid value: "object": must be of the old kind"#,
        ),
        refused(
            json!({"computer/address": "11.1.2.3"}),
            r#"Invalid spec.computer.address: Invalid value: "object": is not in its network"#,
        ),
        refused(
            json!({"computer/homepage": "http://bread.example.com"}),
            r#"Invalid spec.computer.homepage: Invalid value: "object": must be https"#,
        ),
        refused(
            json!({"computer/group": "a b"}),
            r#"Invalid spec.computer.group: Invalid value: "object": must be a label"#,
        ),
        refused(
            json!({"computer/domain": "bread.orch.io"}),
            "Forbidden spec.computer.domain: Forbidden: belongs to the product",
        ),
        refused(
            json!({"computer/program": "/bin/../till"}),
            r#"Invalid spec.computer.program: Invalid value: "object": must be a clean path"#,
        ),
        refused(
            json!({"computer/environment": {"PATH": "PATH"}}),
            r#"Invalid spec.computer.environment: Invalid value: "object": a variable says more than its name"#,
        ),
        refused(
            json!({"computer/environment": {"PATH": "a", "LANG": "a"}}),
            r#"Duplicate spec.computer.environment: Duplicate value: "object""#,
        ),
        warned(
            json!({"computer/environment": {"PATH": ""}}),
            "spec.computer.environment: an empty variable says nothing",
        ),
        refused(
            json!({"computer/environment": {
                "PATH": "a".repeat(80), "A": "b".repeat(80), "B": "c".repeat(80),
            }}),
            r#"Invalid spec.computer.environment: Invalid value: "object": must have at most 200 bytes together"#,
        ),
        refused(
            json!({"computer/environment": {"LANG": "en"}}),
            "Required spec.computer.environment[PATH]: Required value: is needed",
        ),
        refused(
            json!({"computer/patience": "1h"}),
            r#"Invalid spec.computer.patience: Invalid value: "object": nobody waits so long"#,
        ),
        refused(
            json!({"computer/port": 0}),
            r#"Invalid spec.computer.port: Invalid value: "object": must be a port or its name"#,
        ),
        refused(
            json!({"computer/load": 1.5}),
            r#"Invalid spec.computer.load: Invalid value: "object": must be a share of the whole"#,
        ),
    ]
}

/// A field, a text that has not its format, and the rule for that.
type Format<'t> = (&'t str, &'t str, fn(&str) -> Vec<String>);

const FORMATS: &[Format<'_>] = &[
    ("tags[0]", "a b", constraint::label_value),
    ("labels[sort]", "a b", constraint::label_value),
    ("computer.name", "a.b", constraint::dns_label),
    ("computer.oldName", "1a", constraint::dns_1035_label),
    ("computer.domain", "a_b", constraint::dns_subdomain),
    ("computer.user", "a/b", constraint::path_segment),
    ("computer.driver", "a_b", constraint::driver_name),
    ("computer.provisioner", "a b", constraint::provisioner_name),
    ("computer.disk", "wwn.1", constraint::iqn),
    ("computer.title", "a ", constraint::trimmed),
    ("computer.servers", "a", constraint::host_ports),
    ("computer.folder", "/a", constraint::relative_path),
    ("computer.menu", "..a", constraint::file_path),
    ("computer.logo", "a/..", constraint::inner_path),
    // These are of keys.
    ("labels", "a b", constraint::qualified_name),
    ("computer.ports", "a--b", constraint::port_name),
    ("computer.environment", "a=b", constraint::env_name),
    ("computer.headers", "X Y", constraint::header_name),
    ("computer.kernel", "A", constraint::sysctl_name),
    ("computer.files", "a b", constraint::config_key),
    ("computer.remarks", "a b", constraint::annotation_key),
];

/// Each text format reports in the words that it has everywhere. Where expressions read the same text, they
/// report too; those formats are not here.
async fn look_at_formats(client: &Client) {
    for (field, text, rule) in FORMATS {
        let path = field.replace(['.', '['], "/").replace(']', "");
        let is_map = bakery()["spec"].pointer(&format!("/{path}")).is_some_and(Value::is_object);
        let (path, place) = if is_map {
            (format!("{path}/{text}"), format!("{field}[{text}]"))
        } else {
            (path, (*field).to_owned())
        };
        let value = match *field {
            "computer.ports" => json!(1),
            _ if is_map => json!("x"),
            _ => json!(text),
        };
        let (found, _) = told(&tried(client, &with(&json!({path: value}))).await);
        let fault = |fault: &String| format!("Invalid spec.{place}: Invalid value: \"{text}\": {fault}");
        assert_eq!(found, rule(text).iter().map(fault).collect::<Vec<_>>(), "{field}");
        assert!(!found.is_empty(), "{text} is no fault of {field}");
    }
    // What is of another type cannot be read at all.
    for (field, value) in [
        ("certificate", json!("?")),
        ("started", json!("today")),
        ("patience", json!("long")),
        ("port", json!(1.5)),
        ("load", json!("high")),
    ] {
        let object = with(&json!({format!("computer/{field}"): value}));
        client.post(BAKERIES, &object).await.refused(400, "BadRequest");
    }
}

fn of_bounds() -> Vec<Row> {
    vec![
        refused(
            json!({"till/pin": "12"}),
            r#"Invalid spec.till.pin: Invalid value: "12": must match the pattern '^[0-9]{4}$'"#,
        ),
        refused(
            json!({"stock/scales": {"a": 1}}),
            "Invalid spec.stock.scales: Invalid value: 1: must have at least 2 items",
        ),
        refused(
            json!({"stock/flour": "-1"}),
            r#"Invalid spec.stock.flour: Invalid value: "-1": must be greater than or equal to 0"#,
        ),
        refused(
            json!({"closedOn": ["Saturday", "Saturday"]}),
            r#"Duplicate spec.closedOn[1]: Duplicate value: "Saturday""#,
        ),
        refused(json!({"tags": ["a", "a"]}), r#"Duplicate spec.tags[1]: Duplicate value: "a""#),
        refused(
            json!({"owner": "x".repeat(64), "till": null}),
            "TooLong spec.owner: Too long: may not be more than 63 bytes",
        ),
    ]
}

/// Several faults at once: in the order that the schema states, not in that of the fields.
fn in_order() -> Vec<Row> {
    vec![(
        json!({
            "address/street": "X", "bakers": 101, "ovens/3/trays": 0, "front/seats": -1,
            "front/phones": ["x"],
            "front/corner": {"street": "x".repeat(81), "number": "x".repeat(9)},
        }),
        vec![
            "Invalid spec.bakers: Invalid value: 101: a bakery has 0 to 100 bakers, not 101",
            r#"Invalid spec.address.street: Invalid value: "X": is too short for a street"#,
            r#"Invalid spec.front.phones: Invalid value: "x": x is no number"#,
            "TooLong spec.front.corner.number: Too long: may not be more than 8 bytes",
            "TooLong spec.front.corner.street: Too long: may not be more than 80 bytes",
            "Invalid spec.front.seats: Invalid value: -1: must be greater than or equal to 0",
            "Invalid spec.ovens[3].trays: Invalid value: 0: must be greater than or equal to 1",
        ],
        vec![],
    )]
}
