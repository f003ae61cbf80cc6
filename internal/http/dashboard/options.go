package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"lipsync/internal/domain/order"
)

// option is an option with its value, as the form for a new request offers it and the page of a request shows it.
type option struct {
	*order.Option
	Value string // name of the chosen value, or the number or text
}

// valuesOf returns the options of the scopes, with the values that o has.
func valuesOf(o order.Options, scopes order.Scope) (all []option) {
	for _, row := range order.OptionsAt(scopes) {
		all = append(all, option{row, row.Text(o)})
	}
	return all
}

// optionsOf returns all options, with the values that o has.
func optionsOf(o order.Options) []option { return valuesOf(o, order.OfRequest) }

// changed returns the fields of an output that differ from the defaults, as the page of a request shows them.
func changed(o order.Output) []option {
	o.UploadURL = o.UploadURL.Origin()
	return differing(order.Options{Output: o}, order.OfOutput)
}

// differing returns the options of the scopes that differ from the defaults.
func differing(o order.Options, scopes order.Scope) []option {
	return slices.DeleteFunc(valuesOf(o, scopes), func(field option) bool { return !field.Changed(o) })
}

// Bounded reports whether the form has a field for numbers only.
func (o option) Bounded() bool { return o.Shape == order.Number && o.Values == nil }

// Slides reports whether the form has a slider for the option.
func (o option) Slides() bool { return o.Bounded() && o.Group == order.InSound }

// Percent returns the value of a slider as people read it: 100 %.
func (o option) Percent() string {
	n, _ := strconv.ParseFloat(o.Value, 64)
	return fmt.Sprintf("%.0f %%", 100*n)
}

// Usual returns the default of an option with choices, or of a number.
func (o option) Usual() string {
	if o.Choices() != nil {
		return o.Values[0].Name
	}
	return o.Default
}

// OfSegment reports whether a segment can have the option.
func (o option) OfSegment() bool { return o.Where&order.OfSegment != 0 }

// Whole reports whether the option is one of a whole request without segments. A segment can have some of these of its own.
func (o option) Whole() bool {
	return o.Where&order.OfRequest != 0 && o.Where&order.BesideSegments == 0
}

// Says returns the text of the value, for people.
func (o option) Says() string {
	for _, c := range o.Choices() {
		if c.Name == o.Value {
			return c.Label
		}
	}
	return cmp.Or(o.Value, "–")
}

// readOptions reads the options and the output of a form. A field that was not sent, or is empty, has its default. If
// several can't be used, the error is that of the first, and the others are read nevertheless.
func readOptions(form url.Values, o *order.Order) (first error) {
	for _, option := range order.OptionsAt(order.OfRequest | order.OfOutput) {
		if value := form.Get(option.Name); value != "" {
			first = cmp.Or(first, o.Set(option.Name, value))
		}
	}
	return first
}
