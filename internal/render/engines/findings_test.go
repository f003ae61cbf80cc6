package engines_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/demo"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/network/catalog"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/people"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/rendertest"
)

// memory is a render.Findings.
type memory map[string][]byte

func (m memory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if m[name] == nil {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(m[name])), nil
}

func (m memory) Keep(_ context.Context, name string, r io.Reader) (err error) {
	m[name], err = io.ReadAll(r)
	return err
}

// trackCounter counts the frames that are tracked.
type trackCounter struct {
	people.Tracker
	frames *int
}

func (c trackCounter) Add(ctx context.Context, frame *image.YCbCr) (*tracking.Seen, error) {
	*c.frames++
	return c.Tracker.Add(ctx, frame)
}

// headFrames is the number of frames of the video of TestFindings: enough for the examples without which warp shows no other mouths.
const headFrames = 50

// findingsFixture renders jobs with one video of a head that speaks, in memory.
type findingsFixture struct {
	set     *engines.Set
	video   string                      // the drawn head
	clip    string                      // the clip of it that jobs render
	voice   func(seconds string) string // makes a speech track
	tracked int                         // frames of the last job
}

func newFindingsFixture(t *testing.T) *findingsFixture {
	t.Helper()
	folder, dir := t.TempDir(), t.TempDir()
	add(t, folder, catalog.Wav2Lip, onnxtest.Grey().File(t))
	f := &findingsFixture{}
	f.set, _ = open(t, folder)
	f.set.Media = rendertest.Media{}
	newTracker := f.set.NewTracker
	f.set.NewTracker = func(fps float64) people.Tracker { return trackCounter{newTracker(fps), &f.tracked} }
	drawn, spoken := ffmpegtest.Head(t, headFrames), filepath.Join(dir, "spoken.wav")
	if err := demo.Speech(t.Context(), spoken); err != nil {
		t.Fatal(err)
	}
	f.video = ffmpegtest.Make(t, "head.mp4", "-i", drawn, "-i", spoken, "-vf", "scale=320:180", "-frames:v", fmt.Sprint(headFrames), "-shortest")
	f.clip = clipOf(t, f.video)
	f.voice = func(seconds string) string {
		return clipOf(t, ffmpegtest.Make(t, "voice.wav", "-ss", "1", "-i", spoken, "-t", seconds))
	}
	return f
}

// clipOf reads a medium, and writes it as a clip of package rendertest.
func clipOf(t *testing.T, path string) string {
	t.Helper()
	tools := ffmpegtest.Tools(t)
	in, err := tools.Probe(t.Context(), path)
	check.Must(t, err)
	var c rendertest.Clip
	if v := in.Video; v != nil {
		c.Width, c.Height, c.Rate = v.Width, v.Height, v.Rate
		for _, frame := range framesOf(t, path) {
			c.Frames = append(c.Frames, medium.Bytes(frame))
		}
	}
	var pcm bytes.Buffer
	_, err = tools.Samples(t.Context(), in, &pcm, io.Discard, time.Minute)
	check.Must(t, err)
	c.Samples = make([]int16, pcm.Len()/2)
	check.Must(t, binary.Read(&pcm, binary.LittleEndian, c.Samples))
	return c.File(t, "clip")
}

// made is what a job made.
type made struct {
	frames string // the sum of the decoded frames
	result string // without Reused and Again
	scored bool
}

// render renders a job, and tells whether it tracked faces.
func (f *findingsFixture) render(t *testing.T, job render.Job, findings render.Findings) (m made, tracked bool) {
	t.Helper()
	f.tracked = 0
	job.Video, job.Scratch, job.Findings = f.clip, t.TempDir(), findings
	job.Output = filepath.Join(job.Scratch, "out.mp4")
	result, err := f.set.Render(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	result.Reused, result.Again = render.Reused{}, false
	m.result = fmt.Sprintf("%+v", result)
	m.scored = result.Sync.Known
	h := sha256.New()
	_, frames := ffmpegtest.FramesBy(t, rendertest.Media{}, job.Output)
	for _, frame := range frames {
		h.Write(frame.Y)
		h.Write(frame.Cb)
		h.Write(frame.Cr)
	}
	m.frames = fmt.Sprintf("%x", h.Sum(nil))
	return m, f.tracked > 0
}

// TestFindings renders a video with several speech tracks, by both engines. Only the first job tracks faces. The frames of all others are
// those of a job without findings, bit by bit, and so are the results. Speech of more than 3 s has a score.
func TestFindings(t *testing.T) {
	f := newFindingsFixture(t)
	type again struct {
		name, seconds string
		options       order.Options
		anew          bool // the findings are of no use
	}
	for engine, cases := range map[string][]again{
		"warp": {
			{name: "shorter speech", seconds: "1.6"},
			{name: "much shorter speech", seconds: "1", anew: true},
			{name: "longer speech", seconds: "2.8"}, // the video plays backward
			{name: "speech with a score", seconds: "3.6"},
			{name: "slower", seconds: "2.8", options: order.Options{SyncMode: order.Remap}},
		},
		"wav2lip": {{name: "pad", seconds: "1.2", options: order.Options{SyncMode: order.Pad}}},
	} {
		kept := memory{}
		job := render.Job{Engine: engine, Audio: f.voice("2")}
		first, tracked := f.render(t, job, kept)
		if plain, _ := f.render(t, job, nil); plain != first || !tracked || len(kept) != 1 {
			t.Fatalf("%s: a job that keeps findings: tracked %t, %d findings, same frames %t", engine, tracked, len(kept), plain == first)
		}
		for _, c := range cases {
			other := render.Job{Engine: engine, Audio: f.voice(c.seconds), Options: c.options}
			got, tracked := f.render(t, other, maps.Clone(kept))
			if want, _ := f.render(t, other, nil); got != want || tracked != c.anew {
				t.Errorf("%s, %s: tracked %t, want %t; got %+v, without findings %+v", engine, c.name, tracked, c.anew, got, want)
			}
			if scored := c.seconds > "3"; got.scored != scored {
				t.Errorf("%s, %s: has a score: %t, want %t", engine, c.name, !scored, scored)
			}
		}
		basis := f.set.Basis()
		f.set.Basis = func() string { return basis + " of another version" }
		if got, tracked := f.render(t, job, maps.Clone(kept)); got != first || !tracked {
			t.Errorf("%s, another basis: tracked %t; same frames: %t", engine, tracked, got == first)
		}
	}
}

// TestBrokenFindings gives a job findings that were damaged, or are those of another video. It renders as if there were none, and keeps new ones.
func TestBrokenFindings(t *testing.T) {
	f := newFindingsFixture(t)
	kept := memory{}
	job := render.Job{Engine: "warp", Audio: f.voice("1")}
	want, _ := f.render(t, job, kept)
	var name string
	for name = range kept {
	}
	good := kept[name]
	clip := f.clip
	f.clip = clipOf(t, ffmpegtest.Make(t, "other.mp4", "-i", f.video, "-vf", "hflip", "-c:a", "copy"))
	others := memory{}
	f.render(t, job, others)
	f.clip = clip
	changed := bytes.Clone(good)
	changed[len(changed)/2] ^= 1
	for what, content := range map[string][]byte{
		"nothing": {}, "a part": good[:len(good)/3], "a changed bit": changed, "more": append(bytes.Clone(good), 0), "another video's": others[name],
	} {
		broken := memory{name: content}
		got, tracked := f.render(t, job, broken)
		if got != want || !tracked || !bytes.Equal(broken[name], good) {
			t.Errorf("%s: the same frames: %t; tracked: %t; kept anew: %t", what, got == want, tracked, bytes.Equal(broken[name], good))
		}
	}
}
