// What programs with client-go do: typed writes in protobuf, lists and informers, leases, bindings. With the argument cbor:
// writes, lists, watches and applies in CBOR. The server is found by KUBECONFIG. Any failure ends the program.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	protobuf "google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/kube-openapi/pkg/util/proto"
)

const namespace = "default"

func check(err error) {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
}

func expect(holds bool, what string) {
	if !holds {
		log.Output(2, "it does not hold: "+what)
		os.Exit(1)
	}
}

// counted counts the lists that are not watches.
type counted struct {
	next  http.RoundTripper
	mutex sync.Mutex
	lists int
}

func (c *counted) RoundTrip(request *http.Request) (*http.Response, error) {
	path, query := request.URL.Path, request.URL.Query()
	if request.Method == "GET" && query.Get("watch") == "" && (query.Has("limit") || query.Has("resourceVersion")) {
		log.Printf("list %s?%s", path, request.URL.RawQuery)
		c.mutex.Lock()
		c.lists++
		c.mutex.Unlock()
	}
	return c.next.RoundTrip(request)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err)
	config.QPS = -1
	if len(os.Args) > 1 && os.Args[1] == "cbor" {
		inCBOR(ctx, config)
		fmt.Println("done")
		return
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	lists := &counted{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		lists.next = next
		return lists
	})
	client, err := kubernetes.NewForConfig(config)
	check(err)

	writes(ctx, client)
	binds(ctx, client)
	roles(ctx, client)
	informs(ctx, client, config, lists)
	leads(ctx, client)
	documents(client)
	documentsOfV3(client)
	fmt.Println("done")
}

// The OpenAPI document of v2, in protobuf: what older programs check objects by.
func documents(client kubernetes.Interface) {
	document, err := client.Discovery().OpenAPISchema()
	check(err)
	expect(document.Swagger == "2.0", "it is a document of v2")
	models, err := proto.NewOpenAPIData(document)
	check(err)
	for _, name := range models.ListModels() {
		kind, isKind := models.LookupModel(name).(*proto.Kind)
		if !isKind || kind.GetExtensions()["x-kubernetes-group-version-kind"] == nil || !strings.HasSuffix(name, "v1.Pod") {
			continue
		}
		spec, ok := kind.Fields["spec"].(*proto.Ref)
		expect(ok, "a spec is a type of its own")
		containers := spec.SubSchema().(*proto.Kind).Fields["containers"].(*proto.Array)
		expect(containers.GetExtensions()["x-kubernetes-patch-merge-key"] == "name", "containers are merged by name")
		return
	}
	expect(false, "the document has pods")
}

// The OpenAPI documents of v3, in protobuf: they say what they say in JSON.
func documentsOfV3(client kubernetes.Interface) {
	groups, err := client.Discovery().OpenAPIV3().Paths()
	check(err)
	for key, group := range groups {
		text, err := group.Schema("application/json")
		check(err)
		wanted, err := openapi_v3.ParseDocument(text)
		check(err)
		binary, err := group.Schema("application/com.github.proto-openapi.spec.v3.v1.0+protobuf")
		check(err)
		var got openapi_v3.Document
		check(protobuf.Unmarshal(binary, &got))
		expect(len(got.Paths.Path) == len(wanted.Paths.Path), "all paths of "+key)
		schemas := wanted.Components.Schemas.AdditionalProperties
		expect(len(got.Components.Schemas.AdditionalProperties) == len(schemas), "all schemas of "+key)
		for index, schema := range got.Components.Schemas.AdditionalProperties {
			wanted := schemas[index]
			expect(schema.Name == wanted.Name, wanted.Name)
			properties, wantedProperties := schema.Value.GetSchema().Properties, wanted.Value.GetSchema().Properties
			expect(protobuf.Equal(withoutExtensions(properties), withoutExtensions(wantedProperties)), wanted.Name)
		}
	}
}

// Extensions and enums are texts in YAML, which say the same in several ways.
func withoutExtensions(properties *openapi_v3.Properties) *openapi_v3.Properties {
	for _, property := range properties.GetAdditionalProperties() {
		bare(property.Value)
	}
	return properties
}

func bare(value *openapi_v3.SchemaOrReference) {
	schema := value.GetSchema()
	if schema == nil {
		return
	}
	schema.SpecificationExtension, schema.Enum = nil, nil
	for _, part := range schema.AllOf {
		bare(part)
	}
	for _, part := range schema.OneOf {
		bare(part)
	}
	for _, part := range schema.GetItems().GetSchemaOrReference() {
		bare(part)
	}
	bare(schema.GetAdditionalProperties().GetSchemaOrReference())
	withoutExtensions(schema.Properties)
}

// Objects, lists, watches, applies and failures in CBOR, which the environment has to allow: KUBE_FEATURE_ClientsAllowCBOR.
func inCBOR(ctx context.Context, config *rest.Config) {
	config.ContentType = "application/cbor"
	config.AcceptContentTypes = "application/cbor"
	client, err := kubernetes.NewForConfig(config)
	check(err)
	secrets := client.CoreV1().Secrets(namespace)
	watch, err := secrets.Watch(ctx, metav1.ListOptions{})
	check(err)
	made, err := secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "in-cbor", Labels: map[string]string{"in": "cbor"}},
		Data:       map[string][]byte{"bytes": {0, 1, 255}},
	}, metav1.CreateOptions{})
	check(err)
	expect(bytes.Equal(made.Data["bytes"], []byte{0, 1, 255}), "bytes stay as they are")
	expect(!made.CreationTimestamp.IsZero() && made.ManagedFields[0].FieldsV1 != nil, "the server's metadata is read")
	list, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: "in=cbor"})
	check(err)
	expect(len(list.Items) == 1 && list.ResourceVersion != "" && list.Items[0].UID == made.UID, "the list has the secret")
	for event := range watch.ResultChan() {
		if secret, ok := event.Object.(*corev1.Secret); ok && secret.UID == made.UID {
			expect(bytes.Equal(secret.Data["bytes"], []byte{0, 1, 255}), "events have the bytes")
			break
		}
	}
	watch.Stop()
	applied, err := secrets.Apply(ctx, applycorev1.Secret("in-cbor", namespace).WithData(map[string][]byte{"more": {2}}),
		metav1.ApplyOptions{FieldManager: "cbor"})
	check(err)
	expect(len(applied.Data) == 2 && bytes.Equal(applied.Data["more"], []byte{2}), "an apply adds to the data")
	_, err = secrets.Get(ctx, "none", metav1.GetOptions{})
	expect(errors.IsNotFound(err), "failures are read")
	check(secrets.Delete(ctx, "in-cbor", metav1.DeleteOptions{}))
}

// An update of an object that was just made up has neither uid nor version.
func writes(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	object := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "go"}, Data: map[string]string{"value": value}}
	}
	made, err := maps.Create(ctx, object("1"), metav1.CreateOptions{})
	check(err)
	changed, err := maps.Update(ctx, object("2"), metav1.UpdateOptions{})
	check(err)
	expect(changed.UID == made.UID && changed.ResourceVersion != made.ResourceVersion, "the object is the same one")
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	expect(errors.IsConflict(err), "an outdated version conflicts")
	found, err := maps.List(ctx, metav1.ListOptions{})
	check(err)
	expect(len(found.Items) == 1 && found.Items[0].Data["value"] == "2", "the list has it")
}

// What a scheduler, a node and somebody who drains the node do.
func binds(ctx context.Context, client kubernetes.Interface) {
	pods := client.CoreV1().Pods(namespace)
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	_, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "go"}, Spec: spec}, metav1.CreateOptions{})
	check(err)
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: "go"},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "node"},
	}
	check(pods.Bind(ctx, binding, metav1.CreateOptions{}))
	expect(errors.IsConflict(pods.Bind(ctx, binding, metav1.CreateOptions{})), "a pod is bound once")
	pod, err := pods.Get(ctx, "go", metav1.GetOptions{})
	check(err)
	expect(pod.Spec.NodeName == "node", "the pod has its node")
	check(pods.Delete(ctx, "go", metav1.DeleteOptions{}))
	pod, err = pods.Get(ctx, "go", metav1.GetOptions{})
	check(err)
	expect(pod.DeletionTimestamp != nil, "the pod is given time to end")
	now := int64(0)
	check(pods.Delete(ctx, "go", metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}))
}

// A group that the library has built in.
func roles(ctx context.Context, client kubernetes.Interface) {
	reference := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}
	subject := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: "bob"}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "go"}, RoleRef: reference, Subjects: []rbacv1.Subject{subject},
	}
	bindings := client.RbacV1().RoleBindings(namespace)
	made, err := bindings.Create(ctx, binding, metav1.CreateOptions{})
	check(err)
	expect(made.RoleRef == reference && made.Subjects[0] == subject, "the binding is as it was sent")
	made.Labels = map[string]string{"from": "go"}
	_, err = bindings.Update(ctx, made, metav1.UpdateOptions{})
	check(err)
}

// Informers begin with a watch that sends the state first, and need no list.
func informs(ctx context.Context, client kubernetes.Interface, config *rest.Config, lists *counted) {
	before := lists.lists
	events := make(chan string, 16)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { events <- "add " + object.(*corev1.ConfigMap).Data["value"] },
		UpdateFunc: func(_, object any) { events <- "update " + object.(*corev1.ConfigMap).Data["value"] },
		DeleteFunc: func(any) { events <- "delete" },
	})
	check(err)
	factory.Core().V1().Services().Informer()
	bare, err := metadata.NewForConfig(config)
	check(err)
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	metadata := metadatainformer.NewSharedInformerFactory(bare, 0)
	metadata.ForResource(maps).Informer()
	factory.Start(ctx.Done())
	metadata.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		expect(synced, "the informer has its state: "+kind.String())
	}
	for kind, synced := range metadata.WaitForCacheSync(ctx.Done()) {
		expect(synced, "the informer has its state: "+kind.String())
	}
	expect(lists.lists == before, "no informer had to list")
	expect(<-events == "add 2", "the state comes first")
	_, err = client.CoreV1().ConfigMaps(namespace).Update(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "go"}, Data: map[string]string{"value": "3"},
	}, metav1.UpdateOptions{})
	check(err)
	expect(<-events == "update 3", "a change follows")
	check(client.CoreV1().ConfigMaps(namespace).Delete(ctx, "go", metav1.DeleteOptions{}))
	expect(<-events == "delete", "a deletion follows")
}

// One of several equal programs leads; the lease says which.
func leads(ctx context.Context, client kubernetes.Interface) {
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, "go", client.CoreV1(),
		client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: "one"})
	check(err)
	ctx, stop := context.WithCancel(ctx)
	led := false
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { led = true; stop() },
			OnStoppedLeading: func() {},
		},
	})
	expect(led, "somebody leads")
}
