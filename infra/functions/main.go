// Command functions writes programs of the functions of Lambda, from the table of endpoints in package
// rest and the tables of needs in infra/stack.
//
//	functions DIR
//
// It writes DIR/NAME/main.go for each function of an endpoint with a key. Endpoints without a key
// share functions/health, which is written by hand, since it links nothing of AWS. The other functions
// are written by hand except for DIR/NAME/parts.go.
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
	files, err := programs()
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(os.Args[1], name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// programs returns the files that the tables give, by their paths in the folder of functions.
func programs() (map[string][]byte, error) {
	files := map[string][]byte{}
	write := func(file *template.Template, function, name string, imports ...string) (err error) {
		files[filepath.Join(function, name)], err = program(file, function, imports)
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
	for _, p := range stack.Parts(function) {
		folder, name := filepath.Split(p.Name())
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
