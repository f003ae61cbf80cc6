package hostile_test

import (
	"testing"

	"lipsync/internal/domain/failure"
)

// class is one way to make hostile media.
type class struct {
	name    string
	make    func(*testing.T, *maker) (kind failure.MediaKind, content []byte, how string)
	refused bool // all its media must be refused
	refers  bool // its media name other files or addresses
	long    bool // the output needs 4 s of the video
}

// classes has all classes, in the order in which they take turns.
var classes = []class{
	{name: "truncated", make: truncated},
	{name: "lied about sizes of parts", make: sized},
	{name: "lied about numbers", make: lied},
	{name: "parts rearranged", make: rearranged},
	{name: "parts in parts", make: nested},
	{name: "pieces missing or twice", make: mangled},
	{name: "noise", make: noisy},
	{name: "huge sides", make: sides},
	{name: "rates and time bases", make: rates},
	{name: "many streams", make: streams},
	{name: "edit lists", make: edits},
	{name: "far and negative times", make: times},
	{name: "packets of one byte", make: packets},
	{name: "decompression bombs", make: bombs},
	{name: "attachments", make: attachments},
	{name: "other codecs", make: codecs},
	{name: "odd sound", make: sounds},
	{name: "odd pictures", make: pictures},
	{name: "disguised playlists", make: playlists, refused: true, refers: true},
	{name: "references to others", make: references, refers: true},
	{name: "two formats in one", make: polyglots, refers: true},
	{name: "unsupported formats", make: foreign, refused: true, refers: true},
	{name: "nearly empty files", make: nothing, refused: true},
	{name: "cut videos", make: cut, long: true},
	{name: "photos", make: photos},
}
