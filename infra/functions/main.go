// Command functions writes the programs of the API's functions of Lambda, from the table of
// endpoints in package rest and the table of needs in infra/stack.
//
//	functions DIR
//
// It writes DIR/NAME/main.go for each function of an endpoint with a key. Endpoints without a key
// share functions/health, which is written by hand, since it links nothing of AWS.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"lipsync/infra/stack"
	"lipsync/internal/http/rest"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: functions DIR")
	}
	for _, e := range rest.Endpoints() {
		if e.Calls == "" {
			continue
		}
		if err := write(os.Args[1], e); err != nil {
			log.Fatal(err)
		}
	}
}

// write writes the program of an endpoint's function under the folder.
func write(folder string, e rest.Endpoint) error {
	text, err := program(e)
	if err != nil {
		return err
	}
	folder = filepath.Join(folder, e.Function)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "main.go"), text, 0o644)
}

var source = template.Must(template.New("").Parse(`// Code generated from the tables in internal/http/rest/endpoints.go and infra/stack/needs.go by go generate; DO NOT EDIT.

// Command {{.Function}} is the function behind {{.Calls}}.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	{{range .Imports}}"lipsync/internal/{{.}}"
	{{end -}}
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, {{.Parts}})
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(rest.Base, deployment.API()))
}
`))

// calls returns the methods and paths of the function's endpoints.
func calls(function string) string {
	var all []string
	for _, e := range rest.Endpoints() {
		if e.Function == function {
			all = append(all, e.Method+" "+e.Path)
		}
	}
	return strings.Join(all, ", ")
}

// program returns the program of an endpoint's function.
func program(e rest.Endpoint) ([]byte, error) {
	parts := stack.Parts(e)
	imports := []string{"aws/cloud", "aws/gateway", "http/rest"}
	for _, p := range parts {
		if name, _, _ := strings.Cut(p, "."); name != "cloud" {
			imports = append(imports, "aws/cloud/"+name)
		}
	}
	slices.Sort(imports)
	var text bytes.Buffer
	if err := source.Execute(&text, struct {
		Function, Calls string
		Imports         []string
		Parts           string
	}{e.Function, calls(e.Function), slices.Compact(imports), strings.Join(parts, ", ")}); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Function, err)
	}
	return format.Source(text.Bytes())
}
