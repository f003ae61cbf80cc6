package render

import (
	"errors"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/people"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
)

var errFull = errors.New("full")

// space is a Space that has enough for nothing (0), for the files that a job needs (1), or for all.
type space struct {
	has   int
	asked []int64
}

func (s *space) Take(size int64) error {
	if s.asked = append(s.asked, size); s.has == 0 {
		return errFull
	}
	return nil
}

func (s *space) Spare(size int64) bool {
	s.asked = append(s.asked, size)
	return s.has > 1
}

func (s *space) Fits(int64) error { return nil }

// TestSpaceOfJob asks for the space of an output before a frame is read, then for that of the frames that are kept, which the disk may not have, and
// again for that of the output when its length is known.
func TestSpaceOfJob(t *testing.T) {
	video, audio := numbered(t, "25", 20), tone(t, "1")
	prores := order.Output{Format: order.MOV, Codec: order.ProRes}
	var last int64
	for _, c := range []struct {
		name   string
		output order.Output
		has    int
		signed bool
		stored bool
		want   error
	}{
		{"full", order.Output{}, 0, false, false, errFull},
		{"no space to keep frames", order.Output{}, 1, false, false, nil},
		{"space for all", order.Output{}, 2, false, false, nil},
		{"ProRes", prores, 2, false, false, nil},
		{"stored ProRes", prores, 2, false, true, nil},
		{"signed ProRes", prores, 2, true, false, nil},
	} {
		s := &space{has: c.has}
		job := Job{Video: video, Audio: audio, Output: t.TempDir() + "/o" + c.output.Extension(), Scratch: t.TempDir(), Signed: c.signed, Stored: c.stored, Options: order.Options{Output: c.output}}
		job.Space = s
		if _, err := inMemory(t, &numberer{}).Render(t.Context(), job, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		frames := int64(20 * ffmpegtest.Width * ffmpegtest.Height * 3 / 2)
		if len(s.asked) != []int{1, 3, 3}[c.has] || len(s.asked) > 1 && s.asked[1] != frames {
			t.Errorf("%s: asked for %d bytes; frames take %d", c.name, s.asked, frames)
		}
		if len(s.asked) > 2 && s.asked[2] != s.asked[0] {
			t.Errorf("%s: asked for %d bytes when the length was known", c.name, s.asked)
		}
		if s.asked[0] < last || c.stored && s.asked[0] == last {
			t.Errorf("%s: asked for %d bytes, less than %d", c.name, s.asked[0], last)
		}
		last = s.asked[0]
	}
	if last < 1<<20 {
		t.Errorf("signed ProRes takes %d bytes", last)
	}

	s := &space{has: 2}
	job := Job{Video: unstated(t, 200), Audio: audio, Output: t.TempDir() + "/o.mov", Scratch: t.TempDir(), Space: s, Options: order.Options{Output: prores, SyncMode: order.Pad}}
	if _, err := inMemory(t, &numberer{}).Render(t.Context(), job, nil); err != nil || s.asked[2] < 4*s.asked[0] {
		t.Errorf("no stated length: asked for %d bytes (%v)", s.asked, err)
	}
}

// TestSpaceOfSpeech writes ten minutes of speech, which need more than a job has before its size is known.
func TestSpaceOfSpeech(t *testing.T) {
	w := work{Renderer: inMemory(t, nil), dir: t.TempDir()}
	for _, c := range []struct {
		in   Space
		want error
	}{{&space{}, errFull}, {&space{has: 1}, nil}, {Job{}.normal().Space, nil}} {
		if _, err := w.inspectSpeech(t.Context(), Job{Audio: tone(t, "600")}, w.dir+"/speech.wav", c.in); !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}
}

// TestSpaceOfSound takes space for the sound of an hour, in kB a second: 32 for what engines hear, and what each form of the speech, the video's own
// sound and segments needs.
func TestSpaceOfSound(t *testing.T) {
	const frames = 25 * 3600
	for name, c := range map[string]struct {
		voice, own int // channels
		mixed      bool
		segments   bool
		want       int64
	}{
		"stereo":               {2, 2, false, false, 32 + 384},
		"5.1":                  {6, 2, false, false, 32 + 1152},
		"mixed stereo":         {2, 2, true, false, 32 + 384 + 192},
		"5.1 mixed with mono":  {6, 1, true, false, 32 + 1152 + 96},
		"mono mixed with 5.1":  {1, 6, true, false, 1152 + 576},
		"segments":             {2, 2, false, true, 32 + 384 + 192 + 192},
		"segments without own": {2, 0, false, true, 32 + 384 + 192},
	} {
		in := input{limits: intake.DefaultLimits(), video: &medium.Info{Video: &medium.Video{Rate: medium.RateOf(25000)}},
			speech: soundtrack{Speech: intake.Speech{Info: &medium.Info{Audio: &medium.Audio{SampleRate: 48000, Channels: c.voice}}}}}
		if c.own > 0 {
			in.video.Audio = &medium.Audio{SampleRate: 44100, Channels: c.own}
		}
		if c.mixed {
			in.job.Options.OriginalGain = 1
		}
		if c.segments {
			in.job.Segments = order.Segments{{End: time.Hour}}
		}
		if got := in.soundSpace(frames, frames); got != 1000*3600*c.want {
			t.Errorf("%s: takes %d bytes, want %d", name, got, 1000*3600*c.want)
		}
	}
}

// scratching is an engine that writes three bytes for a face, and five for a frame.
type scratching struct{ numberer }

func (*scratching) Scratch(faces, frames int) int64 { return int64(3*faces + 5*frames) }

// TestSpaceOfFaces takes the space that one face in each frame takes, in the files of the engine and of the faces.
func TestSpaceOfFaces(t *testing.T) {
	const more, frames = 1000, 600
	in := input{limits: intake.DefaultLimits(), video: &medium.Info{Video: &medium.Video{Width: 16, Height: 16, Rate: medium.Rate{Num: 25, Den: 1}}},
		speech: soundtrack{Speech: intake.Speech{Info: &medium.Info{Audio: &medium.Audio{SampleRate: 48000, Channels: 2}}}}}
	file := check.Scratch(t)
	kept := people.NewFaces(file)
	for range more {
		check.Must(t, kept.Add(alignment.Frame{Faces: make([]alignment.Face, 1)}))
	}
	taken, err := file.Stat()
	check.Must(t, err)
	plain := in.space(more, frames)
	if got := in.space(2*more, frames) - plain; got != taken.Size() {
		t.Errorf("%d more frames take %d bytes, and their faces %d", more, got, taken.Size())
	}
	in.engine = &scratching{}
	if got, want := in.space(more, frames)-plain, int64(3*more+5*frames); got != want {
		t.Errorf("an engine takes %d bytes, want %d", got, want)
	}
}
