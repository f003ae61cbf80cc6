package worker_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
	"lipsync/internal/work/worker"
)

// delayed is a web whose files come after the time that their path begins with, if it does, or never if it begins with "endless".
func delayed(ctx context.Context, url string, w io.Writer, limit int64) error {
	folder, file := path.Split(url)
	takes, _ := time.ParseDuration(path.Base(folder))
	after := time.After(takes)
	if path.Base(folder) == "endless" {
		after = nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-after:
		return web{}.Fetch(ctx, "http://web/"+file, w, limit)
	}
}

// tracks returns a request with a video and n speech tracks at these paths of the web. The first has no name if it is the only one.
func tracks(t *testing.T, video, audio string, n int) requests.Params {
	t.Helper()
	p := requests.Params{Video: requests.Source{URL: "http://web/" + video}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/" + audio}}}}
	if n == 1 {
		return p
	}
	p.Audios[0].Ref, p.Segments = "0", segments(t, n)
	for i := 1; i < n; i++ {
		p.Audios = append(p.Audios, requests.Track{Ref: fmt.Sprint(i), Source: requests.Source{URL: fmt.Sprint("http://web/", audio, i)}})
	}
	return p
}

// makeNothing is a renderer whose output is empty.
func makeNothing(_ context.Context, j render.Job) error { return os.WriteFile(j.Output, nil, 0o600) }

// TestFetchAtOnce has files that take 10 s each. Four come at a time, whole.
func TestFetchAtOnce(t *testing.T) {
	boxes := tracks(t, "10s/video", "10s/audio", 1)
	boxes.Options.Face = order.Face{By: order.FaceInBoxes, Boxes: "http://web/10s/boxes"}
	for _, c := range []struct {
		p    requests.Params
		took time.Duration
	}{
		{boxes, 10 * time.Second},
		{tracks(t, "10s/video", "10s/audio", 3), 10 * time.Second},
		{tracks(t, "10s/video", "10s/audio", 4), 20 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, came := time.Now(), time.Duration(0)
			f := setup(t, func(ctx context.Context, j render.Job) error {
				came = time.Since(began)
				files := map[string]string{"video": j.Video, "audio": j.Audios[c.p.Audios[0].Ref]}
				for i := 1; i < len(c.p.Audios); i++ {
					files[fmt.Sprint("audio", i)] = j.Audios[fmt.Sprint(i)]
				}
				if j.Options.Face.By == order.FaceInBoxes {
					files["boxes"] = j.Boxes
				}
				for want, path := range files {
					if got := readAll(t, path); got != want {
						t.Errorf("got %q, want %q", got, want)
					}
				}
				var want [][sha256.Size]byte
				for _, name := range []string{"video", "audio", "audio1", "audio2", "audio3", "boxes"} {
					if path, ok := files[name]; ok {
						want = append(want, sha256.Sum256([]byte(readAll(t, path))))
					}
				}
				if !slices.Equal(j.Sums, want) {
					t.Errorf("the media have the digests %x, want %x", j.Sums, want)
				}
				return makeNothing(ctx, j)
			})
			f.Config().Fetcher = fetchFunc(delayed)
			id, err := f.Service.Generate(t.Context(), f.caller, c.p)
			if err != nil {
				t.Fatal(err)
			}
			f.Do(t.Context(), id)
			f.want(t, id, lipsync.Completed, "", 1)
			if came != c.took {
				t.Errorf("%d speech tracks: the media came after %v, want %v", len(c.p.Audios), came, c.took)
			}
		})
	}
}

// TestFetchFails has media that can't be fetched. The failure is the one that fetching one after the other finds, whatever comes sooner, and ends the
// fetches of later media.
func TestFetchFails(t *testing.T) {
	const ok, canceled, missing = "ok", "canceled", string(failure.NotFound)
	for _, c := range []struct {
		video, audio, failure string
		took                  time.Duration
		fetched               []string // in the order of their ends
	}{
		{"2s/missing", "1s/missing", "video URL is not accessible", 2 * time.Second, []string{missing, missing}},
		{"1s/missing", "2s/missing", "video URL is not accessible", time.Second, []string{missing, canceled}},
		{"2s/video", "1s/missing", "audio URL is not accessible", 2 * time.Second, []string{missing, ok}},
		{"1s/missing", "endless/audio", "video URL is not accessible", time.Second, []string{missing, canceled}},
		{"1s/missing", "endless/five tracks", "video URL is not accessible", time.Second, []string{missing, canceled, canceled, canceled}}, // two never begin
	} {
		synctest.Test(t, func(t *testing.T) {
			f := setup(t, concatenate)
			f.Config().Fetcher = fetchFunc(delayed)
			var mu sync.Mutex
			var fetched []string
			f.Config().Fetched = func(ctx context.Context, _ time.Duration, err error) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					fetched = append(fetched, ok)
				case ctx.Err() != nil:
					fetched = append(fetched, canceled)
				default:
					fetched = append(fetched, string(failure.CodeOf(err)))
				}
			}
			p := tracks(t, c.video, c.audio, 1)
			if strings.HasSuffix(c.audio, "five tracks") {
				p = tracks(t, c.video, c.audio, 5)
			}
			id, err := f.Service.Generate(t.Context(), f.caller, p)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			f.Do(t.Context(), id)
			f.want(t, id, lipsync.Failed, c.failure, 1)
			if took := time.Since(began); took != c.took || !slices.Equal(fetched, c.fetched) {
				t.Errorf("%s and %s: after %v %q were fetched, want %q after %v", c.video, c.audio, took, fetched, c.fetched, c.took)
			}
		})
	}
}

// TestFetchPanics has a panic of a fetch, which must not end the process.
func TestFetchPanics(t *testing.T) {
	f := setup(t, concatenate)
	f.Config().Fetcher = fetchFunc(func(context.Context, string, io.Writer, int64) error { panic("index out of range") })
	id := f.request(t, "video", "audio")
	if _, err := f.Worker.Do(t.Context(), id); err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("got %v, want the panic", err)
	}
	f.want(t, id, lipsync.Processing, "", 1)
}

// TestSmallBytesAtOnce has media come at the same time that together are too large for a worker of small requests, though each isn't.
func TestSmallBytesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		f.Service.Duty = lipsync.DoesSmall
		f.Config().Fetcher = fetchFunc(func(_ context.Context, _ string, w io.Writer, limit int64) error {
			time.Sleep(time.Second) // until both have begun
			if limit != lipsync.MostSmallBytes {
				t.Errorf("the limit is %d", limit)
			}
			_, err := io.CopyN(w, zeros{}, limit/2+1)
			return err
		})
		id := f.request(t, "video", "audio")
		if _, err := f.Worker.Do(t.Context(), id); !errors.Is(err, worker.ErrEnlarged) {
			t.Errorf("got %v, want that it is given back", err)
		}
		f.want(t, id, lipsync.Processing, "", 0)
	})
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
