// Judges CustomResourceDefinitions (a List, in the standard input) as the reference server does when they are created.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

func main() {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	faults := 0
	for _, item := range list.Items {
		definition := &v1.CustomResourceDefinition{}
		strict, err := kjson.UnmarshalStrict(item, definition)
		if err != nil {
			strict = append(strict, err)
		}
		for _, fault := range strict {
			fmt.Printf("%s: %v\n", definition.Name, fault)
			faults++
		}
		scheme.Default(definition)
		internal := &apiextensions.CustomResourceDefinition{}
		if err := scheme.Convert(definition, internal, nil); err != nil {
			fmt.Printf("%s: %v\n", definition.Name, err)
			faults++
			continue
		}
		for _, fault := range validation.ValidateCustomResourceDefinition(context.Background(), internal) {
			fmt.Printf("%s: %v\n", definition.Name, fault)
			faults++
		}
	}
	fmt.Printf("%d definitions, %d faults\n", len(list.Items), faults)
	if faults > 0 || len(list.Items) == 0 {
		os.Exit(1)
	}
}
