// What the monitoring system thinks of our alert rules and metrics, by its own libraries.
//
//	monitoring rules FILE       errors in a file of alert rules
//	monitoring metrics <TEXT    errors in the text of /metrics, and in what its metrics are called
//
// Exit status 0 and no output where there are none, 1 and one line for each otherwise.
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

func main() {
	var problems []string
	switch {
	case len(os.Args) == 3 && os.Args[1] == "rules":
		problems = rules(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "metrics":
		problems = metrics()
	default:
		problems = []string{"usage: monitoring rules FILE | monitoring metrics"}
	}
	for _, problem := range problems {
		fmt.Println(problem)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

func rules(file string) []string {
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation)
	var problems []string
	for _, err := range errs {
		problems = append(problems, err.Error())
	}
	if groups == nil || len(groups.Groups) == 0 {
		problems = append(problems, file+": no rules")
	}
	return problems
}

func metrics() []string {
	found, err := promlint.New(os.Stdin).Lint()
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, problem := range found {
		problems = append(problems, problem.Metric+": "+problem.Text)
	}
	return problems
}
