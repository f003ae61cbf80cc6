package render

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/intake"
	"lipsync/internal/signal/serial"
	"lipsync/internal/sound/speaker"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
)

// basis returns a Basis that tells a text.
func basis(text string) func() string { return func() string { return text } }

// TestFindingsName changes what findings depend on, one thing after the other. They have another name each time.
func TestFindingsName(t *testing.T) {
	names := map[string]string{}
	for what, change := range map[string]func(*work, *input){
		"nothing": func(*work, *input) {},
		"program": func(w *work, _ *input) { w.Basis = basis("another program") },
		"engine":  func(_ *work, in *input) { in.job.Engine = "another" },
		"size":    func(_ *work, in *input) { in.video.Video.Width = 32 },
		"rate":    func(_ *work, in *input) { in.video.Video.Rate.Num = 24 },
		"begin":   func(_ *work, in *input) { in.video.Begin = time.Second },
		"frames":  func(_ *work, in *input) { in.speech.Samples = 2 * ffmpeg.PCMRate },
		"scores":  func(w *work, in *input) { w.Speaker, in.video.Audio = &speaker.Network{}, &medium.Audio{} },
		"codec":   func(_ *work, in *input) { in.job.Options.Output.Codec = order.HEVC },
	} {
		w := work{Renderer: &Renderer{Basis: basis("this program")}}
		in := input{limits: intake.DefaultLimits(), video: &medium.Info{Video: &medium.Video{Width: 64, Height: 36, Rate: medium.Rate{Num: 25, Den: 1}}}}
		change(&w, &in)
		name := w.findingsName(in)
		if other, same := names[name]; same {
			t.Errorf("findings have the same name after a change of %s and of %s", what, other)
		}
		names[name] = what
	}
}

// stalledFindings is a Findings that answers only when its context ends.
type stalledFindings struct{}

func (stalledFindings) Open(ctx context.Context, _ string) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stalledFindings) Keep(ctx context.Context, _ string, _ io.Reader) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestStalledFindings reads findings from a store that doesn't answer, and keeps some in it. After a time it goes on without them.
func TestStalledFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		video := &medium.Info{Video: &medium.Video{Width: 2, Height: 2, Rate: medium.Rate{Num: 25, Den: 1}}}
		w := work{Renderer: &Renderer{Media: &ffmpeg.Tools{}, Basis: basis("this program")}}
		in := input{job: Job{Findings: stalledFindings{}}, limits: intake.DefaultLimits(), video: video}
		if o, found := w.readFindings(t.Context(), in, coded{}); found || time.Since(began) != findingsTime {
			t.Errorf("found %v after %v, want nothing after %v", o, time.Since(began), findingsTime)
		}
		w.keep(t.Context(), in, observation{hidden: occlusion.New(), analyser: coded{}})
		if took := time.Since(began); took != 2*findingsTime {
			t.Errorf("took %v, want %v", took, 2*findingsTime)
		}
	})
}

// coded is an Analyser whose findings are empty.
type coded struct{ engine.Analyser }

func (coded) Code(*serial.Coder) {}

// shown is an engine whose findings can be kept.
type shown struct{ numberer }

func (e *shown) Analyse(v engine.Video) (engine.Analyser, error) {
	_, err := e.numberer.Analyse(v)
	return e, err
}

func (e *shown) Code(c *serial.Coder) { serial.Slice(c, &e.seen, c.Int) }

// keptCount counts the findings that are kept.
type keptCount int

func (*keptCount) Open(context.Context, string) (io.ReadCloser, error) { return nil, os.ErrNotExist }

func (n *keptCount) Keep(_ context.Context, _ string, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	*n++
	return err
}

// deaf are media whose sound can't be read to its end.
type deaf struct{ rendertest.Media }

func (deaf) OpenSound(context.Context, *medium.Info, time.Duration) (io.ReadCloser, error) {
	return io.NopCloser(iotest.ErrReader(io.ErrClosedPipe)), nil
}

// TestFindingsOfUnheardSound keeps the findings of videos with sound and without, and none if the sound can't be read.
func TestFindingsOfUnheardSound(t *testing.T) {
	silent := numbered(t, "25", 20)
	clip := rendertest.Numbered(medium.Rate{Num: 25, Den: 1}, 20)
	clip.Samples = rendertest.Tone(.8, .1)
	heard := clip.File(t, "heard")
	speech := tone(t, "0.6")
	for name, c := range map[string]struct {
		video string
		media Media
		kept  keptCount
	}{
		"no sound": {silent, rendertest.Media{}, 1}, "sound": {heard, rendertest.Media{}, 1}, "unreadable sound": {heard, deaf{}, 0},
	} {
		var kept keptCount
		j := Job{Video: c.video, Audio: speech, Scratch: t.TempDir(), Findings: &kept}
		j.Output = filepath.Join(j.Scratch, "out.mp4")
		r := inMemory(t, &shown{})
		r.Media = c.media
		if _, err := r.Render(t.Context(), j, nil); err != nil || kept != c.kept {
			t.Errorf("%s: kept %d findings (%v), want %d", name, kept, err, c.kept)
		}
	}
}

// TestFindingsOfCountedBits renders a video twice whose file doesn't tell how many bits its pictures have. The second job uses what the first found.
func TestFindingsOfCountedBits(t *testing.T) {
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-f", "lavfi", "-i", "sine=duration=0.8", "-c:a", "flac")
	j := Job{Video: video, Audio: sound(t, "a.wav", "0.6"), Scratch: t.TempDir(), Findings: &lastFindings{}}
	j.Output = filepath.Join(j.Scratch, "out.mp4")
	for _, again := range []bool{false, true} {
		made, err := newRenderer(t, &shown{}).Render(t.Context(), j, nil)
		if err != nil || made.Reused.Findings != again {
			t.Errorf("findings used %t (%v), want %t", made.Reused.Findings, err, again)
		}
	}
}
