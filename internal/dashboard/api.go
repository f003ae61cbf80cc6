package dashboard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// reference is the API's document, as people read it.
type reference struct {
	About  []paragraph
	Groups []group
}

// group is the operations of one tag.
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
	Example                   string // of a body
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
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return reference{}, fmt.Errorf("read the API's document: %w", err)
	}
	ref := reference{About: prose(doc.Info.Description)}
	for _, tag := range doc.Tags {
		ref.Groups = append(ref.Groups, group{Name: tag.Name})
	}
	for _, path := range doc.Paths.InMatchingOrder() {
		for method, op := range doc.Paths.Value(path).Operations() {
			i := slices.IndexFunc(ref.Groups, func(g group) bool { return slices.Contains(op.Tags, g.Name) })
			if i < 0 {
				return reference{}, fmt.Errorf("read the API's document: %s %s has no tag", method, path)
			}
			ref.Groups[i].Operations = append(ref.Groups[i].Operations, newOperation(method, path, op))
		}
	}
	for _, g := range ref.Groups {
		slices.SortFunc(g.Operations, func(a, b operation) int {
			return cmp.Or(-cmp.Compare(a.Method, b.Method), cmp.Compare(a.Path, b.Path)) // POST comes first
		})
	}
	return ref, nil
}

func newOperation(method, path string, op *openapi3.Operation) operation {
	o := operation{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, About: prose(op.Description)}
	for _, p := range op.Parameters {
		o.Parameters = append(o.Parameters, property{
			p.Value.Name, typeOf(p.Value.Schema), p.Value.Description, p.Value.Required,
		})
	}
	if op.RequestBody != nil {
		for media, content := range op.RequestBody.Value.Content {
			o.Media, o.Body, o.Example = media, properties(content.Schema.Value), example(content)
		}
	}
	for status, r := range op.Responses.Map() {
		o.Responses = append(o.Responses, newResponse(status, r.Value))
	}
	slices.SortFunc(o.Responses, func(a, b response) int { return cmp.Compare(a.Status, b.Status) })
	return o
}

func newResponse(status string, r *openapi3.Response) response {
	made := response{Status: status}
	if r.Description != nil {
		made.About = *r.Description
	}
	if content := r.Content.Get("application/json"); content != nil {
		made.Example = example(content)
	}
	return made
}

// example returns the first example of a body, in the order of their names, if
// there are several.
func example(content *openapi3.MediaType) string {
	value := content.Example
	names := slices.Sorted(maps.Keys(content.Examples))
	if value == nil && len(names) > 0 {
		value = content.Examples[names[0]].Value.Value
	}
	if value == nil {
		return ""
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}

// properties returns the fields of an object, those that it must have first.
func properties(s *openapi3.Schema) []property {
	var all []property
	for name, field := range s.Properties {
		all = append(all, property{name, typeOf(field), describe(field), slices.Contains(s.Required, name)})
	}
	slices.SortFunc(all, func(a, b property) int {
		if a.Required != b.Required {
			return cmp.Compare(fmt.Sprint(b.Required), fmt.Sprint(a.Required))
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all
}

// describe returns what a schema says of itself, or what that does which it is a
// choice of.
func describe(s *openapi3.SchemaRef) string {
	if s.Value.Description != "" || len(s.Value.OneOf) == 0 {
		return s.Value.Description
	}
	return describe(s.Value.OneOf[0])
}

// typeOf names a schema's type as people say it.
func typeOf(s *openapi3.SchemaRef) string {
	switch v := s.Value; {
	case len(v.OneOf) > 0:
		return typeOf(v.OneOf[0])
	case len(v.Enum) > 0:
		words := make([]string, len(v.Enum))
		for i, word := range v.Enum {
			words[i] = fmt.Sprint(word)
		}
		return strings.Join(words, " or ")
	case v.Type == nil:
		return ""
	case v.Type.Is("array") && v.Items != nil:
		return "list"
	case v.Format == "binary":
		return "file"
	default:
		return v.Type.Slice()[0]
	}
}

// apiPage is the document, with calls that carry this host's address.
type apiPage struct {
	reference
	Base string
}

func (p *pages) showAPI(v *visit) error {
	return v.show(http.StatusOK, "api", "API", apiPage{p.reference, p.base(v.Request).String() + "/api"})
}
