// Command functions writes programs of the functions of Lambda, from the table of endpoints in package
// rest and the tables of needs in infra/stack.
//
//	functions ROOT
//
// It writes ROOT/functions/NAME/main.go for each function of an endpoint with a key. Endpoints without a
// key share functions/health, which is written by hand, since it links nothing of AWS. The other functions
// are written by hand except for ROOT/functions/NAME/parts.go. A function that has no sample event gets
// ROOT/events/NAME.json, to which a body can be added by hand.
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
		log.Fatal("usage: functions ROOT")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// write writes all files below the root of the repository.
func write(root string) error {
	files, err := programs()
	if err != nil {
		return err
	}
	if err := addSamples(root, files); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addSamples adds the sample events that are missing, made of the one of MePath.
func addSamples(root string, files map[string][]byte) error {
	text, err := os.ReadFile(filepath.Join(root, "events", "me.json"))
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(rest.Endpoints()) { // so that the first one of a function's endpoints counts
		name := filepath.Join("events", e.Function+".json")
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			continue
		}
		path, parameters := e.Path, "null"
		if strings.Contains(path, "{id}") {
			const id = "0190d5d8-2b7e-7c11-9c41-5d2f6a8b3e70"
			path, parameters = strings.ReplaceAll(path, "{id}", id), `{"id": "`+id+`"}`
		}
		files[name] = []byte(strings.NewReplacer(
			`esource": "`+rest.MePath, `esource": "`+e.Path, `esourcePath": "`+rest.MePath, `esourcePath": "`+e.Path, rest.MePath, path,
			`"httpMethod": "GET"`, `"httpMethod": "`+e.Method+`"`, `"pathParameters": null`, `"pathParameters": `+parameters,
		).Replace(string(text)))
	}
	return nil
}

// programs returns the files that the tables give, by their paths.
func programs() (map[string][]byte, error) {
	files := map[string][]byte{}
	write := func(file *template.Template, function, name string, imports ...string) (err error) {
		files[filepath.Join("functions", function, name)], err = program(file, function, imports)
		return err
	}
	for _, e := range rest.Endpoints() {
		if e.Calls == "" {
			continue
		}
		if err := write(whole, e.Function, "main.go", "lipsync/internal/aws/gateway", "lipsync/internal/http/rest"); err != nil {
			return nil, err
		}
	}
	for _, function := range stack.OtherFunctions() {
		if err := write(listed, function, "parts.go"); err != nil {
			return nil, err
		}
	}
	return files, nil
}

const head = `// Code generated from the tables in internal/http/rest/endpoints.go and infra/stack/needs.go by go generate; DO NOT EDIT.

`

var whole = template.Must(template.New("").Parse(head + `// Command {{.Function}} is the function behind {{.Calls}}.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	{{range .Imports}}"{{.}}"
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

var listed = template.Must(template.New("").Parse(head + `package main

import (
	{{range .Imports}}"{{.}}"
	{{end -}}
)

// parts are the parts of the service that the program needs.
var parts = []cloud.Part{ {{- .Parts -}} }
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

// program returns a file of a function's program, which imports more than the packages of its parts.
func program(file *template.Template, function string, imports []string) ([]byte, error) {
	imports = append(imports, "lipsync/internal/aws/cloud")
	var parts []string
	for _, p := range stack.PartNames(function) {
		folder, name := filepath.Split(p)
		pkg, _, _ := strings.Cut(name, ".")
		imports, parts = append(imports, folder+pkg), append(parts, name)
	}
	slices.Sort(imports)
	var text bytes.Buffer
	if err := file.Execute(&text, struct {
		Function, Calls string
		Imports         []string
		Parts           string
	}{function, calls(function), slices.Compact(imports), strings.Join(parts, ", ")}); err != nil {
		return nil, fmt.Errorf("%s: %w", function, err)
	}
	return format.Source(text.Bytes())
}
