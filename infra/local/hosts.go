package main

import (
	"slices"
	"strings"
)

// places has addresses, without a path, of services that have other addresses on AWS.
type places struct {
	Batch string // and Lambda, for functions
	Small int    // small workers, most at once
	API   string // for clients
	Pages string // of Cognito, for browsers
}

// hosts has the addresses here of services that have a host of their own on AWS. Its keys are the
// names of the resources after which the hosts are named.
type hosts map[string]string

// move replaces the hosts of AWS in the template by the places.
func (t *template) move(p places) error {
	api, err := t.only("AWS::ApiGateway::RestApi")
	if err != nil {
		return err
	}
	here := hosts{}
	for name, r := range t.Resources {
		switch {
		case r == api:
			here[name] = p.API
			t.export(outputAPI, map[string]any{"Ref": name})
		case r.Type == "AWS::Cognito::UserPoolDomain":
			here[name] = p.Pages
		}
	}
	for _, r := range t.Resources {
		r.Properties, _ = here.in(r.Properties).(map[string]any)
	}
	t.Outputs, _ = here.in(t.Outputs).(map[string]any)
	return nil
}

// in replaces the hosts in a value.
func (h hosts) in(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = h.in(v[i])
		}
	case map[string]any:
		if join, ok := v["Fn::Join"].([]any); ok && len(join) == 2 {
			join[1] = h.inParts(join[1])
		}
		for key := range v {
			v[key] = h.in(v[key])
		}
	}
	return value
}

// inParts replaces a host in the joined parts of an address: "https://", the name of the resource,
// what follows it, and a path.
func (h hosts) inParts(value any) any {
	parts, _ := value.([]any)
	for i := range len(parts) - 1 {
		text, _ := parts[i].(string)
		reference, _ := parts[i+1].(map[string]any)
		before, absolute := strings.CutSuffix(text, "https://")
		here, known := h[referent(reference)]
		if absolute && known {
			return slices.Concat(parts[:i], []any{before + here}, fromSlash(parts[i+2:]))
		}
	}
	return value
}

// fromSlash returns the rest of joined parts, from the first slash in them on.
func fromSlash(parts []any) []any {
	for i, part := range parts {
		text, _ := part.(string)
		if slash := strings.IndexByte(text, '/'); slash >= 0 {
			return slices.Concat([]any{text[slash:]}, parts[i+1:])
		}
	}
	return nil
}
