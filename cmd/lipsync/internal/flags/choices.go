package flags

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// Choices are the options of an output, for commands that render it or let a service do so.
type Choices struct {
	DisableActiveSpeakerDetection bool              `help:"Sync the largest face of each frame, no matter who speaks."`
	Values                        kong.Plugins      `embed:""` // a struct with a pointer for each option that has a flag
	Segments                      string            `placeholder:"FILE" help:"Give parts of the video speech of their own, and leave the rest as in the video. The file is a JSON list of {\"start\", \"end\", \"audio\": {\"ref\", \"start\", \"end\"}, \"options\": {${segment_options}}}, with times in seconds. audio and options may be absent. face is {\"id\": FACE}, as analyze prints it."`
	Ref                           map[string]string `placeholder:"NAME=FILE" mapsep:"none" help:"Give segments another speech track, which they name by ref. Without ref they have AUDIO."`
}

// NewChoices returns flags with those of the table of options.
func NewChoices() Choices {
	var fields []reflect.StructField
	for _, o := range flagged() {
		kind := o.Type()
		if o.Shape == order.Switch {
			kind = reflect.TypeFor[bool]()
		}
		tag := fmt.Sprintf("name:%q placeholder:%q help:%q", flagOf(o), o.Flag, o.Help)
		fields = append(fields, reflect.StructField{Name: o.Schema, Type: reflect.PointerTo(kind), Tag: reflect.StructTag(tag)})
	}
	return Choices{Values: kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

// SegmentOptions lists the options that a segment can have, as its JSON has them.
func SegmentOptions() string {
	var names []string
	for _, o := range order.OptionsAt(order.OfSegment) {
		names = append(names, strconv.Quote(o.Name))
	}
	return strings.Join(names, ", ")
}

// flagged returns the options that have flags.
func flagged() []*order.Option {
	return slices.DeleteFunc(order.OptionsAt(order.OfRequest|order.OfOutput), func(o *order.Option) bool { return o.Help == "" })
}

// Options returns the options that the flags set, without the segments, for an output with the name. Without a flag its format is the one
// of its name, if that has one.
func (f *Choices) Options(output string) (options order.Options) {
	options.Output.Format, _ = order.FormatOf(output)
	values := reflect.ValueOf(f.Values[0]).Elem()
	for n, o := range flagged() {
		if value := values.Field(n); !value.IsNil() {
			o.Put(&options, value.Elem().Convert(o.Type()))
		}
	}
	return options
}

// Check returns an error if the flags contradict each other, or the name of the output. The output may be a folder.
func (f *Choices) Check(output string, folder bool) error {
	extension := filepath.Ext(output)
	named, known := order.FormatOf(output)
	options := f.Options(output)
	switch {
	case f.DisableActiveSpeakerDetection && f.Segments != "":
		return errors.New("--segments and --disable-active-speaker-detection exclude each other")
	case len(f.Ref) > 0 && f.Segments == "":
		return errors.New("--ref gives speech to segments: there is no --segments")
	case f.Ref[""] != "":
		return errors.New("--ref needs a name: NAME=FILE")
	case folder: // its name says nothing about formats
	case extension != "" && !known:
		return fmt.Errorf("the output is an MP4, MOV or WebM file: name it %s.mp4", strings.TrimSuffix(output, extension))
	case known && options.Output.Format != named:
		return fmt.Errorf("the output is of the format %s: name it %s%s", options.Output.Format, strings.TrimSuffix(output, extension), options.Output.Extension())
	}
	if err := options.Output.Check(); err != nil {
		return errors.New(Words(failure.MessageOf(err)))
	}
	return nil
}

// Input is a file that a command reads. Its path is "" if there is none.
type Input struct{ Kind, Path string }

// Files returns the files that the flags name.
func (f *Choices) Files() []Input {
	all := []Input{{"segments file", f.Segments}}
	for _, name := range slices.Sorted(maps.Keys(f.Ref)) {
		all = append(all, Input{"audio", f.Ref[name]})
	}
	return all
}

// Audios returns the speech tracks by the names that segments have for them.
func (f *Choices) Audios(audio string) map[string]string {
	all := map[string]string{"": audio}
	maps.Copy(all, f.Ref)
	return all
}

// ReadSegments reads the file of segments. It returns nil if there is none.
func (f *Choices) ReadSegments(o order.Options) (segments order.Segments, err error) {
	if f.Segments == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.Segments)
	if err != nil {
		return nil, err
	}
	if err = json.Unmarshal(text, &segments); err == nil && segments == nil { // a null is no list
		_, err = order.ParseSegments(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Segments, err)
	}
	ref, unknown := segments.Unknown(slices.Collect(maps.Keys(f.Audios(""))))
	switch {
	case unknown && len(f.Ref) == 0:
		return nil, fmt.Errorf("segment has the audio %q; there is only AUDIO", ref)
	case unknown:
		return nil, fmt.Errorf("segment has the audio %q; there is: %s", ref, strings.Join(slices.Sorted(maps.Keys(f.Ref)), ", "))
	}
	return segments, segments.Check(o)
}
