package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reference is the API's OpenAPI document in a form for people.
type reference struct {
	About  []paragraph
	Groups []group
	Common []response // answers that most calls with a key may get; the page shows them once
}

// group has the operations of one tag.
type group struct {
	Name       string
	Operations []operation
}

type operation struct {
	ID, Method, Path, Summary string
	About                     []paragraph
	Parameters                []property
	Media                     string // type of the body, "" if there is none
	Body                      []property
	Example                   string // example of a body
	Responses                 []response
}

// property is a field of a body, or a parameter.
type property struct {
	Name, Type, About string
	Required          bool
}

type response struct {
	Status, About, Example string
}

// parseDocument reads openapi.yaml.
func parseDocument(text []byte) (reference, error) {
	var doc openAPI
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return reference{}, fmt.Errorf("read the API's document: %w", err)
	}
	ref := reference{About: prose(doc.Info.Description)}
	common := doc.common()
	for _, tag := range doc.Tags {
		ref.Groups = append(ref.Groups, group{Name: tag.Name})
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			i := slices.IndexFunc(ref.Groups, func(g group) bool { return slices.Contains(op.Tags, g.Name) })
			if i < 0 {
				return reference{}, fmt.Errorf("read the API's document: %s %s has no tag", method, path)
			}
			ref.Groups[i].Operations = append(ref.Groups[i].Operations, doc.operation(strings.ToUpper(method), path, op, common))
		}
	}
	ref.Common = slices.Collect(maps.Values(common))
	slices.SortFunc(ref.Common, compareStatus)
	for _, g := range ref.Groups {
		slices.SortFunc(g.Operations, func(a, b operation) int {
			return cmp.Or(-cmp.Compare(a.Method, b.Method), cmp.Compare(a.Path, b.Path)) // POST comes first
		})
	}
	return ref, nil
}

// common returns, by reference, the responses that more than half of the operations with a
// key may get, of those statuses that each of them may get.
func (d *openAPI) common() map[string]response {
	all, uses, statuses, keyed := map[string]response{}, map[string]int{}, map[string]int{}, 0
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
	maps.DeleteFunc(all, func(ref string, r response) bool {
		return ref == "" || 2*uses[ref] <= keyed || statuses[r.Status] < keyed
	})
	return all
}

func newResponse(status string, r apiResponse) response {
	made := response{Status: status, About: r.Description}
	if content, ok := r.Content["application/json"]; ok {
		made.Example = content.example()
	}
	return made
}

func compareStatus(a, b response) int { return cmp.Compare(a.Status, b.Status) }

// operation reads an operation, except for its common responses.
func (d *openAPI) operation(method, path string, op apiOperation, common map[string]response) operation {
	o := operation{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, About: prose(op.Description)}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[lastOf(p.Ref)]
		}
		o.Parameters = append(o.Parameters, property{p.Name, d.typeOf(p.Schema), p.Description, p.Required})
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
func (d *openAPI) properties(s apiSchema) []property {
	var all []property
	for name, field := range s.Properties {
		all = append(all, property{name, d.typeOf(field), d.describe(field), slices.Contains(s.Required, name)})
	}
	slices.SortFunc(all, func(a, b property) int {
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

// apiPage is a page about the API: a part of the document, with the address of this service.
type apiPage struct {
	reference
	Base  string
	Part  string   // the tag of the only calls that are shown; "" for the page with what concerns all calls
	Apart []string // tags of calls on pages of their own
}

// apiURL returns the address of the API, to which the paths of the document are added.
func (p *pages) apiURL(r *http.Request) string { return p.base(r).String() + "/api" }

// apart has the tags of the calls that have pages of their own, so that no page is too long.
var apart = []string{"Estimates", "Batches", "Deletion", "Webhooks"}

// showAPI shows all calls, except those on pages of their own.
func (p *pages) showAPI(v *visit) error {
	return p.showCalls(v, "", func(g group) bool { return !slices.Contains(apart, g.Name) })
}

// showPartOfAPI shows the calls of one of the tags apart.
func (p *pages) showPartOfAPI(v *visit) error {
	i := slices.IndexFunc(apart, func(tag string) bool { return strings.ToLower(tag) == v.PathValue("tag") })
	if i < 0 {
		return missing()
	}
	return p.showCalls(v, apart[i], func(g group) bool { return g.Name == apart[i] })
}

// showCalls shows some groups of calls: those of the tag part, or with "" also what concerns all calls.
func (p *pages) showCalls(v *visit, part string, shown func(group) bool) error {
	ref, err := p.reference()
	if err != nil {
		return err
	}
	ref.Groups = slices.DeleteFunc(slices.Clone(ref.Groups), func(g group) bool { return !shown(g) })
	title := "API"
	if part != "" {
		title += ": " + part
	}
	return v.show(http.StatusOK, "api", title, apiPage{ref, p.apiURL(v.Request), part, apart})
}

// showFirstCall shows programs that make a first call, with the address of this service.
func (p *pages) showFirstCall(v *visit) error {
	return v.show(http.StatusOK, "first-call", "A first call", apiPage{Base: p.apiURL(v.Request)})
}
