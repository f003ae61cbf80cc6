package dashboard

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

const mostTime = 20 // ms that the server may take for a page

// BenchmarkPages measures the server's time for each page, with 100,000 requests in the store.
func BenchmarkPages(b *testing.B) {
	f := newFixture(b)
	f.signIn(b)
	id := f.add(b, f.caller(b, account), "first")
	f.fill(b, 100_000)
	r := httptest.NewRequest(http.MethodGet, f.URL, nil)
	for _, c := range f.browser.Jar.Cookies(f.address(b, "/dashboard")) {
		r.AddCookie(c)
	}
	for _, path := range append(everyPage, "/dashboard/requests/"+id, "/dashboard?offset=99900",
		"/dashboard?reference_id=order-7", "/dashboard?status=failed", "/dashboard?status=processing",
		"/dashboard?status=completed&reference_id=order-7") {
		b.Run(path, func(b *testing.B) {
			r.URL = f.address(b, path)
			for b.Loop() {
				w := httptest.NewRecorder()
				f.Config.Handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatalf("got %d", w.Code)
				}
			}
			took := float64(b.Elapsed().Microseconds()) / 1000 / float64(b.N)
			b.ReportMetric(took, "ms/page")
			if took > mostTime {
				b.Errorf("got %.1f ms, want at most %d", took, mostTime)
			}
		})
	}
}

// fill writes n more requests at once, over the last 50 days. One in 100 failed;
// the others completed.
func (f *fixture) fill(b *testing.B, n int) {
	b.Helper()
	db, err := sql.Open("sqlite", f.database)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	now := f.clock.Now().UnixMicro()
	_, err = db.Exec(fmt.Sprintf(`
		CREATE TEMP TABLE more AS
			WITH RECURSIVE i (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM i WHERE i <= %[1]d)
			SELECT i, one.* FROM i, (SELECT * FROM requests WHERE account = '%[2]s' AND seq = 1) one;
		UPDATE more SET n = 1000000 + i, id = 'id-' || i, reference_id = 'order-' || (i %% 1000), seq = i, reference_seq = i / 1000 + 1,
			status = iif(i %% 100, '%[3]s', '%[4]s'), created_at = %[5]d - i * 43200000, started_at = %[5]d, finished_at = %[5]d,
			output = iif(i %% 100, 'outputs/' || i, ''), failure = iif(i %% 100, '', '%[6]s'), length = 60000000;
		ALTER TABLE more DROP COLUMN i;
		INSERT INTO requests SELECT * FROM more;
		UPDATE counters SET total = %[1]d + 1 WHERE account = '%[2]s' AND reference_id = '';
		INSERT INTO counters SELECT account, kind, reference_id, max(reference_seq) FROM requests
			WHERE account = '%[2]s' AND reference_id LIKE 'order-%%' GROUP BY 1, 2, 3`,
		n, account, lipsync.Completed, lipsync.Failed, now, failure.NoFace))
	if err != nil {
		b.Fatal(err)
	}
}
