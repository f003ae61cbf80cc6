package face

import "slices"

// How many frames of a track are worked on at a time.
const (
	// Context is how many frames before and after one its smoothing needs.
	Context = 12
	// BlockFrames are the most that are aligned together.
	BlockFrames = 96

	blockBytes = 32 << 20 // of their pixels, at most
)

const (
	// LongestGap is in how many frames a face may be missed and still be there.
	LongestGap = 4
	// Patience is how many frames without its face end a track.
	Patience = 30
)

// Block holds the last frames of one track: those that wait to be aligned
// together, and those before them that their smoothing needs.
type Block[S any] struct {
	Samples []S
	Done    int // of Samples that are finished
}

// Add takes the next frame's sample, whose pixels are p, and tells whether
// enough of them wait.
func (b *Block[S]) Add(s S, p *Picture) (full bool) {
	b.Samples = append(b.Samples, s)
	n := len(b.Samples) - b.Done
	return n >= BlockFrames || n > 2*Context && n*len(p.Y)*3/2 > blockBytes
}

// Finish notes that the samples before until are finished, and drops those of
// them that no later one needs.
func (b *Block[S]) Finish(until int) {
	drop := max(until-Context, 0)
	b.Samples = slices.Clone(b.Samples[drop:])
	b.Done = until - drop
}
