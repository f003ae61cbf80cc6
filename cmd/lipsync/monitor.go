package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
	"lipsync/internal/render/engines"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/work/monitor"
)

// newMonitor returns a monitor of the deployment, and of the disk of a folder.
func (d *deployment) newMonitor(s *engines.Set, scratch string) *monitor.Monitor {
	return monitor.New(monitor.Options{
		Backlog: d.data.Store.Backlog,
		Folder:  d.data.Dir,
		Checks: []monitor.Check{
			{Name: "store", Run: func(ctx context.Context) error { return checkStore(ctx, d.data.Store) }},
			{Name: "disk", Run: func(context.Context) error { return checkDisk(scratch) }},
			{Name: "ffmpeg", Run: func(ctx context.Context) error { return s.Tools.Check(ctx, scratch) }},
		},
		Now: time.Now,
		Log: d.log,
	})
}

// monitored lets the monitor see what the deployment does, and serves it.
func (d *deployment) monitored(m *monitor.Monitor) {
	d.sweep = m.Sweep(d.sweep)
	d.monitor = stalling(m.Handler(), stallTime)
}

// listenMetrics returns the listener of the monitor, nil if no address is set for it.
func (c *serveCommand) listenMetrics() (net.Listener, error) {
	if c.MetricsAddr == "" {
		return nil, nil
	}
	return listen(c.MetricsAddr, settings.MetricsAddr)
}

// checkStore reads a record that does not exist, and tries to change another such record. That
// writes nothing, but it needs the database's lock for writes.
func checkStore(ctx context.Context, store *sqlite.Store) error {
	if _, err := store.Requests.ByID(ctx, ""); failure.CodeOf(err) != failure.NotFound {
		return fmt.Errorf("read: %w", err)
	}
	if err := store.Keys.Touch(ctx, "", time.Now()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// checkDisk writes a file to the folder, syncs it, reads it and removes it.
func checkDisk(dir string) (err error) {
	f, err := os.CreateTemp(dir, "check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	want := bytes.Repeat([]byte("lipsync\n"), 8<<10)
	if _, err := f.Write(want); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(len(want))), got); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("the disk returns other data than what was written")
	}
	return nil
}
