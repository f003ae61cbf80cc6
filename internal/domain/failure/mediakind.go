package failure

// MediaKind is the kind of an input or an upload.
type MediaKind string

// The kinds of media.
const (
	Video MediaKind = "video"
	Audio MediaKind = "audio"

	// These are kinds of failures only, and never of uploads.
	Boxes      MediaKind = "boxes file" // see FaceInBoxes
	OutputFile MediaKind = "output"
)
