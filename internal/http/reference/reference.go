// Package reference reads the API's OpenAPI document into a form for people.
package reference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"lipsync/internal/domain/settings"
)

// Reference is the API's OpenAPI document in a form for people.
type Reference struct {
	About  []Paragraph
	Groups []Group
	Common []Response // answers that most calls with a key may get; the page shows them once
}

// Group has the operations of one tag.
type Group struct {
	Name       string
	Operations []Operation
}

// Slug returns the name for an address.
func (g Group) Slug() string { return strings.ReplaceAll(strings.ToLower(g.Name), " ", "-") }

// Operation is a call.
type Operation struct {
	ID, Method, Path, Summary string
	Keyed                     bool // it needs an API key
	About                     []Paragraph
	Parameters                []Property
	Media                     string // type of the body, "" if there is none
	Body                      []Property
	Example                   string // example of a body
	Responses                 []Response
}

// Property is a field of a body, or a parameter.
type Property struct {
	Name, Type, About string
	Required          bool
}

// Response is an answer to an operation.
type Response struct {
	Status, About, Example string
}

// Parse reads openapi.yaml.
func Parse(text []byte) (Reference, error) {
	var doc openAPI
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return Reference{}, fmt.Errorf("read the API's document: %w", err)
	}
	ref := Reference{About: Prose(doc.Info.Description)}
	common := doc.common()
	for _, tag := range doc.Tags {
		ref.Groups = append(ref.Groups, Group{Name: tag.Name})
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			i := slices.IndexFunc(ref.Groups, func(g Group) bool { return slices.Contains(op.Tags, g.Name) })
			if i < 0 {
				return Reference{}, fmt.Errorf("read the API's document: %s %s has no tag", method, path)
			}
			ref.Groups[i].Operations = append(ref.Groups[i].Operations, doc.operation(strings.ToUpper(method), path, op, common))
		}
	}
	ref.Common = slices.Collect(maps.Values(common))
	slices.SortFunc(ref.Common, compareStatus)
	for _, g := range ref.Groups {
		slices.SortFunc(g.Operations, func(a, b Operation) int {
			return cmp.Or(-cmp.Compare(a.Method, b.Method), cmp.Compare(a.Path, b.Path)) // POST comes first
		})
	}
	return ref, nil
}

// Sample returns the operation as a command line of curl, for the API at the address base. The key is in the variable of that setting.
func (o Operation) Sample(base string) string {
	lines := []string{"curl"}
	if o.Method != "GET" && !(o.Method == "POST" && o.Body != nil) {
		lines[0] += " -X " + o.Method
	}
	lines[0] += " " + base + o.Path
	if strings.Contains(o.Path, "{") {
		lines[0] = strings.NewReplacer("{", "$", "}", "").Replace(lines[0])
	}
	if o.Keyed {
		lines = append(lines, `-H "Authorization: Bearer $`+settings.Key.Env()+`"`)
	}
	if o.Example != "" {
		lines = append(lines, `-H "Content-Type: application/json"`, "-d '"+strings.ReplaceAll(o.Example, "'", `'\''`)+"'")
	}
	for _, name := range o.Files() {
		lines = append(lines, "-F "+name+"=@"+name)
	}
	return strings.Join(lines, " \\\n  ")
}

// Runs reports whether a page can make the call: it changes nothing that can't be made again.
func (o Operation) Runs() bool {
	return o.Keyed && (o.Method == "GET" || o.Method == "POST" && (o.Example != "" || o.Files() != nil))
}

// Files returns the names of the files that the form of the call must have, nil if its body is no form.
func (o Operation) Files() (names []string) {
	for _, p := range o.Body {
		if p.Required && strings.HasPrefix(o.Media, "multipart/") {
			names = append(names, p.Name)
		}
	}
	return names
}

// PathFields returns the names of the fields of the path.
func (o Operation) PathFields() (names []string) {
	for _, part := range strings.Split(o.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// common returns, by reference, the responses that more than half of the operations with a
// key may get, of those statuses that each of them may get.
func (d *openAPI) common() map[string]Response {
	all, uses, statuses, keyed := map[string]Response{}, map[string]int{}, map[string]int{}, 0
	for _, methods := range d.Paths {
		for _, op := range methods {
			if !op.needsKey() {
				continue
			}
			keyed++
			for status, r := range op.Responses {
				uses[r.Ref]++
				statuses[status]++
				all[r.Ref] = newResponse(status, d.Components.Responses[lastOf(r.Ref)])
			}
		}
	}
	maps.DeleteFunc(all, func(ref string, r Response) bool {
		return ref == "" || 2*uses[ref] <= keyed || statuses[r.Status] < keyed
	})
	return all
}

func newResponse(status string, r apiResponse) Response {
	made := Response{Status: status, About: r.Description}
	if content, ok := r.Content["application/json"]; ok {
		made.Example = content.example()
	}
	return made
}

func compareStatus(a, b Response) int { return cmp.Compare(a.Status, b.Status) }

// operation reads an operation, except for its common responses.
func (d *openAPI) operation(method, path string, op apiOperation, common map[string]Response) Operation {
	o := Operation{ID: op.OperationID, Keyed: op.needsKey(), Method: method, Path: path, Summary: op.Summary, About: Prose(op.Description)}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[lastOf(p.Ref)]
		}
		o.Parameters = append(o.Parameters, Property{p.Name, d.typeOf(p.Schema), p.Description, p.Required})
	}
	if types := slices.Sorted(maps.Keys(op.RequestBody.Content)); len(types) > 0 { // JSON is the first
		content := op.RequestBody.Content[types[0]]
		o.Media, o.Body, o.Example = strings.Join(types, ", "), d.properties(d.schema(content.Schema)), content.example()
	}
	for status, r := range op.Responses {
		if _, ok := common[r.Ref]; ok {
			continue
		}
		if r.Ref != "" {
			r = d.Components.Responses[lastOf(r.Ref)]
		}
		o.Responses = append(o.Responses, newResponse(status, r))
	}
	slices.SortFunc(o.Responses, compareStatus)
	return o
}

// properties returns the fields of an object, the required ones first.
func (d *openAPI) properties(s apiSchema) []Property {
	var all []Property
	for name, field := range s.Properties {
		all = append(all, Property{name, d.typeOf(field), d.describe(field), slices.Contains(s.Required, name)})
	}
	slices.SortFunc(all, func(a, b Property) int {
		if a.Required != b.Required {
			return cmp.Compare(fmt.Sprint(b.Required), fmt.Sprint(a.Required))
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all
}

// describe returns the description of a schema. If it has none and is a choice of several schemas,
// describe returns the description of the first.
func (d *openAPI) describe(s apiSchema) string {
	s = d.schema(s)
	if s.Description != "" || len(s.OneOf) == 0 {
		return s.Description
	}
	return d.describe(s.OneOf[0])
}

// typeOf returns the name of a schema's type for people.
func (d *openAPI) typeOf(s apiSchema) string {
	switch s = d.schema(s); {
	case len(s.OneOf) > 0:
		return d.typeOf(s.OneOf[0])
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			words[i] = fmt.Sprint(word)
		}
		return strings.Join(words, " or ")
	case s.kind() == "array":
		return "list"
	case s.Format == "binary":
		return "file"
	default:
		return s.kind()
	}
}
