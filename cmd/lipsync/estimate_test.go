package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"lipsync/internal/render/measure"
	"lipsync/internal/work/local"
)

var estimates = flag.Int("estimates", 0, "number of jobs of TestEstimates, 0 to skip it")

// estimated is an estimate as the API answers it.
type estimated struct {
	ID         string `json:"id"`
	FinishedAt string `json:"finished_at"`
	Problems   []any  `json:"problems"`
	Frames     int    `json:"frames"`
	Seconds    int    `json:"estimated_seconds"`
	ETA        int    `json:"eta_seconds"`
}

// TestEstimates compares the estimates of jobs of different sizes with what happens then, and prints a table. Only the first three jobs may
// be wrong by more than a factor of 2.
func TestEstimates(t *testing.T) {
	if *estimates == 0 {
		t.Skip("takes minutes: see make estimates")
	}
	const known = 3
	dice := rand.New(rand.NewPCG(1, 1))
	files := httptest.NewServer(http.FileServer(http.Dir("/")))
	defer files.Close()
	data := t.TempDir()
	s := startServer(t, data, "--allow-private-networks", "--workers", "1")
	c := testClient{s.url, newKey(t, data)}
	fmt.Println("| Job | Height, pixels | Frames | Estimated, s | Took, s | Ratio |\n|---|---|---|---|---|---|")
	wrong := 0
	for n := range *estimates {
		height, seconds := []int{240, 360, 480, 720, 1080}[dice.IntN(5)], 2+dice.IntN(15)
		video, audio, err := measure.Sample(t.Context(), t.TempDir(), height, seconds)
		if err != nil {
			t.Fatal(err)
		}
		body := inputsAt(files.URL+video, files.URL+audio)
		e, r := c.estimate(t, body), c.rendered(t, body)
		took := r.FinishedAt.Sub(r.StartedAt).Seconds()
		if e.Seconds == 0 {
			fmt.Printf("| %d | %d | %d | – | %.1f | – |\n", n+1, height, e.Frames, took)
			continue
		}
		ratio := float64(e.Seconds) / took
		fmt.Printf("| %d | %d | %d | %d | %.1f | %.2f |\n", n+1, height, e.Frames, e.Seconds, took, ratio)
		if math.Abs(math.Log2(ratio)) > 1 && n >= known {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d estimates are wrong by more than a factor of 2", wrong, *estimates)
	}
}

// inputsAt returns the body of a call with the inputs at two URLs.
func inputsAt(video, audio string) map[string]any {
	return map[string]any{"inputs": []map[string]string{{"type": "video", "url": video}, {"type": "audio", "url": audio}}}
}

// estimate makes an estimate and waits for it.
func (c testClient) estimate(t *testing.T, body map[string]any) (e estimated) {
	t.Helper()
	c.post(t, "/api/v1/lipsync/estimate", body, &e)
	for e.FinishedAt == "" {
		time.Sleep(200 * time.Millisecond)
		if err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/estimates/"+e.ID, "", nil, &e); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.Problems) > 0 {
		t.Fatalf("got problems %v", e.Problems)
	}
	return e
}

// times are those of a request.
type times struct {
	Status     string    `json:"status"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
}

// rendered makes a request and waits for its end.
func (c testClient) rendered(t *testing.T, body map[string]any) (r times) {
	t.Helper()
	var made struct {
		ID string `json:"request_id"`
	}
	c.post(t, "/api/v1/lipsync/generate", body, &made)
	for r.FinishedAt.IsZero() {
		time.Sleep(200 * time.Millisecond)
		if err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/requests/"+made.ID, "", nil, &r); err != nil {
			t.Fatal(err)
		}
	}
	if r.Status != "completed" {
		t.Fatalf("got %+v", r)
	}
	return r
}

// TestEstimateAtOnce makes an estimate while the only worker renders a long job, and while the estimates of another account wait for a server that doesn't answer.
func TestEstimateAtOnce(t *testing.T) {
	speech := t.TempDir() + "/long.wav"
	if err := runFFmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=150", speech); err != nil {
		t.Fatal(err)
	}
	asked, answer := make(chan struct{}, local.EstimatesAtOnce), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-answer
	}))
	defer silent.Close()
	defer close(answer)
	files := httptest.NewServer(http.FileServer(http.Dir("/")))
	defer files.Close()
	data := t.TempDir()
	s := startServer(t, data, "--allow-private-networks", "--workers", "1", "--max-video", "100MiB", "--max-audio", "100MiB")
	c := testClient{s.url, newKey(t, data)}
	id, err := c.generate(t.Context(), fixtures.video, speech)
	if err != nil {
		t.Fatal(err)
	}
	c.waitProgress(t, id, "it rendered", func(p howFar) bool { return p.Stage == "rendering" })
	other := testClient{s.url, newKey(t, data, "--account", "other")}
	var slow []estimated
	for range local.EstimatesAtOnce {
		var e estimated
		other.post(t, "/api/v1/lipsync/estimate", inputsAt(silent.URL, files.URL+fixtures.speech), &e)
		slow = append(slow, e)
	}
	for range local.EstimatesOfOne {
		<-asked
	}
	e := c.estimate(t, inputsAt(files.URL+fixtures.video, files.URL+fixtures.speech))
	for _, e := range slow {
		if err := other.call(t.Context(), http.MethodGet, "/api/v1/lipsync/estimates/"+e.ID, "", nil, &e); err != nil || e.FinishedAt != "" {
			t.Errorf("got %+v (%v), want an estimate that isn't finished", e, err)
		}
	}
	if e.Frames == 0 {
		t.Errorf("got %+v, want frames", e)
	}
	if got := c.cancel(t, id); got.ErrorMessage != "canceled by the client" {
		t.Errorf("got %+v, want it canceled: the estimate came before the end", got)
	}
}
