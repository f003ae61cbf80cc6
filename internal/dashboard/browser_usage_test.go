package dashboard

import (
	"math"
	"testing"
	"time"

	"lipsync/internal/dashboard/browsertest"
	"lipsync/internal/lipsync"
)

// seen is a day's numbers as the page shows them.
type seen struct {
	Requests, Failed int64
	Minutes          float64
}

// TestUsageInBrowser makes a known number of requests a day. Totals, table and chart
// say the same of them, and what they say is so.
func TestUsageInBrowser(t *testing.T) {
	h := newHome(t)
	c, other := h.caller(t, account), h.caller(t, "other")
	h.complete(t, h.add(t, c, "")) // older than the page goes back
	h.clock.Advance(5 * 24 * time.Hour)
	want := map[string]seen{}
	var total seen
	for day := range 30 {
		h.complete(t, h.add(t, other, ""))
		d := h.make(t, c, day%5, day%3)
		if d.Requests > 0 {
			want[h.clock.Now().UTC().Format("Mon 2 Jan 2006")] = d
		}
		total.Requests, total.Failed, total.Minutes = total.Requests+d.Requests, total.Failed+d.Failed, total.Minutes+d.Minutes
		if day < 29 {
			h.clock.Advance(24 * time.Hour)
		}
	}
	b := h.signedIn(t)
	b.Open(h.URL + "/dashboard/usage")
	shown := browsertest.Eval[[]float64](b, `[...document.querySelectorAll(".totals dd")].map((d) => Number(d.textContent))`)
	if len(shown) != 3 {
		t.Fatalf("got the totals %v", shown)
	}
	wantDay(t, "totals", seen{int64(shown[0]), int64(shown[2]), shown[1]}, total)

	table := browsertest.Eval[map[string]seen](b, `Object.fromEntries([...document.querySelectorAll(".rows tbody tr")].map((row) => {
		const [date, requests, minutes, failed] = [...row.cells].map((cell) => cell.textContent);
		return [date, { Requests: Number(requests), Minutes: Number(minutes), Failed: Number(failed) }];
	}))`)
	chart := browsertest.Eval[map[string]seen](b, `Object.fromEntries([...document.querySelectorAll(".chart g")].map((bar) => {
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
	wantBars(t, b)
}

// make makes a day's requests: so many that complete, and so many that fail.
func (h *home) make(t *testing.T, c lipsync.Caller, completed, failed int) (d seen) {
	t.Helper()
	for range completed {
		id := h.add(t, c, "")
		h.complete(t, id)
		r, _, err := h.service.Request(t.Context(), c, id)
		if err != nil {
			t.Fatal(err)
		}
		d.Minutes += r.Length.Minutes()
	}
	for range failed {
		h.fail(t, h.add(t, c, ""), "no face found in the video")
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

// wantBars checks that the bars are drawn as high as their numbers, by the chart's
// own lines.
func wantBars(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	wrong := browsertest.Eval[[]string](b, `(() => {
		const y = (e) => Number(e.getAttribute("y1"));
		const lines = [...document.querySelectorAll(".chart line")];
		const step = Number(lines[1].nextElementSibling.textContent), unit = (y(lines[0]) - y(lines[1])) / step;
		const height = (bar, kind) => Number(bar.querySelector(kind)?.getAttribute("height") ?? 0) / unit;
		return [...document.querySelectorAll(".chart g")].flatMap((bar) => {
			const [, requests, failed] = bar.textContent.match(/(\d+) requests?, (\d+) failed/).map(Number);
			const lost = height(bar, ".lost"), all = lost + height(bar, ".done");
			return Math.abs(all - requests) > 0.01 || Math.abs(lost - failed) > 0.01 ? [bar.textContent + " is drawn as " + all + ", " + lost] : [];
		});
	})()`)
	for _, bar := range wrong {
		t.Errorf("chart: %s", bar)
	}
}
