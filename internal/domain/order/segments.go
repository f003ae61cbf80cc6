package order

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"lipsync/internal/domain/failure"
)

// Segment is a part of a video that gets speech of its own. Outside of all segments picture and sound stay as
// in the video. Times are rounded to milliseconds.
type Segment struct {
	Start, End time.Duration // of the video; End is the first moment that is no longer in the segment

	Ref      string        // the name of its audio; "" if that has none
	From, To time.Duration // the part of the audio; a To of 0 stands for the audio's end

	Options Options // only those of OfSegment
}

// MostSegments is the largest number of segments of a video.
const MostSegments = 100

// Segments are the segments of one video, in order of time. None overlaps another.
type Segments []Segment

// segmentFields lists the names in JSON of the fields of a segment.
const segmentFields = "start, end, audio, options"

// MarshalJSON returns what a client sends.
func (s Segment) MarshalJSON() ([]byte, error) {
	seconds := func(t time.Duration) json.Number { return json.Number(formatNumber(t.Seconds())) }
	type audio struct {
		Ref   string      `json:"ref,omitzero"`
		Start json.Number `json:"start,omitzero"`
		End   json.Number `json:"end,omitzero"`
	}
	a := audio{Ref: s.Ref}
	if s.To > 0 {
		a.Start, a.End = seconds(s.From), seconds(s.To)
	}
	return []byte(Compact(struct {
		Start   json.Number `json:"start"`
		End     json.Number `json:"end"`
		Audio   audio       `json:"audio,omitzero"`
		Options Options     `json:"options,omitzero"`
	}{seconds(s.Start), seconds(s.End), a, s.Options})), nil
}

// UnmarshalJSON reads the list that a client sends, as ParseSegments does. A null is no list.
func (s *Segments) UnmarshalJSON(text []byte) (err error) {
	*s = nil
	if string(text) != "null" {
		*s, err = ParseSegments(text)
	}
	return err
}

// ParseSegments parses a list as a client sends it. The error of a list that can't be used is Invalid, and says what is possible.
func ParseSegments(text []byte) (all Segments, err error) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil || len(list) < 1 || len(list) > MostSegments {
		return nil, failure.New(failure.Invalid, fmt.Sprintf("segments must be a list of 1 to %d segments", MostSegments))
	}
	for _, text := range list {
		segment, err := parseSegment(text)
		if err != nil {
			return nil, err
		}
		all = append(all, segment)
	}
	slices.SortStableFunc(all, func(a, b Segment) int { return cmp.Compare(a.Start, b.Start) })
	for i, b := range all[1:] {
		if a := all[i]; b.Start < a.End {
			return nil, failure.New(failure.Invalid, fmt.Sprintf("segments must not overlap: one ends at %g seconds, the next begins at %g", a.End.Seconds(), b.Start.Seconds()))
		}
	}
	return all, nil
}

// parseSegment parses a segment as a client sends it.
func parseSegment(text []byte) (s Segment, err error) {
	err = readObject("segment", text, func(name string, value json.RawMessage) (err error) {
		switch name {
		case "start", "end": // both are read below, since an absent one is an error too
		case "audio":
			err = s.readAudio(value)
		case "options":
			err = s.readOptions(value)
		default:
			err = failure.New(failure.Invalid, fmt.Sprintf("segment has no field %.30q; it has: %s", name, segmentFields))
		}
		return err
	})
	if err != nil {
		return Segment{}, err
	}
	var ok bool
	if s.Start, s.End, ok = parseSpan(text); !ok {
		return Segment{}, failure.New(failure.Invalid, fmt.Sprintf("start and end of a segment must be numbers from 0 to %.0f, the end after the start", MostPreview.Seconds()))
	}
	return s, nil
}

// readAudio reads which part of which audio is heard.
func (s *Segment) readAudio(text []byte) error {
	var audio map[string]json.RawMessage
	if json.Unmarshal(text, &audio) != nil {
		return failure.New(failure.Invalid, "audio of a segment must be an object")
	}
	names := slices.Sorted(maps.Keys(audio))
	if named := slices.Contains(names, "ref"); named {
		if json.Unmarshal(audio["ref"], &s.Ref) != nil || !ValidText(s.Ref) {
			return failure.New(failure.Invalid, "ref of a segment's audio must be the name of an audio")
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == "ref" })
	}
	if len(names) == 0 {
		return nil
	}
	var ok bool
	if s.From, s.To, ok = parseSpan(text); !ok || len(names) != 2 {
		return failure.New(failure.Invalid, "audio of a segment can have: ref, and both start and end, the end after the start")
	}
	return nil
}

// parseSpan parses the fields start and end of an object, in seconds.
func parseSpan(text []byte) (start, end time.Duration, ok bool) {
	var fields map[string]json.RawMessage // a struct would also take Start
	if json.Unmarshal(text, &fields) != nil {
		return 0, 0, false
	}
	start, ok1 := parseTime(fields["start"])
	end, ok2 := parseTime(fields["end"])
	return start, end, ok1 && ok2 && end > start
}

// parseTime parses a number of seconds in JSON.
func parseTime(text []byte) (t time.Duration, ok bool) {
	var seconds *float64
	if json.Unmarshal(text, &seconds) != nil || seconds == nil {
		return 0, false
	}
	t, err := parseSeconds(formatNumber(*seconds), 0)
	return t, err == nil
}

// readOptions reads the options of a segment. An option that only a whole request can have is refused.
func (s *Segment) readOptions(text []byte) error {
	err := readObject("options", text, func(name string, _ json.RawMessage) error {
		if _, err := find("options", OfSegment, name); err != nil {
			return failure.New(failure.Invalid, "options of a segment can be: "+NamesAt(OfSegment))
		}
		return nil
	})
	if err == nil {
		err = s.Options.UnmarshalJSON(text)
	}
	if err == nil && s.Options.Face.By == FaceInBoxes {
		err = failure.New(failure.Invalid, "face of a segment must be auto, id, or frame and point")
	}
	return err
}

// Check returns an error, which is Invalid, if the options of the whole request can't be used with segments.
func (s Segments) Check(o Options) error {
	switch {
	case len(s) > 0 && slices.ContainsFunc(OptionsAt(OfRequest), func(option *Option) bool { return option.Where&BesideSegments == 0 && option.Changed(o) }):
		return failure.New(failure.Invalid, fmt.Sprintf("with segments the options of the whole request can be: %s; each segment can have: %s",
			NamesAt(BesideSegments), NamesAt(OfSegment)))
	case len(s) > 0 && len(s.Within(o.Preview)) == 0:
		return failure.New(failure.Invalid, "no segment is in the preview")
	}
	return nil
}

// Within returns the segments of which at least a part is in a preview.
func (s Segments) Within(p Preview) Segments {
	if p.Length == 0 {
		return s
	}
	return slices.DeleteFunc(slices.Clone(s), func(s Segment) bool { return s.End <= p.Start || s.Start >= p.Start+p.Length })
}

// Refs returns the names of the audios of the segments, each once, sorted.
func (s Segments) Refs() []string {
	refs := map[string]bool{}
	for _, segment := range s {
		refs[segment.Ref] = true
	}
	return slices.Sorted(maps.Keys(refs))
}

// Unknown returns the first Ref that is not among the names. ok is false if all are.
func (s Segments) Unknown(names []string) (ref string, ok bool) {
	for _, ref := range s.Refs() {
		if !slices.Contains(names, ref) {
			return ref, true
		}
	}
	return "", false
}
