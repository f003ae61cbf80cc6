// Package order says how a client wants media to be rendered: the options with their table, the output, and the
// segments. It parses them, and refuses what they must not be. It also says what a client learns: the stage of the work,
// an analysis, an estimate.
package order

// Order says how to render the media that it comes with, in JSON as calls of the API have it: a generate call, an estimate, a line of a
// batch, and the form of the dashboard.
type Order struct {
	ReferenceID *string `json:"reference_id,omitzero"`                     // the client's own name for the request; nil if it has none
	LargestFace bool    `json:"disable_active_speaker_detection,omitzero"` // see Request.LargestFace
	Engine      string  `json:"model,omitzero"`                            // "" means the default of the service
	Options     Options `json:"options,omitzero"`                          // without an output and segments, which are beside them
	Output      Output  `json:"output,omitzero"`
}

// Set sets an option or a field of the output, as Options.Set does.
func (o *Order) Set(name, text string) error {
	options := o.Whole()
	err := options.Set(name, text)
	set := OrderOf(options)
	o.Options, o.Output = set.Options, set.Output
	return err
}

// OrderOf returns an order with the options and the output of a request.
func OrderOf(options Options) (o Order) {
	o.Output = options.Output
	options.Output, options.Segments, options.Unread = Output{}, nil, nil
	o.Options = options
	return o
}

// Whole returns the options with the output, as a request has them.
func (o Order) Whole() Options {
	o.Options.Output = o.Output
	return o.Options
}

// Reference returns the reference id, or "" if there is none.
func (o Order) Reference() string {
	if o.ReferenceID == nil {
		return ""
	}
	return *o.ReferenceID
}
