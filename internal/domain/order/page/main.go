// Command page writes the parts of pages that come from the table of options: those of openapi.yaml, and the tables of docs/api.md.
//
//	page OPENAPI.yaml API.md
package main

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"lipsync/internal/domain/order"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: page OPENAPI.yaml API.md")
	}
	for i, parts := range []map[string]string{document(), tables()} {
		file := os.Args[1+i]
		text, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		written, err := replace(string(text), parts)
		if err != nil {
			log.Fatalf("%s: %v", file, err)
		}
		if err := os.WriteFile(file, []byte(written), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// begin and end are parts of the lines around a part of a page.
const (
	begin = "Generated from the table of options by go generate: "
	end   = "End of what is generated"
)

// replace replaces the parts of a page, and indents each as the line before it. It returns an error unless the page has all parts.
func replace(page string, parts map[string]string) (string, error) {
	var b strings.Builder
	found, inside := 0, false
	for line := range strings.Lines(page) {
		inside = inside && !strings.Contains(line, end)
		if !inside {
			b.WriteString(line)
		}
		indent, name, begins := strings.Cut(line, begin)
		if !begins {
			continue
		}
		name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), "-->"))
		part, known := parts[name]
		if !known {
			return "", fmt.Errorf("there is no part %q", name)
		}
		space := indent[:len(indent)-len(strings.TrimLeft(indent, " "))]
		for line := range strings.Lines(part) {
			b.WriteString(space + line)
		}
		found, inside = found+1, true
	}
	if inside || found != len(parts) {
		return "", fmt.Errorf("it has %d parts, not %d, or a part has no end", found, len(parts))
	}
	return b.String(), nil
}

// document returns the parts of openapi.yaml.
func document() map[string]string {
	parts := map[string]string{"schemas": ""}
	for name, of := range map[string]order.Scope{"options": order.OfRequest, "output": order.OfOutput, "options of segments": order.OfSegment} {
		for _, o := range order.OptionsAt(of) {
			schemas := []string{reference(o)}
			if o.Or != "" {
				schemas = append(schemas, o.Or)
			}
			if of == order.OfSegment && o.OfOne != nil {
				schemas = o.OfOne
			}
			parts[name] += o.Name + ":\n  oneOf:\n"
			for _, schema := range append(slices.Clone(schemas), `{type: "null"}`) {
				parts[name] += "    - " + schema + "\n"
			}
		}
	}
	for name, of := range map[string]order.Scope{"options of details": order.OfRequest, "output of details": order.OfOutput} {
		for _, o := range order.OptionsAt(of) {
			schema := o.Shows
			if schema == "" {
				schema = reference(o)
			}
			parts[name] += o.Name + ": " + schema + "\n"
		}
	}
	for _, of := range []order.Scope{order.OfOutput, order.OfRequest} {
		for _, o := range order.OptionsAt(of) {
			if o.Shape != order.Object {
				parts["schemas"] += schema(o)
			}
		}
	}
	return parts
}

func reference(o *order.Option) string {
	return fmt.Sprintf(`{$ref: "#/components/schemas/%s"}`, o.Schema)
}

// schema returns the schema of an option that is no Object.
func schema(o *order.Option) string {
	types := map[order.Shape]string{
		order.Names: "string", order.Number: "number", order.Integer: "integer", order.Switch: "boolean", order.Text: "string",
	}
	lines := []string{"type: " + types[o.Shape]}
	standard := o.Default
	switch o.Shape {
	case order.Names:
		lines = append(lines, "enum: ["+strings.Join(o.Names(), ", ")+"]")
		standard = o.Values[0].Name
	case order.Switch:
		standard = o.Values[0].Name
	case order.Number, order.Integer:
		lines = append(lines, fmt.Sprintf("minimum: %g", o.Least), fmt.Sprintf("maximum: %g", o.Most))
	}
	lines = append(lines, o.Rules...)
	if standard != "" {
		lines = append(lines, "default: "+standard)
	}
	if strings.Contains(o.About, "\n") {
		lines = append(lines, "description: |")
		for line := range strings.Lines(o.About) {
			lines = append(lines, "  "+strings.TrimSuffix(line, "\n"))
		}
	} else {
		lines = append(lines, "description: "+o.About)
	}
	return o.Schema + ":\n  " + strings.Join(lines, "\n  ") + "\n"
}

// tables returns the parts of docs/api.md.
func tables() map[string]string {
	parts := map[string]string{}
	for name, of := range map[string]order.Scope{"options": order.OfRequest, "output": order.OfOutput} {
		parts[name] = "\n| Field | Value | Meaning |\n|---|---|---|\n"
		for _, o := range order.OptionsAt(of) {
			field := code(o.Name) + " "
			for _, line := range lines(o) {
				parts[name] += fmt.Sprintf("| %s| %s | %s |\n", field, line.Name, line.Meaning)
				field = ""
			}
		}
		parts[name] += "\n"
	}
	parts["options"] += "A segment takes only " + list(order.OfSegment) + "; a request with segments only " + list(order.BesideSegments) + ".\n\n"
	return parts
}

// list returns the names of the options of a scope, in Markdown.
func list(scope order.Scope) string {
	return code(strings.ReplaceAll(order.NamesAt(scope), ", ", "`, `"))
}

// lines returns the lines of an option in a table: one for all values, or one for each. The names are in Markdown.
func lines(o *order.Option) (all []order.Value) {
	values := o.Choices()
	if values == nil {
		values = o.Values
	}
	for _, v := range values {
		name := code(v.Name)
		if v.Name == "" {
			continue
		}
		if v == o.Values[0] {
			name += " (default)"
		}
		all = append(all, order.Value{Name: name, Meaning: v.Meaning})
	}
	if o.Meaning == "" {
		return all
	}
	takes := o.Takes
	if takes == "" {
		var names []string
		for _, v := range all {
			names = append(names, v.Name)
		}
		takes = strings.Join(names, ", ")
	}
	return []order.Value{{Name: takes, Meaning: o.Meaning}}
}

func code(text string) string { return "`" + text + "`" }
