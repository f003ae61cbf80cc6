package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/demo"
	"lipsync/internal/rest"
	"lipsync/internal/settings"
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
	bar := newProgress(s.err)
	err := demo.Video(ctx, files.video, demo.Frames, func(done int) { bar.show("drawing", done, demo.Frames) })
	bar.end()
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
	_, err = fmt.Fprintf(s.out, "The video before:     %s\nThe speech:           %s\nThe video after:      %s\n"+
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
		GenerateRate: settings.GenerateRate.DefaultValue(), ReadRate: settings.ReadRate.DefaultValue(),
		MaxVideo: settings.MaxVideo.DefaultValue(), MaxAudio: settings.MaxAudio.DefaultValue(), MaxDuration: settings.MaxDuration.DefaultValue(),
		MaxSide: settings.MaxSide.DefaultValue(), MaxFPS: settings.MaxFPS.DefaultValue(),
	}
	ctx, stop := context.WithCancel(ctx)
	clients := make(chan client, 1)
	served := make(chan error, 1)
	go func() {
		served <- service.serve(ctx, slog.New(slog.DiscardHandler), func(d *data, address net.Addr) error {
			token, _, err := d.service.CreateKey(ctx, "demo", "demo", 0)
			clients <- client{"http://" + address.String(), token}
			return err
		})
	}()
	defer func() { stop(); err = errors.Join(err, <-served) }()
	select {
	case c := <-clients:
		return f.send(ctx, c, s.err)
	case err := <-served:
		served <- nil
		return err
	}
}

// send sends the video and the speech, waits until the request is done, and gets its output.
func (f sample) send(ctx context.Context, c client, progress io.Writer) error {
	fmt.Fprintf(progress, "POST %s%s%s\n", c.base, rest.Base, rest.GenerateWithMediaPath)
	id, err := c.generate(ctx, f.video, f.speech)
	if err != nil {
		return err
	}
	started := time.Now()
	for status := ""; ; {
		r, err := c.request(ctx, id)
		if err != nil {
			return err
		}
		if r.Status != status {
			status = r.Status
			fmt.Fprintf(progress, "request %s: %s after %.1f s\n", id, status, time.Since(started).Seconds())
		}
		switch status {
		case "completed":
			return c.download(ctx, r.OutputURL, f.output)
		case "failed":
			return errors.New(r.ErrorMessage)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}
