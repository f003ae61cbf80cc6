package order

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/domain/failure"
)

// UnmarshalJSON reads the object that a client sends. A null counts as an absent field. The error of an
// unknown name or value is Invalid, and lists those that exist.
func (o *Output) UnmarshalJSON(text []byte) error {
	*o = Output{}
	options := Options{}
	err := readObject("output", text, func(name string, value json.RawMessage) error {
		option, err := find("output", OfOutput, name)
		if err != nil {
			return err
		}
		return option.read(&options, value)
	})
	if *o = options.Output; err != nil {
		return err
	}
	return o.Check()
}

// parseOutput parses an output as stores keep it. It ignores names and values that a newer version added.
func parseOutput(text json.RawMessage) Output {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields)
	var o Options
	readKnown(&o, OfOutput, fields)
	if o.Output.Check() != nil {
		o.Output.Codec = 0
	}
	return o.Output
}

// Check returns an error, which is Invalid and lists the codecs of the format, unless the codec is one of
// them. It changes the format's default codec to 0.
func (o *Output) Check() error {
	taken := formatCodecs[o.Format]
	if !slices.Contains(taken, o.VideoCodec()) {
		var names []string
		for _, c := range taken {
			names = append(names, c.String())
		}
		return failure.New(failure.Invalid, fmt.Sprintf("codec must be one of those of format %s: %s", o.Format, strings.Join(names, ", ")))
	}
	if o.Codec == taken[0] {
		o.Codec = 0
	}
	return nil
}

// VideoCodec returns the codec of the pictures, also if that is the format's default.
func (o Output) VideoCodec() Codec {
	if o.Codec == 0 {
		return formatCodecs[o.Format][0]
	}
	return o.Codec
}

// Format is the format of a file.
type Format = Named[format]

type format struct{}

func (format) option() *Option { return &formatOption }

// The formats.
const (
	MP4 Format = iota
	MOV
	WebM
)

// mediaTypes has the media types of files by their extensions.
var mediaTypes = map[string]string{
	".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".jpg": "image/jpeg",
}

// MediaType returns the media type of an output or poster with the file name, and "" for other files.
func MediaType(name string) string { return mediaTypes[path.Ext(name)] }

// FormatOf returns the format of files with the name's extension. ok is false if there is none.
func FormatOf(name string) (f Format, ok bool) {
	extension, _ := strings.CutPrefix(strings.ToLower(path.Ext(name)), ".")
	n := slices.Index(formatOption.Names(), extension)
	return Format(max(0, n)), n >= 0
}

// Extension returns the end of the name of the file, such as .mp4.
func (o Output) Extension() string { return "." + o.Format.String() }

// Codec is the codec of the pictures of an output. 0 is the default of its format.
type Codec = Named[codec]

type codec struct{}

func (codec) option() *Option { return &codecOption }

// The codecs.
const (
	H264 Codec = 1 + iota
	HEVC
	VP9
	ProRes
)

// formatCodecs has the codecs of each format, the default first.
var formatCodecs = [][]Codec{MP4: {H264, HEVC, VP9}, MOV: {H264, HEVC, ProRes}, WebM: {VP9}}

// Quality says how near the pictures of an output are to those of the video. A lower quality makes a
// smaller file.
type Quality = Named[quality]

type quality struct{}

func (quality) option() *Option { return &qualityOption }

// The qualities.
const (
	Source Quality = iota // as High to the eye, with less data if the video has few
	High
	Medium
	Low
)

// FrameRate is a number of frames in 1000 s. 0 is the rate of the video.
type FrameRate int

// MostFPS is the largest frame rate, in frames a second.
const MostFPS = 120

// sourceRate is the name of the FrameRate 0.
const sourceRate = "source"

// FPS returns the frames a second.
func (r FrameRate) FPS() float64 { return float64(r) / 1000 }

// String returns the frames a second as clients write them, and source for the rate of the video.
func (r FrameRate) String() string {
	if r == 0 {
		return sourceRate
	}
	return formatNumber(r.FPS())
}

// MarshalJSON returns the frames a second as clients write them.
func (r FrameRate) MarshalJSON() ([]byte, error) {
	if r == 0 {
		return []byte(strconv.Quote(sourceRate)), nil
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads what String returns, and rounds it to thousandths. The error of anything else is
// Invalid, and says what is possible.
func (r *FrameRate) UnmarshalText(text []byte) error {
	if string(text) == sourceRate {
		*r = 0
		return nil
	}
	fps, err := fpsOption.number(text)
	if err == nil {
		*r = FrameRate(math.Round(fps * 1000))
	}
	return err
}

// Width is a width in pixels. 0 is the width of the video.
type Width = Whole[width]

type width struct{}

func (width) option() *Option { return &widthOption }

// The widths of outputs.
const (
	leastWidth = 16
	MostWidth  = 4096
)

// FileName is the name under which an output is downloaded, except for its extension. "" stands for a name
// that is derived from that of the video.
type FileName string

// UnmarshalText reads a name. The error of anything else is Invalid, and says what is possible.
func (n *FileName) UnmarshalText(text []byte) error {
	if !ValidName(string(text)) || strings.ContainsAny(string(text), `/\`) {
		return failure.New(failure.Invalid, fmt.Sprintf("file_name must be 1 to %d characters, without slashes and control characters", maxText))
	}
	*n = FileName(text)
	return nil
}

// With returns the name with an extension, instead of one of another format.
func (n FileName) With(extension string) string {
	name := string(n)
	if _, ok := FormatOf(name); ok {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return name + extension
}

// UploadURL is the URL to which the service sends the output by PUT, for example one that a client signed
// for its own storage. "" means that the output isn't sent. It may hold a secret: only workers may use
// it, and its client may see its Origin only.
type UploadURL string

// UnmarshalText reads a URL. The error of anything else is Invalid, and says what is possible.
func (u *UploadURL) UnmarshalText(text []byte) error {
	if !ValidURL(string(text)) {
		return failure.New(failure.Invalid, URLRule("upload_url", string(text)))
	}
	*u = UploadURL(text)
	return nil
}

// Origin returns the scheme and the host of the URL, without its path and parameters, which may hold a
// secret.
func (u UploadURL) Origin() UploadURL {
	parsed, err := url.Parse(string(u))
	if u == "" || err != nil {
		return ""
	}
	return UploadURL(parsed.Scheme + "://" + parsed.Host)
}

// MostSigned is the size in bytes of the largest output that is signed, unless all outputs must be signed. For a while there are three copies of it.
const MostSigned = 8 << 30

// Signable reports whether the file can have a manifest of C2PA.
func (o Output) Signable() bool { return o.Format != WebM }
