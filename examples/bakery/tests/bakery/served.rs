//! How bakeries are written and read: defaults, merges, parts, selectors, tables, versions, gates.

use http::Method;
use orch_tests::client::{Answer, Client};
use serde_json::{Value, json};

use crate::{
    objects::{BAKERIES, bakery, server, with},
    told::{all, told, tried},
};

const CORNER: &str = "/apis/example.orch.io/v1/namespaces/default/bakeries/corner";

const APPLY: &str = "application/apply-patch+yaml";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

async fn patch(client: &Client, path: &str, media_type: &str, change: &Value) -> Answer {
    client.request(Method::PATCH, path).body(media_type, change.to_string()).send().await
}

/// The value at each path is the expected one; null stands for none.
fn has(object: &Value, expected: &[(&str, Value)]) {
    for (path, value) in expected {
        assert_eq!(object.pointer(path).unwrap_or(&Value::Null), value, "{path} in {object}");
    }
}

#[tokio::test]
async fn what_is_left_out_is_filled_in_and_what_is_empty_is_left_out() {
    let server = server().start().await;
    let written =
        with(&json!({"till/cards": false, "till/greeting": "", "till/screen": "x", "till/tips": true}));
    let created = server.admin().post(BAKERIES, &written).await.expect(201);
    has(
        &created,
        &[
            ("/metadata/generation", json!(1)),
            // Constants, also under conditions, and values of other fields.
            ("/spec/ovens/1/hottest", json!(300)),
            ("/spec/ovens/0/fuel", json!("Electric")),
            ("/spec/breads/0/label", json!("rye")),
            ("/spec/breads/0/crust", json!("Hard")),
            ("/spec/breads/0/sliced", json!(false)),
            ("/spec/breads/0/slices", json!(null)),
            ("/spec/delivery/radius", json!(3)),
            ("/spec/delivery/bike", json!({"boxes": 2})),
            ("/spec/till/account", json!("Ada")),
            ("/spec/stock/yeast", json!("1235m")),
            ("/status", json!({})),
            // What is false is left out here, what is empty is kept, and what is null is written.
            ("/spec/till/cards", json!(null)),
            ("/spec/till/greeting", json!("")),
            ("/spec/hours/0", json!({"day": "Monday", "opens": 7, "closes": 18, "visitors": null})),
            // Written and never returned; returned all the same; behind gates that are off.
            ("/spec/till/pin", json!(null)),
            ("/spec/till/key", json!("k")),
            ("/spec/till/screen", json!(null)),
            ("/spec/till/tips", json!(null)),
        ],
    );
    let slices = with(&json!({"/metadata/name": "other", "breads/0/sliced": true}));
    has(&tried(&server.admin(), &slices).await.expect(201), &[("/spec/breads/0/slices", json!(20))]);
}

#[tokio::test]
async fn fields_behind_gates_are_kept_with_their_gates() {
    let server = server().flag("--feature-gates=TillScreens=true,TillTips=true").start().await;
    let written = with(&json!({"till/screen": "x", "till/picture": "y", "till/tips": true}));
    let created = server.admin().post(BAKERIES, &written).await.expect(201);
    let expected = [
        ("/spec/till/screen", json!("x")),
        ("/spec/till/picture", json!("y")),
        ("/spec/till/tips", json!(true)),
    ];
    has(&created, &expected);
}

#[tokio::test]
async fn applies_know_the_items_of_lists() {
    let server = server().start().await;
    let client = server.admin();
    client.post(BAKERIES, &bakery()).await.expect(201);
    let apply = async |manager: &str, spec: Value| {
        let mut applied =
            json!({"apiVersion": "example.orch.io/v1", "kind": "Bakery", "metadata": {"name": "corner"}});
        applied["spec"] = spec;
        patch(&client, &format!("{CORNER}?fieldManager={manager}"), APPLY, &applied).await
    };
    let address = json!({"town": "Leipzig"});
    let noon = json!({"day": "Sunday", "opens": 7, "closes": 12, "visitors": null});
    // A list that is atomic has one owner.
    let days_off = json!({"address": address, "closedOn": ["Sunday"]});
    apply("first", days_off).await.refused(409, "Conflict");
    let first = json!({"address": address, "hours": [noon], "tags": ["vegan"], "breads": [bread("spelt")]});
    let applied = apply("first", first).await.expect(200);
    let second =
        json!({"address": address, "tags": ["early"], "suppliers": {"matchLabels": {"near": "yes"}}});
    let both = apply("second", second).await.expect(200);
    assert_eq!(both["spec"]["hours"], applied["spec"]["hours"]);
    has(
        &both,
        &[
            ("/spec/hours/5/day", json!("Sunday")),
            ("/spec/breads/1/name", json!("spelt")),
            ("/spec/tags", json!(["organic", "vegan", "early"])),
            ("/spec/suppliers/matchLabels", json!({"mill": "yes", "near": "yes"})),
        ],
    );
    // What the first one does not apply any more is gone; what others have is not.
    let less = apply("first", json!({"address": address})).await.expect(200);
    has(
        &less,
        &[
            ("/spec/hours/5", json!(null)),
            ("/spec/breads/1", json!(null)),
            ("/spec/tags", json!(["organic", "early"])),
        ],
    );
    // So has an object that is atomic.
    apply("first", json!({"address": address, "lease": {"pets": true}})).await.refused(409, "Conflict");
}

fn bread(name: &str) -> Value {
    json!({"name": name, "grams": 500, "crust": "Soft"})
}

#[tokio::test]
async fn strategic_patches_follow_the_strategies() {
    let server = server().start().await;
    let client = server.admin();
    client.post(BAKERIES, &bakery()).await.expect(201);
    let change =
        async |spec: Value| patch(&client, CORNER, STRATEGIC, &json!({"spec": spec})).await.expect(200);
    // By the merge key, and item by item.
    let merged = change(json!({"hours": [{"day": "Tuesday", "closes": 19}]})).await;
    assert_eq!(
        merged["spec"]["hours"][1],
        json!({"day": "Tuesday", "opens": 7, "closes": 19, "visitors": null})
    );
    // Of the oven that the patch names, only its keys are kept.
    let kept = json!({"name": "big", "power": "8k", "trays": 9});
    let mut listed = kept.clone();
    listed["$retainKeys"] = json!(["name", "power", "trays"]);
    let retained = change(json!({"ovens": [listed]})).await;
    let mut expected = kept;
    expected["fuel"] = json!("Electric");
    expected["hottest"] = json!(300);
    assert_eq!(retained["spec"]["ovens"][0], expected);
    let moved =
        change(json!({"delivery": {"$retainKeys": ["by", "van"], "by": "Van", "van": {"boxes": 20}}})).await;
    assert_eq!(moved["spec"]["delivery"], json!({"by": "Van", "van": {"boxes": 20}, "radius": 3}));
    let replaced = change(json!({"closedOn": ["Sunday"]})).await;
    assert_eq!(replaced["spec"]["closedOn"], json!(["Sunday"]));
    let early = json!({"day": "Saturday", "opens": 8, "closes": 12, "visitors": null});
    let gone = change(json!({"hours": [early, {"day": "Monday", "$patch": "delete"}]})).await;
    let days = gone["spec"]["hours"].clone();
    let days: Vec<&Value> = days.as_array().unwrap().iter().map(|hours| &hours["day"]).collect();
    assert_eq!(days, ["Saturday", "Tuesday", "Wednesday", "Thursday", "Friday"]);
}

#[tokio::test]
async fn bakers_are_scaled_and_the_status_is_written_apart() {
    let server = server().start().await;
    let client = server.admin();
    client.post(BAKERIES, &bakery()).await.expect(201);
    let (scale, status) = (format!("{CORNER}/scale"), format!("{CORNER}/status"));
    let now = json!({"status": {
        "phase": "Open", "open": true, "bakers": 3, "stars": 4.5, "selector": "bakery=corner",
        "cleaned": "2024-05-06T07:08:09Z",
    }});
    let written = client.merge(&status, &now).await.expect(200);
    assert_eq!(written["status"], now["status"]);
    assert_eq!(
        client.merge(CORNER, &json!({"status": {"phase": "Baking"}})).await.expect(200)["status"]["phase"],
        "Open"
    );
    let shown = client.get(&scale).await.expect(200);
    has(
        &shown,
        &[
            ("/kind", json!("Scale")),
            ("/spec", json!({"replicas": 4})),
            ("/status", json!({"replicas": 3, "selector": "bakery=corner"})),
        ],
    );
    client.merge(&scale, &json!({"spec": {"replicas": 6}})).await.expect(200);
    let scaled = client.get(CORNER).await.expect(200);
    has(&scaled, &[("/spec/bakers", json!(6)), ("/metadata/generation", json!(2))]);
    let refused = client.merge(&scale, &json!({"spec": {"replicas": 17}})).await;
    assert_eq!(
        told(&refused).0,
        ["Invalid spec.bakers: Invalid value: 17: at most 16 can be there tomorrow"]
    );

    for (selector, is_found) in [
        ("status.phase=Open", true),
        ("person=Ada", true),
        ("person=Bo", false),
        ("spec.owner=Ada", true),
        ("spec.owner!=Ada", false),
    ] {
        let found = client.get(&format!("{BAKERIES}?fieldSelector={selector}")).await.expect(200);
        assert_eq!(found["items"].as_array().unwrap().len(), usize::from(is_found), "{selector}");
    }
    let chain = client.get(&format!("{BAKERIES}?labelSelector=chain%3Dnorth")).await.expect(200);
    assert_eq!(chain["items"].as_array().unwrap().len(), 1);
    a_table(&client).await;
}

/// The columns of the schema, as `kubectl get` asks for them.
async fn a_table(client: &Client) {
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let table = client.request(Method::GET, BAKERIES).header("accept", accept).send().await.expect(200);
    let columns = table["columnDefinitions"].as_array().unwrap();
    let columns: Vec<(&str, &str)> = columns
        .iter()
        .map(|column| ["name", "type"].map(|key| column[key].as_str().unwrap()).into())
        .collect();
    let expected = [
        ("Name", "string"),
        ("Town", "string"),
        ("Bakers", "integer"),
        ("Products", "integer"),
        ("Open", "boolean"),
        ("Stars", "number"),
        ("Cleaned", "date"),
        ("Age", "string"),
    ];
    assert_eq!(columns, expected);
    let cells = &table["rows"][0]["cells"].as_array().unwrap()[..7];
    assert_eq!(json!(cells), json!(["corner", "Leipzig", 6, 2, true, 4.5, "2024-05-06T07:08:09Z"]));
}

#[tokio::test]
async fn a_kind_says_how_it_is_discovered_written_and_deleted() {
    let server = server().start().await;
    let client = server.admin();
    let resources = client.get("/apis/example.orch.io/v1").await.expect(200)["resources"].clone();
    let found = resources.as_array().unwrap().iter().find(|resource| resource["name"] == "bakeries").unwrap();
    has(
        found,
        &[
            ("/singularName", json!("bakery")),
            ("/shortNames", json!(["bk"])),
            ("/categories", json!(["all", "shops"])),
            ("/namespaced", json!(true)),
            (
                "/verbs",
                json!(["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]),
            ),
        ],
    );
    client.post(BAKERIES, &with(&json!({"/metadata/name": "a.b"}))).await.refused(422, "Invalid");
    let created = client.put(CORNER, &bakery()).await.expect(201);
    let blind = told(&client.put(CORNER, &bakery()).await).0;
    assert_eq!(
        blind,
        all(&["Invalid metadata.resourceVersion: Invalid value: 0x0: must be specified for an update"])
    );
    in_protobuf(&client).await;
    let deleted = client.delete(CORNER).await.expect(200);
    assert_eq!(
        (&deleted["kind"], &deleted["metadata"]["uid"]),
        (&json!("Bakery"), &created["metadata"]["uid"])
    );
}

/// The object goes out and comes in as protobuf, and nothing of it is lost.
async fn in_protobuf(client: &Client) {
    const PROTOBUF: &str = "application/vnd.orch.protobuf";
    let written = client.request(Method::GET, CORNER).header("accept", PROTOBUF).send().await;
    assert_eq!((written.status, written.header("content-type")), (200, PROTOBUF));
    let before = client.get(CORNER).await.expect(200);
    let after = client.request(Method::PUT, CORNER).body(PROTOBUF, written.body).send().await.expect(200);
    assert_eq!(after, before, "nothing has changed");
}

/// Rules name product words: those of the vocabulary that the server speaks.
#[tokio::test]
async fn words_are_those_of_the_vocabulary() {
    let server = server().vocabulary("kubernetes").start().await;
    let mut object = with(&json!({"/metadata/annotations/kubernetes.io~1closed": "maybe"}));
    object["apiVersion"] = json!("example.k8s.io/v1");
    let path = BAKERIES.replace("orch.io", "k8s.io");
    let refused = told(&server.admin().post(&path, &object).await).0;
    let expected = "NotSupported metadata.annotations[kubernetes.io/closed]: Unsupported value: \"maybe\": supported values: \"yes\", \"no\"";
    assert_eq!(refused, all(&[expected]));
}

#[tokio::test]
async fn the_older_version_shows_the_same_bakery_in_its_own_form() {
    let server = server().flag("--runtime-config=example.orch.io/v1beta1").start().await;
    let client = server.admin();
    let beta = CORNER.replace("/v1/", "/v1beta1/");
    client.post(BAKERIES, &bakery()).await.expect(201);
    let older = client.get(&beta).await;
    assert!(
        told(&older).1[0].contains("example.orch.io/v1beta1 Bakery is deprecated in v1.32+"),
        "{:?}",
        told(&older)
    );
    let older = older.expect(200);
    let front = json!({
        "look": "Old", "door": "green", "phone": "0341 12", "contactName": "Ada", "contactNumber": "12",
        "corner": "Main Street/5", "listed": true, "sign": "Pretzel",
    });
    assert_eq!(older["spec"]["front"], front);
    // What has no place in the older form is kept, so that a client that writes it back changes nothing.
    let kept = json!({
        "example.orch.io/v1beta1-language": "null", "example.orch.io/v1beta1-seats": "null",
        "example.orch.io/v1beta1-website": "\"https://bread.example.com\"", "orch.io/closed": "no",
    });
    assert_eq!(older["metadata"]["annotations"], kept);
    let changed =
        json!({"spec": {"front": {"look": "New", "mottos": ["Fresh", "Warm"], "contactNumber": "13"}}});
    client.merge(&beta, &changed).await.expect(200);
    let newer = client.get(CORNER).await.expect(200);
    has(
        &newer,
        &[
            ("/spec/front/style", json!("Modern")),
            ("/spec/front/motto", json!("Fresh")),
            ("/spec/front/contact", json!("Ada:13")),
            ("/spec/front/website", json!("https://bread.example.com")),
        ],
    );
    assert_eq!(client.get(&beta).await.expect(200)["spec"]["front"]["mottos"], json!(["Fresh", "Warm"]));
}
