package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/operator"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/client"
	"lipsync/internal/http/rest"
	"lipsync/internal/media/demo"
)

type demoCommand struct {
	Output string `short:"o" default:"lipsync-demo" placeholder:"DIR" help:"Folder for the results (default: ${default})."`
}

// sample has the paths of the demo's files.
type sample struct{ video, speech, output, picture string }

func (c *demoCommand) Run(ctx context.Context, s streams) error {
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return err
	}
	files := sample{
		video:   filepath.Join(c.Output, "video.mp4"),
		speech:  filepath.Join(c.Output, "speech.wav"),
		output:  filepath.Join(c.Output, "output.mp4"),
		picture: filepath.Join(c.Output, "before-after.png"),
	}
	bar := screen.NewProgress(s.Err)
	err := demo.Video(ctx, files.video, demo.Frames, 1, func(done int) { bar.Show("drawing", done, demo.Frames) })
	bar.End()
	if err != nil {
		return err
	}
	if err := demo.Speech(ctx, files.speech); err != nil {
		return err
	}
	if err := files.sync(ctx, s); err != nil {
		return err
	}
	if err := demo.Picture(ctx, files.video, files.output, files.picture); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "The video before:     %s\nThe speech:           %s\nThe video after:      %s\n"+
		"Before, above after:  %s\n", files.video, files.speech, files.output, files.picture)
	return err
}

// sync starts a service for the sample, and makes the output through its HTTP API.
func (f sample) sync(ctx context.Context, s streams) (err error) {
	folder, err := os.MkdirTemp("", "lipsync-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	service := serveCommand{
		dataFlag: dataFlag{folder}, renderFlags: renderFlags{Engine: settings.Engine.DefaultValue()}, Addr: "127.0.0.1:0", Workers: 1,
		Settings: operator.Settings{
			GenerateRate: settings.GenerateRate.DefaultValue(), ReadRate: settings.ReadRate.DefaultValue(),
			MaxVideo: settings.MaxVideo.DefaultValue(), MaxAudio: settings.MaxAudio.DefaultValue(),
			MaxDuration: settings.MaxDuration.DefaultValue(), MaxSide: settings.MaxSide.DefaultValue(), MaxFPS: settings.MaxFPS.DefaultValue(), MaxGigapixels: settings.MaxGigapixels.DefaultValue(),
		},
	}
	ctx, stop := context.WithCancel(ctx)
	clients := make(chan *client.Client, 1)
	served := make(chan error, 1)
	go func() {
		served <- service.serve(ctx, slog.New(slog.DiscardHandler), func(d *deployment, address net.Addr) error {
			token, _, err := d.service.CreateKey(ctx, "demo", "demo", 0)
			clients <- &client.Client{URL: &url.URL{Scheme: "http", Host: address.String()}, Key: token, Retry: client.Retry{Sleep: client.Pause, Random: rand.Float64}}
			return err
		})
	}()
	defer func() { stop(); err = errors.Join(err, <-served) }()
	select {
	case c := <-clients:
		return f.send(ctx, c, s.Err)
	case err := <-served:
		served <- nil
		return err
	}
}

// send sends the video and the speech, waits until the request is done, and gets its output.
func (f sample) send(ctx context.Context, c *client.Client, progress io.Writer) error {
	silent := func(done, total int64) {}
	var order client.Order
	for _, in := range []struct {
		kind failure.MediaKind
		path string
	}{{failure.Video, f.video}, {failure.Audio, f.speech}} {
		fmt.Fprintf(progress, "POST %s%s%s, PUT %s\n", c.URL, rest.Base, rest.UploadsPath, filepath.Base(in.path))
		upload, err := c.Send(ctx, in.kind, in.path, silent)
		if err != nil {
			return err
		}
		order.Inputs = append(order.Inputs, client.Input{Type: in.kind, URL: upload})
	}
	fmt.Fprintf(progress, "POST %s%s%s\n", c.URL, rest.Base, rest.GeneratePath)
	id, err := c.Generate(ctx, order, "demo")
	if err != nil {
		return err
	}
	started := time.Now()
	var status lipsync.Status
	r, err := c.Wait(ctx, id, func(p client.Progress) {
		if p.Status != status {
			status = p.Status
			fmt.Fprintf(progress, "request %s: %s after %.1f s\n", id, status, time.Since(started).Seconds())
		}
	})
	switch {
	case err != nil:
		return err
	case r.Status == lipsync.Failed:
		return errors.New(r.ErrorMessage)
	}
	return c.Download(ctx, r, f.output, silent)
}
