package reference

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// openAPI is the part of an OpenAPI document that the page shows. A library for all of OpenAPI takes
// longer to start than the rest of the dashboard.
type openAPI struct {
	Info       struct{ Description string }
	Tags       []struct{ Name string }
	Paths      map[string]map[string]apiOperation // by path and method
	Components struct {
		Schemas    map[string]apiSchema
		Parameters map[string]apiParameter
		Responses  map[string]apiResponse
	}
}

type apiOperation struct {
	OperationID          string `yaml:"operationId"`
	Summary, Description string
	Tags                 []string
	Parameters           []apiParameter
	RequestBody          struct{ Content map[string]apiContent } `yaml:"requestBody"`
	Responses            map[string]apiResponse
	Security             []any // nil: a key, as the document says for all operations; empty: none
}

// needsKey reports whether calls of the operation need an API key.
func (op apiOperation) needsKey() bool { return op.Security == nil || len(op.Security) > 0 }

type apiParameter struct {
	Ref               string `yaml:"$ref"`
	Name, Description string
	Required          bool
	Schema            apiSchema
}

type apiResponse struct {
	Ref         string `yaml:"$ref"`
	Description string
	Content     map[string]apiContent
}

type apiContent struct {
	Schema   apiSchema
	Example  any
	Examples map[string]struct{ Value any }
}

type apiSchema struct {
	Ref                 string `yaml:"$ref"`
	Type                any    // a name, or a list of them
	Format, Description string
	Enum                []any
	OneOf               []apiSchema `yaml:"oneOf"`
	Properties          map[string]apiSchema
	Required            []string
}

// kind returns the first of the schema's types.
func (s apiSchema) kind() string {
	if several, ok := s.Type.([]any); ok && len(several) > 0 {
		s.Type = several[0]
	}
	name, _ := s.Type.(string)
	return name
}

// schema returns the schema that s refers to, or s.
func (d *openAPI) schema(s apiSchema) apiSchema {
	if s.Ref != "" {
		return d.Components.Schemas[lastOf(s.Ref)]
	}
	return s
}

// lastOf returns the last part of a reference: Error for #/components/schemas/Error.
func lastOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// example returns an example of a body. If it has several, example returns the first by name.
func (c apiContent) example() string {
	value := c.Example
	names := slices.Sorted(maps.Keys(c.Examples))
	if value == nil && len(names) > 0 {
		value = c.Examples[names[0]].Value
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
