package order

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"lipsync/internal/domain/failure"
)

//go:generate go run ./page ../../http/rest/openapi.yaml ../../../docs/api.md

// Option is a row of the table of options. What calls of the API may have and how it is refused, flags, the form of the dashboard, the
// tools of assistants, openapi.yaml and docs/api.md come from the table.
type Option struct {
	Name        string // in JSON and in the form; its flag has dashes
	Where       Scope
	Shape       Shape
	Values      []Value // of Names and a Switch all, the default first; of others, names and examples
	Shown       []int   // the order in which people read Values, if it is another one
	Least, Most float64 // of a Number or an Integer
	Default     string  // of a Number, in JSON; "" if no number is the default

	Group          Group  // in the form
	Label, Example string // in the form: its name, and what an empty field shows
	Tick           string // in the form: what the second of two values does, as a box to tick
	Flag, Help     string // in the command line: what stands for its value, and its help; without help there is no flag
	Brief          string // for assistants: its values, if it has no Names
	Takes, Meaning string // in docs/api.md: its values, if Values don't say them; and what it does, if Values don't say that

	Schema string   // its name in openapi.yaml, where the schema of an Object is written by hand
	Rules  []string // what that schema demands of a Text
	About  string   // the description in that schema
	Or     string   // a further schema of its values in calls
	OfOne  []string // the schemas of its values in a segment, if they are others
	Shows  string   // the schema of its value in details, if it is another one

	field func(*Options) encoding.TextUnmarshaler
}

// Scope is where options hold. Several scopes are the sum of their bits.
type Scope uint8

// Scopes.
const (
	OfRequest      Scope = 1 << iota // a field of the options of a request
	OfSegment                        // and of those of a segment
	BesideSegments                   // it can be set for a whole request that has segments
	OfOutput                         // a field of an output
	ToAssistants                     // tools for assistants name it
)

// Group is the part of the form in which an option is.
type Group int

// Groups, in the order in which people read them.
const (
	InSpeaker Group = iota // who speaks
	InSound
	InLength
	InFile
	InAdvanced
)

// Shape is the shape of an option's values.
type Shape int

// The shapes. In JSON a Number, an Integer and a Switch aren't strings.
const (
	Names Shape = iota
	Number
	Integer
	Switch
	Text
	Object // an object in JSON, or a name
)

// Value is a value of an option.
type Value struct {
	Name    string // in JSON; "" for a default without a name
	Label   string // in the form
	Meaning string // in docs/api.md
}

// OptionsAt returns the options of any of the scopes, in the order in which people read them.
func OptionsAt(scopes Scope) []*Option {
	return slices.DeleteFunc(slices.Clone(table), func(o *Option) bool { return o.Where&scopes == 0 })
}

// OptionsIn returns those of the options at the scopes that are in a group of the form.
func OptionsIn(g Group, scopes Scope) []*Option {
	return slices.DeleteFunc(OptionsAt(scopes), func(o *Option) bool { return o.Group != g })
}

// Type returns the type of the option's values.
func (o *Option) Type() reflect.Type { return reflect.TypeOf(o.field(new(Options))).Elem() }

// Put sets the option to a value of its type.
func (o *Option) Put(options *Options, value reflect.Value) {
	reflect.ValueOf(o.field(options)).Elem().Set(value)
}

// Text returns the option's value in options, as the form and the command line have it.
func (o *Option) Text(options Options) string {
	return fmt.Sprint(reflect.ValueOf(o.field(&options)).Elem())
}

// Changed reports whether the option differs from its default.
func (o *Option) Changed(options Options) bool {
	value := reflect.ValueOf(o.field(&options)).Elem()
	return !value.Equal(reflect.Zero(value.Type())) // IsZero would be false for -0
}

// Choices returns all values in the order in which people read them, nil if they are no Names and no Switch.
func (o *Option) Choices() (all []Value) {
	if o.Shape != Names && o.Shape != Switch {
		return nil
	}
	if o.Shown == nil {
		return o.Values
	}
	for _, n := range o.Shown {
		all = append(all, o.Values[n])
	}
	return all
}

// Names returns the names of the option's values.
func (o *Option) Names() (names []string) {
	for _, v := range o.Values {
		if v.Name != "" {
			names = append(names, v.Name)
		}
	}
	return names
}

// NamesAt returns the names of the options of any of the scopes, as refusals list them.
func NamesAt(scopes Scope) string {
	var names []string
	for _, o := range OptionsAt(scopes) {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// find returns the option with the name in an object of clients, which has the options of the scope. The error of an unknown name is
// Invalid, and lists those that exist.
func find(object string, scope Scope, name string) (*Option, error) {
	all := OptionsAt(scope)
	n := slices.IndexFunc(all, func(o *Option) bool { return o.Name == name })
	if n < 0 {
		return nil, failure.New(failure.Invalid, fmt.Sprintf("%s has no field %.30q; it has: %s", object, name, NamesAt(scope)))
	}
	return all[n], nil
}

// set sets the option to the value with the text.
func (o *Option) set(options *Options, text string) error {
	return o.field(options).UnmarshalText([]byte(text))
}

// read reads the option's value in JSON. A null counts as an absent field. No option accepts the empty text of a value of the wrong
// kind.
func (o *Option) read(options *Options, value json.RawMessage) error {
	var name *string
	err := json.Unmarshal(value, &name)
	if err == nil && name == nil {
		return nil
	}
	field := o.field(options)
	if object, ok := field.(interface{ textOf(json.RawMessage) []byte }); ok {
		return field.UnmarshalText(object.textOf(value))
	}
	text := err == nil
	switch o.Shape {
	case Names, Text:
		if text {
			return field.UnmarshalText([]byte(*name))
		}
	default:
		if !text {
			return field.UnmarshalText(value)
		}
		if o.Shape == Number && slices.Contains(o.Names(), *name) {
			return field.UnmarshalText([]byte(*name))
		}
	}
	return field.UnmarshalText(nil)
}

// readKnown reads those of the fields that are options of the scope, as far as they can be read: a newer version may have stored others.
func readKnown(options *Options, scope Scope, fields map[string]json.RawMessage) {
	for _, o := range OptionsAt(scope) {
		if value, ok := fields[o.Name]; ok {
			_ = o.read(options, value)
		}
	}
}

// Named is the value of an option that has names: the index of one among them.
type Named[K interface{ option() *Option }] int

func (n Named[K]) option() *Option {
	var kind K
	return kind.option()
}

// String returns the name that clients use, and "" for the default of a format's codec.
func (n Named[K]) String() string { return n.option().Values[n].Name }

// MarshalText returns the name that clients use.
func (n Named[K]) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads the name that clients use. The error of an unknown name is Invalid, and lists all names.
func (n *Named[K]) UnmarshalText(text []byte) error {
	o := n.option()
	index := slices.IndexFunc(o.Values, func(v Value) bool { return v.Name != "" && v.Name == string(text) })
	if index < 0 {
		return failure.New(failure.Invalid, fmt.Sprintf("%s must be one of: %s", o.Name, strings.Join(o.Names(), ", ")))
	}
	*n = Named[K](index)
	return nil
}
