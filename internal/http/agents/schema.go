package agents

import (
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"lipsync/internal/domain/order"
	"lipsync/internal/http/client"
)

// schemaOf returns the schema of a tool's input. That of choices comes from the table of options, all others from their tags.
func schemaOf[In any]() (*jsonschema.Schema, error) {
	told := func(kind, about string) *jsonschema.Schema { return &jsonschema.Schema{Type: kind, Description: about} }
	object := func(about string, of order.Scope) *jsonschema.Schema {
		s := told("object", about+", as in the API: "+brief(of))
		s.AdditionalProperties = &jsonschema.Schema{}
		return s
	}
	choices := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
		"reference_id":                     told("string", "a name of your own for the request, by which get finds it too"),
		"model":                            told("string", "the engine; without it the service's default"),
		"disable_active_speaker_detection": told("boolean", "sync the largest face of each frame, no matter who speaks"),
		"options":                          object("how to render", order.OfRequest),
		"output":                           object("the file", order.OfOutput),
	}}
	return jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[client.Choices](): choices}})
}

// brief names the options of a scope with their values. Neighbours with the same values share them.
func brief(of order.Scope) string {
	var all []string
	values := ""
	for _, o := range order.OptionsAt(of) {
		if o.Where&order.ToAssistants == 0 {
			continue
		}
		before := values
		if values = o.Brief; o.Shape == order.Names {
			values = strings.Join(o.Names(), ", ")
		}
		last := len(all) - 1
		switch {
		case values == "":
			all = append(all, o.Name)
		case values == before:
			all[last] = strings.Replace(all[last], " (", " and "+o.Name+" (", 1)
		default:
			all = append(all, o.Name+" ("+values+")")
		}
	}
	return strings.Join(all, ", ")
}
