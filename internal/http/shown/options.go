package shown

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Option is an option with its value, as the form for a new request offers it and the page of a request shows it.
type Option struct {
	*order.Option
	Value string // name of the chosen value, or the number or text
}

// values returns the options of the scopes, with the values that o has.
func values(o order.Options, scopes order.Scope) (all []Option) {
	for _, row := range order.OptionsAt(scopes) {
		all = append(all, Option{row, row.Text(o)})
	}
	return all
}

// Options returns all options of a request, except those of its output, with the values that o has.
func Options(o order.Options) []Option { return values(o, order.OfRequest) }

// Applied returns those options that count for a whole request. With segments most of them don't.
func Applied(o order.Options) []Option {
	return slices.DeleteFunc(Options(o), func(one Option) bool { return o.Segments != nil && one.Whole() })
}

// Differs returns what a request has other than the form begins with, in a service with the engines.
func Differs(r lipsync.Request, engines []string) []Option {
	output := r.Options.Output
	output.UploadURL = output.UploadURL.Origin()
	all := append(differing(r.Options, order.OfRequest), differing(order.Options{Output: output}, order.OfOutput)...)
	if r.LargestFace {
		all = append(all, Option{&order.Option{Label: "Faces"}, "The largest"})
	}
	if len(engines) > 1 && r.Engine != engines[0] {
		all = append(all, Option{&order.Option{Label: "Model"}, r.Engine})
	}
	return all
}

// differing returns the options of the scopes that differ from the defaults.
func differing(o order.Options, scopes order.Scope) []Option {
	return slices.DeleteFunc(values(o, scopes), func(field Option) bool { return !field.Changed(o) })
}

// Bounded reports whether the form has a field for numbers only.
func (o Option) Bounded() bool { return o.Shape == order.Number && o.Values == nil }

// Slides reports whether the form has a slider for the option.
func (o Option) Slides() bool { return o.Bounded() && o.Group == order.InSound }

// Percent returns the value of a slider as people read it: 100 %.
func (o Option) Percent() string {
	n, _ := strconv.ParseFloat(o.Value, 64)
	return fmt.Sprintf("%.0f %%", 100*n)
}

// Usual returns the default of an option with choices, or of a number.
func (o Option) Usual() string {
	if o.Choices() != nil {
		return o.Values[0].Name
	}
	return o.Default
}

// OfSegment reports whether a segment can have the option.
func (o Option) OfSegment() bool { return o.Where&order.OfSegment != 0 }

// Whole reports whether the option is one of a whole request without segments. A segment can have some of these of its own.
func (o Option) Whole() bool {
	return o.Where&order.OfRequest != 0 && o.Where&order.BesideSegments == 0
}

// Says returns the text of the value, for people.
func (o Option) Says() string {
	for _, c := range o.Choices() {
		if c.Name == o.Value {
			return c.Label
		}
	}
	return cmp.Or(o.Value, "–")
}

// Segment is a segment on the page of its request.
type Segment struct {
	Part    string // of the video
	Audio   string // its name, "" for none
	Heard   string // the part of the audio, "" for all of it
	Face    string
	Options []Option // the others that differ from the defaults
}

// Segments returns the segments for the page of their request.
func Segments(all order.Segments) (rows []Segment) {
	part := func(start, end time.Duration) string { return fmt.Sprintf("%g–%g s", start.Seconds(), end.Seconds()) }
	for _, s := range all {
		one := Segment{Part: part(s.Start, s.End), Audio: s.Ref, Face: "The one who speaks"}
		if s.To > 0 {
			one.Heard = part(s.From, s.To)
		}
		if face := s.Options.Face; face.By != order.AutoFace {
			one.Face = fmt.Sprintf("The one at %d, %d in frame %d", face.X, face.Y, face.Frame)
		}
		s.Options.Face = order.Face{}
		one.Options = differing(s.Options, order.OfSegment)
		rows = append(rows, one)
	}
	return rows
}
