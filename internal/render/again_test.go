package render

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/test/ffmpegtest"
)

// faulty is an engine that can't paint.
type faulty struct {
	numberer
	err error
}

func (e *faulty) Analyse(v engine.Video) (engine.Analyser, error) {
	_, err := e.numberer.Analyse(v)
	return e, err
}

func (e *faulty) Plan(context.Context, engine.Output) (engine.Painter, error) { return e, nil }

func (e *faulty) Paint(context.Context, int, *image.YCbCr) ([]engine.Mouth, error) { return nil, e.err }

// TestStartAgain goes on after a piece, and then fails. It starts again only if that could help.
func TestStartAgain(t *testing.T) {
	j := Job{Video: numbered(t, "25", 20), Audio: tone(t, seconds)}
	j.Sums = sumsOf(t, j.Video, j.Audio)
	_, pieces := kept(t, j, 8, 1)
	for name, c := range map[string]struct {
		err    error
		starts int
	}{
		"any other error":    {errors.New("broken"), 2},
		"a full disk":        {syscall.ENOSPC, 1},
		"a killed program":   {ffmpeg.ErrKilled, 1},
		"a failure of input": {failure.Failure{Code: failure.NoFace}.Because(nil), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, o := j, &notes{}
			j.Scratch = t.TempDir()
			j.Output = filepath.Join(j.Scratch, "out.mp4")
			s := &shelf{pieces: pieces}
			j.Pieces = s
			_, err := inMemory(t, &faulty{err: c.err}).Render(t.Context(), j, o)
			if !errors.Is(err, c.err) || len(o.measured) != c.starts || s.used != 1 {
				t.Errorf("started %d times, went on after %d pieces (%v), want %d and 1", len(o.measured), s.used, err, c.starts)
			}
		})
	}
}

// gpuless are media with a GPU whose encoder doesn't start, so that the CPU makes later files.
type gpuless struct {
	Media
	failed bool
}

func (m *gpuless) Encode(ctx context.Context, v *medium.Video, o order.Output, sound, output string) (ffmpeg.Encoder, error) {
	if !m.failed {
		m.failed = true
		return nil, ffmpeg.ErrGPU
	}
	return m.Media.Encode(ctx, v, o, sound, output)
}

// lastFindings keeps the last findings.
type lastFindings struct {
	name    string
	content []byte
}

func (f *lastFindings) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if f.name != name {
		return nil, os.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(f.content)), nil
}

func (f *lastFindings) Keep(_ context.Context, name string, r io.Reader) (err error) {
	f.name = name
	f.content, err = io.ReadAll(r)
	return err
}

// TestWithoutGPU starts again when the GPU's encoder doesn't start, so that the job doesn't fail. What the first pass found is used again.
func TestWithoutGPU(t *testing.T) {
	j, o, r := Job{Video: numbered(t, "25", 20), Audio: tone(t, seconds), Scratch: t.TempDir(), Findings: &lastFindings{}}, &notes{}, inMemory(t, &shown{})
	j.Output = filepath.Join(j.Scratch, "out.mp4")
	r.Media = &gpuless{Media: r.Media}
	made, err := r.Render(t.Context(), j, o)
	if err != nil || !made.Again || len(o.measured) != 2 || !made.Reused.Findings {
		t.Errorf("started %d times (%v), findings used %t, want twice and true", len(o.measured), err, made.Reused.Findings)
	}
}

// forgetting are media whose first encoders lose a frame.
type forgetting struct {
	Media
	losses int // number of files with a loss
}

func (m *forgetting) Encode(ctx context.Context, v *medium.Video, o order.Output, sound, output string) (ffmpeg.Encoder, error) {
	e, err := m.Media.Encode(ctx, v, o, sound, output)
	if m.losses--; m.losses >= 0 {
		e = &losing{Encoder: e}
	}
	return e, err
}

// losing loses its third frame.
type losing struct {
	ffmpeg.Encoder
	written int
}

func (l *losing) WritePixels(frame []byte) error {
	if l.written++; l.written == 3 {
		return nil
	}
	return l.Encoder.WritePixels(frame)
}

// TestUnproved loses a frame of an output. The output is made again; if that has a loss too, the service is at fault, and there is no output.
func TestUnproved(t *testing.T) {
	for losses, want := range []string{"", "", "the output is not what was to be made: 27 frames"} {
		j, r := Job{Video: numbered(t, "25", 20), Audio: tone(t, seconds), Scratch: t.TempDir()}, inMemory(t, &numberer{})
		j.Output = filepath.Join(j.Scratch, "out.mp4")
		r.Media = &forgetting{r.Media, losses}
		made, err := r.Render(t.Context(), j, nil)
		_, missing := os.Stat(j.Output)
		if (err == nil) != (want == "") || (missing == nil) != (want == "") || made.Again != (losses > 0) {
			t.Errorf("%d losses: again %t, got %v and %v, want %q", losses, made.Again, err, missing, want)
		}
		if err != nil && (failure.Of(err).Code != failure.InternalFault || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%d losses: got %v, want %q", losses, err, want)
		}
	}
}

// TestSpoiltPieces spoils the files of pieces while an output is made, at a look of the recorder at its clock. It looks when a piece begins and ends.
// If the pieces can't be joined, the output is made without pieces. If the file of the next piece, or that of the pictures of the first one, can't be
// made, the machine is at fault.
func TestSpoiltPieces(t *testing.T) {
	video, tone := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20)), sound(t, "a.wav", seconds)
	for name, c := range map[string]struct {
		look   int
		spoil  func(dir string) error
		starts int
		looks  int // of all starts
		code   failure.Reason
	}{
		"not taken": {2, func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "piece-0.mp4", "in the way"), 0o700)
		}, 1, 2, failure.HostFailing},
		"not joined": {3, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "piece-0.mp4"), []byte("no video"), 0o600)
		}, 2, 6, ""},
		"not begun": {3, func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "piece-1.mp4.part", "in the way"), 0o700)
		}, 1, 3, failure.HostFailing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := Job{Video: video, Audio: tone, Scratch: t.TempDir(), Pieces: &shelf{pieces: map[int][]byte{}}, PieceTime: time.Second}
			j.Output = filepath.Join(j.Scratch, "out.mp4")
			o := &notes{}
			r, looks := newRenderer(t, &numberer{}), 0
			r.Now = func() time.Time {
				if looks++; looks == c.look {
					dirs, err := filepath.Glob(filepath.Join(j.Scratch, "render-*"))
					if err == nil {
						err = c.spoil(dirs[0])
					}
					if err != nil {
						t.Error(err)
					}
				}
				return time.Unix(int64(looks), 0)
			}
			made, err := r.Render(t.Context(), j, o)
			var code failure.Reason
			if err != nil {
				code = failure.Of(err).Code
			}
			if len(o.measured) != c.starts || made.Again != (c.starts > 1) || looks != c.looks || code != c.code {
				t.Fatalf("started %d times with %d looks, got %q (%v), want %d, %d and %q", len(o.measured), looks, code, err, c.starts, c.looks, c.code)
			}
			if err != nil {
				return
			}
			if source, _, _ := numbers(t, j.Output); len(source) != frames {
				t.Errorf("got %d frames, want %d", len(source), frames)
			}
		})
	}
}

// forgetful is a shelf that can't keep the first piece that it gets.
type forgetful struct {
	shelf
	asked  []int // the numbers of the pieces that it got
	failed chan struct{}
}

var errForgotten = errors.New("forgotten")

func (s *forgetful) Keep(ctx context.Context, n int, r io.Reader, size int64) error {
	if s.asked = append(s.asked, n); len(s.asked) == 1 {
		close(s.failed)
		return errForgotten
	}
	return s.shelf.Keep(ctx, n, r, size)
}

// TestKeepAgain can't keep the first piece at once. It is kept together with the second one.
func TestKeepAgain(t *testing.T) {
	s := &forgetful{shelf: shelf{pieces: map[int][]byte{}}, failed: make(chan struct{})}
	j := Job{Scratch: t.TempDir(), Pieces: s, PieceTime: time.Second, Audio: tone(t, seconds)}
	j.Video = numbered(t, "25", 20)
	j.Output = filepath.Join(j.Scratch, "out.mp4")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, looks := inMemory(t, &numberer{}), 0
	r.Now = func() time.Time { // the recorder looks when a piece begins, and before it ends
		switch looks++; looks {
		case 3: // the first piece has ended
			select {
			case <-s.failed:
			case <-ctx.Done():
			}
		case 5:
			s.await(ctx, 2)
		}
		return time.Unix(int64(looks), 0)
	}
	var told notes
	if _, err := r.Render(ctx, j, &told); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told.unkept, []int{0}) {
		t.Errorf("told that the pieces %v were not kept, want the first one", told.unkept)
	}
	if want := []int{0, 0, 1}; !slices.Equal(s.asked, want) || s.pieces[0] == nil || s.pieces[1] == nil {
		t.Errorf("asked to keep the pieces %v, kept %d, want %v and both", s.asked, len(s.pieces), want)
	}
}

// listing are media that list the sounds of the files that they encode.
type listing struct {
	Media
	sounds []string
}

func (m *listing) Encode(ctx context.Context, v *medium.Video, o order.Output, sound, output string) (ffmpeg.Encoder, error) {
	m.sounds = append(m.sounds, filepath.Base(sound))
	return m.Media.Encode(ctx, v, o, sound, output)
}

// TestLongSound encodes long sounds beside pieces, since the end of a first piece would wait for the whole sound, and others with the pictures.
func TestLongSound(t *testing.T) {
	t.Parallel()
	for length, want := range map[string]string{seconds: "speech.wav", "121": "."} {
		j, r := Job{Video: numbered(t, "25", frames), Audio: tone(t, length), Scratch: t.TempDir(), Pieces: &shelf{pieces: map[int][]byte{}}}, inMemory(t, &numberer{})
		j.Output = filepath.Join(j.Scratch, "out.mp4")
		m := &listing{Media: r.Media}
		r.Media = m
		if _, err := r.Render(t.Context(), j, nil); err != nil || len(m.sounds) != 1 || m.sounds[0] != want {
			t.Errorf("%s s: encoded with %q (%v), want %q", length, m.sounds, err, want)
		}
	}
}
