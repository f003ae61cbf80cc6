package render

import (
	"errors"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// TestFullDisk finds no space for the speech track: the audio is not at fault.
func TestFullDisk(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	audio, err := tools.Probe(t.Context(), ffmpegtest.Make(t, "a.wav", "-f", "lavfi", "-i", "sine=d=1"))
	if err != nil {
		t.Fatal(err)
	}
	w := work{Renderer: &Renderer{Media: tools, Limits: DefaultLimits()}}
	if _, err := w.decodeSpeech(t.Context(), soundtrack{info: audio, pcm: "/dev/full"}, 0); failure.CodeOf(err) == failure.Invalid || !failure.DiskFull(err) {
		t.Errorf("got %v, want a full disk", err)
	}
}

var errFull = errors.New("full")

// space is a Space that has enough for a number of calls.
type space struct {
	has   int
	asked []int64
}

func (s *space) Take(size int64) error {
	if s.asked = append(s.asked, size); len(s.asked) > s.has {
		return errFull
	}
	return nil
}

func (s *space) Spare(size int64) bool { return s.Take(size) == nil }

// TestSpaceOfJob asks for the space of an output before a frame is read, and then for that of the frames that are kept, which the disk may not have.
func TestSpaceOfJob(t *testing.T) {
	video, audio := ffmpegtest.Make(t, "v.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20)), sound(t, "a.wav", "1")
	prores := order.Output{Format: order.MOV, Codec: order.ProRes}
	var last int64
	for _, c := range []struct {
		name   string
		output order.Output
		has    int // number of calls that get space
		signed bool
		want   error
	}{
		{"full", order.Output{}, 0, false, errFull},
		{"no space to keep frames", order.Output{}, 1, false, nil},
		{"space for all", order.Output{}, 2, false, nil},
		{"ProRes", prores, 2, false, nil},
		{"signed ProRes", prores, 2, true, nil},
	} {
		s := &space{has: c.has}
		job := Job{Video: video, Audio: audio, Output: t.TempDir() + "/o" + c.output.Format.Extension(), Scratch: t.TempDir(), Signed: c.signed, Options: order.Options{Output: c.output}}
		job.Space = s
		if _, err := newRenderer(t, &numberer{}).Render(t.Context(), job, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		frames := int64(20 * ffmpegtest.Width * ffmpegtest.Height * 3 / 2)
		if len(s.asked) != min(2, c.has+1) || len(s.asked) > 1 && s.asked[1] != frames {
			t.Errorf("%s: asked for %d bytes; frames take %d", c.name, s.asked, frames)
		}
		if s.asked[0] < last {
			t.Errorf("%s: asked for %d bytes, less than %d", c.name, s.asked[0], last)
		}
		last = s.asked[0]
	}
	if last < 1<<20 {
		t.Errorf("signed ProRes takes %d bytes", last)
	}
}
