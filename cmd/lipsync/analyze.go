package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"text/tabwriter"

	"lipsync/cmd/lipsync/internal/jobs"
	"lipsync/cmd/lipsync/internal/models"
	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/render"
	"lipsync/internal/render/intake"
)

type analyzeCommand struct {
	models.Flags
	Video string `arg:"" help:"The video or picture."`
	JSON  bool   `name:"json" help:"Print all that was found as JSON, with pictures of the faces in Base64."`
	Quiet bool   `short:"q" help:"Print no progress."`
}

func (c *analyzeCommand) Run(ctx context.Context, s streams) (err error) {
	if _, err := jobs.Stat("analyze", "video", c.Video); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	renderer, err := renderFlags{Flags: c.Flags}.open(ctx, runtime.GOMAXPROCS(0), intake.DefaultLimits(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, renderer.Close()) }()
	said := s.Err
	if c.Quiet {
		said = io.Discard
	}
	bar := screen.NewProgress(said)
	found, _, err := renderer.FindPeople(ctx, c.Video, render.ProgressFunc(func(p render.Progress) { bar.Show(string(p.Stage), p.Done, p.Total) }))
	bar.End()
	switch {
	case failure.CodeOf(err) == failure.Invalid:
		return fmt.Errorf("%s: %w", c.Video, sentence(err))
	case err != nil:
		return err
	case c.JSON:
		return json.NewEncoder(s.Out).Encode(found)
	}
	return printAnalysis(s.Out, found)
}

// printAnalysis prints a video, and its faces as a table.
func printAnalysis(w io.Writer, a order.Analysis) error {
	v := a.Video
	_, err := fmt.Fprintf(w, "%d × %d pixels, %g frames a second, %g seconds, %d frames\n", v.Width, v.Height, v.FPS, v.Seconds, v.Frames)
	if err != nil || len(a.Faces) == 0 {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FACE\tFIRST SECOND\tLAST SECOND\tSHARE OF FRAMES")
	for _, f := range a.Faces {
		fmt.Fprintf(table, "%s\t%g\t%g\t%.0f %%\n", f.ID, f.First, f.Last, 100*f.Share)
	}
	return table.Flush()
}
