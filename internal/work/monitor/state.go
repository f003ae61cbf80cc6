package monitor

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"lipsync/internal/domain/lipsync"
)

// stateTime bounds the reading of the backlog.
const stateTime = 5 * time.Second

var (
	openRequests = prometheus.NewDesc("lipsync_requests_open", "Requests that are neither completed nor failed.", []string{"status"}, nil)
	queueAge     = prometheus.NewDesc("lipsync_queue_age_seconds", "Time that the request has waited for a worker that has waited longest; 0 if none waits.", nil, nil)
	diskFree     = prometheus.NewDesc("lipsync_disk_free_bytes", "Bytes that the service can still write to the disk of its data folder.", nil, nil)
	diskSize     = prometheus.NewDesc("lipsync_disk_size_bytes", "Bytes of the disk of the data folder.", nil, nil)
)

// state reads its metrics at each call of GET /metrics.
type state struct{ m *Monitor }

var _ prometheus.Collector = (*state)(nil)

func (s state) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{openRequests, queueAge, diskFree, diskSize} {
		descriptions <- d
	}
}

func (s state) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), stateTime)
	defer cancel()
	tell := func(err error, d *prometheus.Desc, value float64, labels ...string) {
		if err != nil {
			metrics <- prometheus.NewInvalidMetric(d, err)
			return
		}
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	now := s.m.options.Now()
	b, err := s.m.options.Backlog(ctx, now)
	tell(err, openRequests, float64(b.Queued), string(lipsync.Queued))
	tell(err, openRequests, float64(b.Processing), string(lipsync.Processing))
	tell(err, queueAge, age(b.WaitingSince, now).Seconds())
	var disk unix.Statfs_t
	err = unix.Statfs(s.m.options.Folder, &disk)
	tell(err, diskFree, float64(disk.Bavail)*float64(disk.Bsize))
	tell(err, diskSize, float64(disk.Blocks)*float64(disk.Bsize))
}

// age returns the time since t, or 0 for the zero time and times in the future.
func age(t, now time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t))
}
