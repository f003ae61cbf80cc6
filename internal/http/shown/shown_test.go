package shown

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// TestSize wants one digit after the point, in the largest unit that fits.
func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1.0 KiB", 1536 << 10: "1.5 MiB", 3 << 29: "1.5 GiB", 1 << 40: "1024.0 GiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestLineStep(t *testing.T) {
	for most, want := range map[int64]int64{0: 1, 1: 1, 5: 1, 6: 2, 11: 5, 25: 5, 26: 10, 99: 20, 100_000: 20_000} {
		if got := lineStep(most); got != want {
			t.Errorf("%d: got %d, want %d", most, got, want)
		}
	}
}

// TestTimeline shows where no mouth is synced, and which sounds the lips miss.
func TestTimeline(t *testing.T) {
	r := lipsync.Request{Length: 10 * time.Second, Frames: order.Frames{Total: 250, Synced: 200}}
	r.Unsynced = order.Unsynced{Gaps: []order.Gap{{Start: 2, End: 3, Reason: order.TurnedAway}, {Start: 9, End: 10, Reason: "new"}}}
	r.Sync.Vowels.Missed, r.Sync.Closures.Missed = []float64{5}, []float64{1}
	l := NewTimeline(r)
	if len(l.Synced) != 2 || l.Synced[0] != (Spot{X: 0, Width: 200}) || l.Synced[1] != (Spot{X: 300, Width: 600}) {
		t.Errorf("synced: got %+v", l.Synced)
	}
	if len(l.Gaps) != 2 || l.Gaps[0] != (Spot{200, 100, "2.0–3.0 s, the face is turned away or covered"}) || l.Gaps[1].Says != "9.0–10.0 s, new" {
		t.Errorf("gaps: got %+v", l.Gaps)
	}
	if len(l.Missed) != 2 || l.Missed[0].X != 100 || l.Missed[1] != (Spot{500, 0, "5.0 s: the lips stay shut in an open vowel"}) {
		t.Errorf("missed: got %+v", l.Missed)
	}
	if l = NewTimeline(lipsync.Request{Length: time.Second}); len(l.Synced) != 1 || l.Says != "The lips follow the speech in the whole output." {
		t.Errorf("without gaps: got %+v", l)
	}
	if l = NewTimeline(lipsync.Request{}); l.Synced != nil {
		t.Errorf("without a length: got %+v", l)
	}
}

// TestCurve draws the score of each moment, and says where it is least.
func TestCurve(t *testing.T) {
	r := lipsync.Request{Length: 4 * time.Second}
	if got := NewTimeline(r).Curve; got != (Curve{}) {
		t.Errorf("no curve: got %+v", got)
	}
	r.Sync.Curve = "-999"
	if got := NewTimeline(r).Curve; got.Says != "The sync score of each moment: as good as it can be throughout." || strings.Count(got.Path, "M") != 3 || !strings.HasPrefix(got.Path, "M250.0 36V0.0h250.0V36z") {
		t.Errorf("all is good: got %+v", got)
	}
	r.Sync.Curve = "9-39"
	if got := NewTimeline(r).Curve; got.Says != "The sync score of each moment: the least is 0.3, at 2.5 s." || !strings.Contains(got.Path, "M500.0 36V23.3h") {
		t.Errorf("a notch: got %+v", got)
	}
	r.Sync.Curve = "x\"><"
	if got := NewTimeline(r).Curve; got != (Curve{}) {
		t.Errorf("no digits: got %+v", got)
	}
}

// TestName names requests by what is known of them, and previews by their length too.
func TestName(t *testing.T) {
	r := lipsync.Request{ID: "0123456789", Video: lipsync.Input{Name: "talk.mp4"}, Audio: lipsync.Input{Name: "de.wav"}}
	preview, own := r, r
	preview.Options.Preview.Length = 5 * time.Second
	own.ReferenceID = "order-7"
	both := preview
	both.ReferenceID = own.ReferenceID
	for want, got := range map[string]string{
		"talk.mp4 with de.wav": Name(r), "talk.mp4 with de.wav, preview of 5.0 s": Name(preview), "order-7": Name(own), "order-7, preview of 5.0 s": Name(both), "Request 01234567": Name(lipsync.Request{ID: r.ID}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestWarnings checks that no warning names an option as the API does.
func TestWarnings(t *testing.T) {
	got := Warnings(order.DroppedSound.With(order.NobodySpeaks))
	if want := []string{"the video's own sound is not heard: “Keep the video’s own sound, such as music” adds it", "nobody speaks in the audio"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAgo writes times before and after now.
func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for by, want := range map[time.Duration]string{
		0: "just now", -59 * time.Second: "just now", -time.Minute: "1 min ago", -90 * time.Minute: "1 h ago", -25 * time.Hour: "1 day ago",
		-6 * 24 * time.Hour: "6 days ago", -7 * 24 * time.Hour: "23 Feb 2026", 2 * time.Minute: "in 2 min", 50 * time.Hour: "in 2 days", 30 * 24 * time.Hour: "1 Apr 2026",
	} {
		if got := Ago(now.Add(by), now); got != want {
			t.Errorf("%s: got %q, want %q", by, got, want)
		}
	}
}

// TestBars draws the states of a batch's lines.
func TestBars(t *testing.T) {
	b := NewBars(lipsync.Counts{Lines: 4, Completed: 1, Failed: 1, Queued: 2})
	if b.Says != "1 completed, 1 failed, 2 queued of 4 lines" || len(b.Bars) != 3 || b.Bars[1] != (Bar{"failed", 250, 250}) {
		t.Errorf("got %+v", b)
	}
}
