package worker_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
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

// sized is a Renderer whose jobs take a time each and one for each thousand pixels, which differ by up to 30 %.
type sized struct {
	renderFunc
	size int64
	took time.Duration // of the last job
	dice *rand.Rand
}

// Estimate implements worker.Renderer.
func (s *sized) Estimate(context.Context, render.Job) (order.Estimate, error) {
	return order.Estimate{Frames: 1, Size: s.size}, nil
}

func (s *sized) Render(ctx context.Context, j render.Job, _ render.Observer) (render.Result, error) {
	const each, perThousand = 1500 * time.Millisecond, 20 * time.Microsecond
	s.took = time.Duration(float64(each+time.Duration(s.size)*perThousand) * (.7 + .6*s.dice.Float64()))
	time.Sleep(s.took)
	return render.Result{Size: s.size}, concatenate(ctx, j)
}

// TestEstimatedTimes makes an estimate of each of 30 jobs of the sizes of make estimates, and compares it with the time that the job then
// takes. From the fourth job on, each must be right within a factor of 2.
func TestEstimatedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		r := &sized{dice: rand.New(rand.NewPCG(1, 1))}
		f.Config().Renderer = r
		const known, n = 3, 30
		worst := 1.0
		for i := range n {
			height := []int64{240, 360, 480, 720, 1080}[r.dice.IntN(5)]
			frames := 2 * 25 * (2 + r.dice.Int64N(15)) // analysed and painted
			r.size = height * height * 16 / 9 * frames / 1000
			id, err := f.Service.Estimate(t.Context(), f.caller, requests.Params{
				Video: requests.Source{URL: "http://web/" + strconv.Itoa(i)}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			f.Estimate(t.Context(), lipsync.Request{ID: id})
			e, err := f.Service.Estimated(t.Context(), f.caller, id)
			if err != nil {
				t.Fatal(err)
			}
			f.request(t, strconv.Itoa(i), "audio")
			f.Do(t.Context(), "")
			if ratio := e.Took.Seconds() / r.took.Seconds(); i >= known {
				worst = max(worst, ratio, 1/ratio)
			}
		}
		if worst > 2 {
			t.Errorf("an estimate is wrong by a factor of %.2f", worst)
		}
		t.Logf("wrong by a factor of %.2f at most", worst)
	})
}

// TestEstimateNeedsRoom does an estimate at once only if the disk has space for its media and those of another one that is being done.
func TestEstimateNeedsRoom(t *testing.T) {
	f := setup(t, concatenate)
	f.Service.MaxVideo, f.Service.MaxAudio = 1000, 100
	var asked []int64
	room := int64(1 << 20)
	f.Service.Room = func(size int64) error {
		asked = append(asked, size)
		if size > room {
			return failure.ErrNoSpace(nil)
		}
		return nil
	}
	estimate := func() lipsync.Request {
		id, err := f.Service.Estimate(t.Context(), f.caller, requests.Params{
			Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return lipsync.Request{ID: id, Audio: lipsync.Input{URL: "http://web/audio"}}
	}
	first, second := estimate(), estimate()
	f.Config().Renderer = during{f.Config().Renderer, func() { f.Estimate(t.Context(), second) }}
	asked, room = nil, 2199
	f.Estimate(t.Context(), first)
	if want := []int64{1100, 2200}; !slices.Equal(asked, want) {
		t.Errorf("asked for room for %d bytes, want %d", asked, want)
	}
	want := func(r lipsync.Request, want lipsync.Status) {
		t.Helper()
		if got, err := f.Service.Store.Requests.ByID(t.Context(), r.ID); err != nil || got.Status != want {
			t.Errorf("got %s (%v), want %s", got.Status, err, want)
		}
	}
	want(first, lipsync.Completed)
	want(second, lipsync.Queued)
	f.Config().Renderer = during{f.Config().Renderer, func() {}}
	f.Estimate(t.Context(), second)
	want(second, lipsync.Completed)
}

// during is a Renderer that calls a function in each estimate.
type during struct {
	worker.Renderer
	call func()
}

// Estimate implements worker.Renderer.
func (d during) Estimate(context.Context, render.Job) (order.Estimate, error) {
	d.call()
	return order.Estimate{Frames: 1}, nil
}
