// What a simple rule costs with cel-go, the interpreter of the reference: `go run .` in this folder.
// `cargo bench -p orch-agreement` measures the same rule compiled and interpreted.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/google/cel-go/cel"
)

const turns = 1_000_000

func main() {
	if err := measure("self.min <= self.max"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(rule string) error {
	env, err := cel.NewEnv(cel.Variable("self", cel.MapType(cel.StringType, cel.IntType)))
	if err != nil {
		return err
	}
	ast, issues := env.Compile(rule)
	if err := issues.Err(); err != nil {
		return err
	}
	program, err := env.Program(ast)
	if err != nil {
		return err
	}
	variables := map[string]any{"self": map[string]int64{"min": 1, "max": 5}}
	start := time.Now()
	for range turns {
		holds, _, err := program.Eval(variables)
		if err != nil {
			return err
		}
		if holds.Value() != true {
			return fmt.Errorf("%s does not hold", rule)
		}
	}
	nanos := float64(time.Since(start).Nanoseconds()) / turns
	fmt.Printf("%s, cel-go: %.1f ns\n", rule, nanos)
	return nil
}
