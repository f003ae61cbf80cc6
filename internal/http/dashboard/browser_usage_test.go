package dashboard

import (
	"fmt"
	"math"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/browsertest"
)

// seen has a day's numbers as the page shows them.
type seen struct {
	Requests, Failed int64
	Minutes          float64
}

// TestUsageInBrowser makes a known number of requests each day. Totals, table and chart show these
// numbers.
func TestUsageInBrowser(t *testing.T) {
	f := newFixture(t)
	c, other := f.caller(t, account), f.caller(t, "other")
	f.complete(t, f.add(t, c, "")) // older than the days of the page
	f.clock.Advance(5 * 24 * time.Hour)
	want := map[string]seen{}
	var total seen
	for day := range 30 {
		f.complete(t, f.add(t, other, ""))
		d := f.make(t, c, day%5, day%3)
		if d.Requests > 0 {
			want[f.clock.Now().UTC().Format("Mon 2 Jan 2006")] = d
		}
		total.Requests, total.Failed, total.Minutes = total.Requests+d.Requests, total.Failed+d.Failed, total.Minutes+d.Minutes
		if day < 29 {
			f.clock.Advance(24 * time.Hour)
		}
	}
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/usage")
	shown := browsertest.Eval[[]float64](b, `[...document.querySelectorAll(".totals dd")].map((d) => Number(d.textContent))`)
	if len(shown) != 3 {
		t.Fatalf("got the totals %v", shown)
	}
	wantDay(t, "totals", seen{int64(shown[0]), int64(shown[2]), shown[1]}, total)

	table := browsertest.Eval[map[string]seen](b, `Object.fromEntries([...document.querySelectorAll(".rows tbody tr")].map((row) => {
		const [date, requests, minutes, failed] = [...row.cells].map((cell) => cell.textContent);
		return [date, { Requests: Number(requests), Minutes: Number(minutes), Failed: Number(failed) }];
	}))`)
	chart := browsertest.Eval[map[string]seen](b, `Object.fromEntries([...document.querySelector(".chart").querySelectorAll("g")].map((bar) => {
		const [, date, requests, failed, minutes] = bar.textContent.match(/(.*): (\d+) requests?, (\d+) failed, ([\d.]+) min/);
		return [date, { Requests: Number(requests), Minutes: Number(minutes), Failed: Number(failed) }];
	}).filter(([, day]) => day.Requests))`)
	if len(table) != len(want) || len(chart) != len(want) {
		t.Errorf("got %d days in the table and %d in the chart, want %d", len(table), len(chart), len(want))
	}
	for date, d := range want {
		wantDay(t, date+" in the table", table[date], d)
		wantDay(t, date+" in the chart", chart[date], d)
	}
	wantBars(t, b, 0, `([0-9]+) requests, ([0-9]+) failed`)
	wantBars(t, b, 1, `([0-9.]+) min()`)
}

// TestStoredInBrowser announces uploads. The page says how many bytes the account stores and may
// store, and the bar shows the same, also if there are no requests.
func TestStoredInBrowser(t *testing.T) {
	f := newFixture(t)
	f.service.Limits.Stored = 2 << 30
	b := f.signedIn(t)
	for _, want := range []struct {
		announced int64
		account   string
		text      string
		bar       float64
	}{
		{0, account, "Stored: 0 bytes of 2 GiB", 0},
		{1 << 28, "other", "Stored: 0 bytes of 2 GiB", 0},
		{3 << 28, account, "Stored: 768.0 MiB of 2 GiB", .375},
		{5 << 28, account, "Stored: 2.0 GiB of 2 GiB", 1},
	} {
		if want.announced > 0 {
			_, err := f.service.CreateUpload(t.Context(), f.caller(t, want.account), requests.UploadParams{Kind: failure.Video, Size: want.announced})
			if err != nil {
				t.Fatal(err)
			}
		}
		b.Open(f.URL + "/dashboard/usage")
		b.WaitText(".stored p", want.text)
		if got := browsertest.Eval[float64](b, `document.querySelector(".stored progress").position`); got != want.bar {
			t.Errorf("%s: the bar is at %v, want %v", want.text, got, want.bar)
		}
	}
}

// make makes a day's requests, of which given numbers complete and fail.
func (f *fixture) make(t *testing.T, c lipsync.Caller, completed, failed int) (d seen) {
	t.Helper()
	for range completed {
		id := f.add(t, c, "")
		f.complete(t, id)
		r, _, err := f.service.Request(t.Context(), c, id)
		if err != nil {
			t.Fatal(err)
		}
		d.Minutes += r.Length.Minutes()
	}
	for range failed {
		f.fail(t, f.add(t, c, ""), noFace)
	}
	d.Requests, d.Failed = int64(completed+failed), int64(failed)
	return d
}

// wantDay compares numbers; minutes are shown with one digit after the point.
func wantDay(t *testing.T, name string, got, want seen) {
	t.Helper()
	if got.Requests != want.Requests || got.Failed != want.Failed || math.Abs(got.Minutes-want.Minutes) > 0.0501 {
		t.Errorf("%s: got %+v, want %+v", name, got, want)
	}
}

// wantBars compares the heights of a chart's bars and of their lower parts, in units of the chart's
// lines, with the numbers in their tooltips.
func wantBars(t *testing.T, b *browsertest.Browser, chart int, numbers string) {
	t.Helper()
	wrong := browsertest.Eval[[]string](b, fmt.Sprintf(`(() => {
		const chart = document.querySelectorAll(".chart")[%d];
		const y = (e) => Number(e.getAttribute("y1"));
		const lines = [...chart.querySelectorAll("line")];
		const unit = (y(lines[0]) - y(lines[1])) / Number(lines[1].nextElementSibling.textContent);
		const height = (bar, kind) => Number(bar.querySelector(kind)?.getAttribute("height") ?? 0) / unit;
		return [...chart.querySelectorAll("g")].flatMap((bar) => {
			const [, all, part] = bar.textContent.match(/%s/).map(Number);
			const lower = height(bar, ".lost"), both = lower + height(bar, ".done");
			return Math.abs(both - all) > 0.0501 || Math.abs(lower - part) > 0.0501 ? [bar.textContent + " is drawn as " + both + ", " + lower] : [];
		});
	})()`, chart, numbers))
	for _, bar := range wrong {
		t.Errorf("chart %d: %s", chart, bar)
	}
}
