// Package hostile_test renders hostile media and loads hostile networks. Each must end with a
// sentence for the user or with a correct output, in bounded time and memory.
package hostile_test

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/sandbox"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/intake"
)

// These are the numbers of samples: few by default, and many with make hostile.
var (
	seed   = flag.Uint64("seed", 1, "seed of the generators")
	media  = flag.Int("media", 30, "how many hostile media TestMedia_long makes")
	models = flag.Int("models", 19, "how many hostile networks TestModels_long makes")
)

// These bound one job, in this process and its children together.
const (
	maxTime   = 20 * time.Second // processor time, or time by the clock if several processors work and that is less
	maxMemory = 600 << 20        // bytes
	// maxWait × the limit of processor time is the limit of time by the clock, since tests run in parallel.
	maxWait = 3
	// maxJobs valid jobs of 4 s take maxTime on a usual machine. On a slower machine a medium may take
	// as long as they do.
	maxJobs = 15
)

// TestMedia_long renders media of all classes in turn, each with a valid file of the other kind.
func TestMedia_long(t *testing.T) {
	m := newMaker(t)
	r := newRenderer(t)
	w := newWatch(t, m.secret)
	m.address = w.address
	var sum table
	for i := range *media {
		class := classes[i%len(classes)]
		n := i / len(classes)
		t.Run(fmt.Sprintf("%s/%d", class.name, n), func(t *testing.T) {
			sum.add(class.name, r.job(t, w, class, m.make(t, class, n)))
		})
	}
	t.Log(sum.String())
}

// medium is a hostile file.
type medium struct {
	kind failure.MediaKind // which input of a job it is
	path string
	how  string // how it was made, for messages
	mix  bool   // the job mixes the video's own sound, in a preview
	end  string // see maker
}

// renderer renders as the service does.
type renderer struct {
	sandboxed, bare *render.Renderer
	tools           *ffmpeg.Tools // of sandboxed
	video, speech   string        // valid files
	long            string        // speech of 4 s
	maxTime         time.Duration
}

func newRenderer(t *testing.T) *renderer {
	t.Helper()
	s, err := engines.Open(t.Context(), engines.Options{Limits: intake.DefaultLimits(), Cores: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	bare, tools := *s.Renderer, *s.Tools
	tools.Sandbox = sandbox.Sandbox{}
	bare.Media = &tools
	r := &renderer{sandboxed: s.Renderer, bare: &bare, tools: s.Tools, video: talker(t), speech: voice(t, "0.4"), long: voice(t, "4")}
	dir := t.TempDir()
	valid := startSampling()
	_, err = s.Renderer.Render(t.Context(), render.Job{Video: r.video, Audio: r.long, Output: filepath.Join(dir, "output.mp4"), Scratch: dir, Engine: "warp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.maxTime = max(maxTime, maxJobs*valid.stop("a valid job").processor)
	t.Logf("a job may take %v of processor time", r.maxTime.Round(time.Second))
	return r
}

// job renders one medium, and checks how that ends.
func (r *renderer) job(t *testing.T, w *watch, class class, m medium) result {
	t.Helper()
	dir := t.TempDir()
	j := render.Job{Video: r.video, Audio: r.speech, Output: filepath.Join(dir, "output.mp4"), Scratch: dir, Engine: "warp"}
	if class.long {
		j.Audio = r.long
	}
	if m.kind == failure.Video {
		j.Video = m.path
	} else {
		j.Audio = m.path
	}
	if m.mix {
		j.Options = order.Options{OriginalGain: 1, Duck: true, Preview: order.Preview{Start: 40 * time.Millisecond, Length: time.Minute}}
	}
	renderer := r.sandboxed
	if class.refers { // references must be refused without the sandbox too
		renderer = r.bare
	}
	s := startSampling()
	made, err := renderer.Render(t.Context(), j, nil)
	got := s.stop(t.Name() + " " + m.how)
	switch code := failure.CodeOf(err); {
	case err == nil && class.refused:
		t.Errorf("%s: the video was rendered, want an error", m.how)
	case err == nil:
		got.sentence = "rendered"
		checkOutput(t, r.tools, j.Output, made.Length)
		if err := os.Remove(j.Output); err != nil {
			t.Error(err)
		}
	case code != failure.Invalid:
		t.Errorf("%s: got the error %v, want one of code %s", m.how, err, failure.Invalid)
		got.sentence = "an error of another code"
	default:
		got.sentence = failure.MessageOf(err)
	}
	if !strings.HasPrefix(got.sentence, m.end) {
		t.Errorf("%s: got %q, want %q", m.how, got.sentence, m.end)
	}
	got.check(t, r.maxTime)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%s: it left %v (%v)", m.how, left, err)
	}
	w.check(t, m.how)
	return got
}

// result is the end of a job or of a network's try, and the time and memory that it took.
type result struct {
	name, sentence  string
	took, processor time.Duration // wall-clock time, processor time
	memory          int64         // bytes
}

// check compares the result with the bounds. most bounds the processor time; see maxTime.
func (r result) check(t *testing.T, most time.Duration) {
	t.Helper()
	if min(r.processor, r.took) > most || r.took > maxWait*most || r.memory > maxMemory {
		t.Errorf("%s: took %v, %v of processor time and %d MiB (%s), want at most %v, %v and %d MiB",
			r.name, r.took, r.processor, r.memory>>20, r.sentence, maxWait*most, most, maxMemory>>20)
	}
}

// table counts results by class and by sentence.
type table struct {
	classes, sentences counts
	slowest, largest   result
}

func (s *table) add(class string, r result) {
	how := "refused"
	if r.sentence == "rendered" || r.sentence == "used" {
		how = r.sentence
	}
	s.classes.add(class + ": " + how)
	s.sentences.add(digits.ReplaceAllString(r.sentence, "N"))
	if r.took > s.slowest.took {
		s.slowest = r
	}
	if r.memory > s.largest.memory {
		s.largest = r
	}
}

func (s *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d made\n\n%s\n%s\n", s.sentences.total(), &s.classes, &s.sentences)
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
	fmt.Fprintf(&b, "slowest: %v, %v of processors (%s)\n", round(s.slowest.took), round(s.slowest.processor), s.slowest.name)
	fmt.Fprintf(&b, "largest: %d MiB (%s)\n", s.largest.memory>>20, s.largest.name)
	return b.String()
}
