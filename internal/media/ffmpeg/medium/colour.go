package medium

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ColourTag is a tag of the colours of frames.
type ColourTag struct {
	set    string // its name in the filter setparams
	Probed string // its name in ffprobe's report
	Value  string // "" if it has none
}

// These are ffmpeg's names of what all outputs can be tagged with.
var (
	primariesKept = []string{"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "bt2020", "smpte428", "smpte431", "smpte432"}
	transfersKept = []string{"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "linear", "log100", "log316", "iec61966-2-4", "bt1361e",
		"iec61966-2-1", "bt2020-10", "bt2020-12", pq, "smpte428", hlg}
	matricesKept = []string{"bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020nc"}
)

// These are names of what some outputs can't be tagged with, and is converted: EBU Tech. 3213 has two names, and becomes nearPrimaries.
var (
	otherPrimaries = []string{"ebu3213", "jedec-p22"}
	otherMatrices  = []string{"fcc", "ycgco", "ictcp"}
)

const nearPrimaries = "smpte170m"

// ColoursError is an ErrUnsupported for pictures whose colours can be neither kept nor converted. Its text says what is wrong with them.
type ColoursError struct{ fault string }

// unsupportedColours returns the error of the colours of a stream.
func unsupportedColours(s stream) error {
	return ColoursError{"colours are not supported: matrix " + s.Space + ", primaries " + cmp.Or(s.Primaries, "unknown") + ", transfer function " + cmp.Or(s.Transfer, "unknown")}
}

// Error names the colours.
func (e ColoursError) Error() string { return e.fault }

// Unwrap returns ErrUnsupported.
func (ColoursError) Unwrap() error { return ErrUnsupported }

// setColours sets the colours of a video to those of a stream, and reports whether they can be kept or converted. The filter zscale converts those
// of a constant luminance with an error, and ICtCp only of PQ.
func (v *Video) setColours(s stream) (ok bool) {
	v.transfer, v.primaries, v.matrix, v.fileMatrix = s.Transfer, s.Primaries, s.Space, s.Space
	switch v.matrix {
	case "ictcp":
		return v.transfer == pq && (v.primaries == "bt2020" || !slices.Contains(primariesKept, v.primaries))
	case "chroma-derived-nc":
		v.matrix = map[string]string{"bt709": "bt709", "bt2020": "bt2020nc"}[v.primaries]
		return v.matrix != ""
	case "bt2020c", "chroma-derived-c", "smpte2085", "ipt-c2", "ycgco-re", "ycgco-ro":
		return false
	}
	return true
}

// ColourTags returns the tags of the frames' colours, as far as the source names them.
func (v *Video) ColourTags() []ColourTag {
	primaries, transfer, matrix := v.primaries, v.transfer, v.matrix
	switch {
	case v.LosesHDR():
		primaries, transfer, matrix = "bt709", "bt709", "bt709"
	case v.rgb || v.converts():
		matrix = v.newMatrix()
	}
	if slices.Contains(otherPrimaries, primaries) {
		primaries = nearPrimaries
	}
	known := func(value string, all []string) string {
		if slices.Contains(all, value) {
			return value
		}
		return ""
	}
	return []ColourTag{
		{"range", "color_range", "tv"},
		{"color_primaries", "color_primaries", known(primaries, primariesKept)},
		{"color_trc", "color_transfer", known(transfer, transfersKept)},
		{"colorspace", "color_space", known(matrix, matricesKept)},
	}
}

// Tags returns the filter that marks the frames with the tags of their colours.
func (v *Video) Tags() string {
	var tags []string
	for _, t := range v.ColourTags() {
		if t.Value != "" {
			tags = append(tags, t.set+"="+t.Value)
		}
	}
	return "setparams=" + strings.Join(tags, ":")
}

// converts reports whether the filter zscale gives the frames other primaries or another matrix than the pictures of the file have.
func (v *Video) converts() bool {
	return slices.Contains(otherMatrices, v.matrix) || slices.Contains(otherPrimaries, v.primaries)
}

// newMatrix returns ffmpeg's name of the matrix of frames that don't keep that of the file.
func (v *Video) newMatrix() string {
	if v.Transfer() != SDR {
		return "bt2020nc"
	}
	return "bt709"
}

// colourFilters returns the filters that convert any pixel format to v.Pixels, of limited range.
// Transparent pixels are laid over black, unless the frames have alpha.
func (v *Video) colourFilters() []string {
	var chain []string
	if v.LosesAlpha() {
		chain = append(chain, "premultiply=inplace=1")
	}
	switch {
	case v.LosesHDR():
		chain = append(chain, v.toneFilters()...)
	case v.converts():
		chain = append(chain, v.converted()...)
	case v.rgb:
		chain = append(chain, "scale=out_color_matrix="+strings.TrimSuffix(v.newMatrix(), "nc")+":out_range=tv", "format="+v.Pixels.String())
	case v.fullRange:
		chain = append(chain, "scale=out_range=tv", "format="+v.Pixels.String())
	}
	return chain
}

// given returns the begin of a filter zscale, with the primaries, transfer function and matrix of the file, and the first two of these. Those of a
// high dynamic range are of Rec. 2020 where the file doesn't say otherwise. Others have the transfer function of Rec. 709, which is near enough to
// convert what converts does.
func (v *Video) given() (filter, primaries, transfer string) {
	var matrix string
	primaries, transfer, matrix = "bt709", "bt709", "smpte170m"
	if v.HDR() {
		primaries, transfer, matrix = "bt2020", v.transfer, "bt2020nc"
	}
	if slices.Contains(otherPrimaries, v.primaries) {
		primaries = "jedec-p22"
	} else if slices.Contains(primariesKept, v.primaries) {
		primaries = v.primaries
	}
	if slices.Contains(matricesKept, v.matrix) || slices.Contains(otherMatrices, v.matrix) {
		matrix = v.matrix
	}
	if matrix == "smpte240m" { // ffmpeg 5.1 has this name with a mistake
		matrix = "7"
	}
	filter = "zscale=pin=" + primaries + ":tin=" + transfer + ":min=" + matrix
	if transfer == hlg { // otherwise its light is that of red, green and blue each by itself, not by luminance
		filter += ":agamma=0"
	}
	return filter, primaries, transfer
}

// scaleMatrices has the names by which the filter scale knows matrices of frames.
var scaleMatrices = map[string]string{"bt709": "bt709", "bt470bg": "smpte170m", "smpte170m": "smpte170m", "smpte240m": "smpte240m", "bt2020nc": "bt2020"}

// sameMatrix returns an option of the filter scale by which all frames get the matrix of the first: it may change in the middle of a file.
// It is "" if the filter would take frames to have another matrix than they have.
func (v *Video) sameMatrix() string {
	if matrix := scaleMatrices[v.fileMatrix]; matrix != "" && !v.LosesHDR() && !v.converts() && !v.rgb {
		return ":out_color_matrix=" + matrix
	}
	return ""
}

// converted returns the filters that do what converts reports.
func (v *Video) converted() []string {
	filter, primaries, transfer := v.given()
	if primaries == "jedec-p22" {
		primaries = nearPrimaries
	}
	return []string{filter + ":p=" + primaries + ":t=" + transfer + ":m=" + v.newMatrix() + ":r=tv", "format=" + v.Pixels.String()}
}

// These are light in cd/m².
const (
	sdrWhite  = 100  // on which the tone curve counts
	hdrBright = 1000 // the most in HLG, and in PQ that doesn't tell its most
)

// toneFilters returns the filters that convert a high dynamic range to a standard one. Hable's tone curve brings the brightest value of the
// video to SDR white, by a factor that a pixel's red, green and blue share.
func (v *Video) toneFilters() []string {
	floats, integers := "gbrpf32le", "gbrp16le"
	if v.Pixels.Alpha() {
		floats, integers = "gbrapf32le", "gbrap16le"
	}
	filter, primaries, _ := v.given()
	brightest := float64(hdrBright)
	if v.transfer == pq && v.mastering.brightest > 0 {
		brightest = max(sdrWhite, v.mastering.brightest)
	}
	return []string{
		fmt.Sprintf("%s:p=%s:t=linear:npl=%d", filter, primaries, sdrWhite), "format=" + floats,
		"zscale=p=bt709", fmt.Sprintf("tonemap=hable:desat=0:peak=%g", brightest/sdrWhite),
		"zscale=t=bt709", "format=" + integers, // so that red, green and blue are cut to what Rec. 709 has, not luma and chroma
		"zscale=m=bt709:r=tv", "format=" + v.Pixels.String(),
	}
}
