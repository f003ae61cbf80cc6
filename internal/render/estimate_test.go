package render

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/intake"
)

// late has the failures that only decoding shows, so that no estimate can have them.
var late = []failure.Reason{
	failure.NoFace, failure.FaceMissing, failure.FaceNotThere, failure.FaceFrameUnused, failure.BoxesWithoutFace, failure.MediaTruncated,
}

// compareEstimate checks an estimate of a job that was rendered, unless its video states no length, or a wrong one. The name of such a video begins with unstated,
// or its estimate has no length. An output may have a frame more or less, since lengths are rounded.
func compareEstimate(t testing.TB, r *Renderer, j Job, rendered Result, renderErr error) {
	t.Helper()
	f := failure.Of(renderErr)
	refused := renderErr != nil && f.Code.Class() == failure.OfInput && !slices.Contains(late, f.Code)
	if !refused && renderErr != nil || strings.HasPrefix(filepath.Base(j.Video), "unstated") {
		return
	}
	e, err := r.Estimate(t.Context(), j)
	more := e.Frames - rendered.Frames.Total
	switch {
	case err != nil:
		t.Errorf("estimate: %v", err)
	case refused && e.Problems == nil && e.VideoSeconds == 0:
	case refused && (e.Problems == nil || e.Problems[0] != order.Problem{Code: f.Code, Message: f.Sentence()}):
		t.Errorf("got the estimate %+v of what failed with %q", e, f.Sentence())
	case !refused && (e.Problems != nil || more < -1 || more > 1 || e.Size > 3*rendered.Size || rendered.Size > 3*e.Size):
		t.Errorf("got the estimate %+v of what became %+v", e, rendered)
	}
}

// TestEstimateOfBoth has a video and an audio that are both at fault.
func TestEstimateOfBoth(t *testing.T) {
	picture, silent := photo(t, "a.png"), photo(t, "b.png")
	r := newRenderer(t, &numberer{})
	r.Limits.Width = 2
	e, err := r.Estimate(t.Context(), Job{Video: picture, Audio: silent, Scratch: t.TempDir()})
	if err != nil || len(e.Problems) != 2 || e.Problems[0].Code != failure.PictureLargerThan || e.Problems[1].Code != failure.MediaUnsupported {
		t.Errorf("got %+v (%v), want problems of both media", e, err)
	}
}

// TestLargestOutput refuses outputs of ProRes that the disk has no space for. One that must be signed may have a quarter of the size.
func TestLargestOutput(t *testing.T) {
	for _, c := range []struct {
		frames int // of 917,568 bytes
		signed bool
		most   int64 // 0: it is not refused
	}{
		{9300, true, 0}, {9400, true, 8 << 30}, {9400, false, 0}, {37400, false, 0}, {37500, false, 32 << 30},
	} {
		in := input{job: Job{Signed: c.signed}, limits: intake.DefaultLimits(), video: &medium.Info{Video: &medium.Video{Width: 1920, Height: 1080}}}
		in.job.Options.Output = order.Output{Format: order.MOV, Codec: order.ProRes, Quality: order.High}
		f := failure.Of(in.checkSize(1, c.frames))
		if f.Limit.Bytes != c.most || c.most > 0 && (f.Code != failure.MediaLargerThan || f.Details.Kind != failure.OutputFile) {
			t.Errorf("%+v: got %+v", c, f)
		}
	}
}
