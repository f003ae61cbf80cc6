package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
	"lipsync/internal/render/intake"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

type doctorCommand struct {
	dataFlag
	renderFlags
	DiskReserve settings.Size
	JSON        bool `help:"Print a JSON array of the checks."`
}

// checks are what a command finds out about a machine.
type checks struct {
	out   io.Writer
	json  bool // they are printed at the end
	all   []checked
	wrong int
}

type checked struct {
	What string `json:"check"`
	Good string `json:"finding,omitzero"`
	Bad  string `json:"problem,omitzero"`
}

// tell adds a check: what is checked, and what was found.
func (c *checks) tell(what, good string, err error) {
	found := checked{What: what, Good: good}
	if err != nil {
		c.wrong++
		found.Good, found.Bad = "", err.Error()
		good = "WRONG: " + err.Error()
	}
	c.all = append(c.all, found)
	if !c.json {
		fmt.Fprintf(c.out, "%-9s %s\n", what, good)
	}
}

// engines checks the engines, and ffmpeg in the sandbox.
func (c *checks) engines(ctx context.Context, f renderFlags, data string) {
	set, err := f.open(ctx, 1, intake.Limits{}, slog.New(slog.DiscardHandler))
	if err != nil {
		c.tell("engines", "", err)
		return
	}
	names, err := set.Names(f.Engine)
	c.tell("engines", fmt.Sprint(names), err)
	c.tell("ffmpeg", fmt.Sprint("works, in the sandbox of ", set.Tools.Sandbox), errors.Join(set.Tools.Check(ctx, data), set.Close()))
}

// end returns an error if a check failed.
func (c *checks) end() error {
	if c.json {
		if err := json.NewEncoder(c.out).Encode(c.all); err != nil {
			return err
		}
	}
	if c.wrong > 0 {
		return fmt.Errorf("checks that failed: %d", c.wrong)
	}
	return nil
}

// Run checks what a server needs, and prints a line for each check. It changes nothing but a file that it removes again.
func (c *doctorCommand) Run(ctx context.Context, s streams) error {
	checks := &checks{out: s.Out, json: c.JSON}
	err := datafolder.Check(c.Data)
	checks.tell("folder", c.Data, err)
	if err == nil {
		checks.tell("database", "whole", sqlite.Check(ctx, filepath.Join(c.Data, datafolder.DatabaseFile)))
		checks.tell("disk", "can be written, and has room", c.checkRoom())
		c.checkFolder(ctx, checks.tell)
	}
	checks.engines(ctx, c.renderFlags, c.Data)
	return checks.end()
}

// checkRoom writes to the disk of the folder, and compares its free space with the reserve.
func (c *doctorCommand) checkRoom() error {
	err := checkDisk(c.Data)
	free, freeErr := disk.Free(c.Data)
	if err = errors.Join(err, freeErr); err == nil && free < int64(c.DiskReserve) {
		err = fmt.Errorf("%d bytes are free, less than %s: new media are refused; see %s", free, failure.Spell(int64(c.DiskReserve)), settings.DiskReserve.Flag())
	}
	return err
}

// checkFolder checks that the media belong to the database, and that the clock fits both.
func (c *doctorCommand) checkFolder(ctx context.Context, tell func(what, good string, err error)) {
	folder, err := datafolder.Open(ctx, c.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		tell("media", "", err)
		return
	}
	tell("media", "belong to the database", folder.Belong(ctx))
	var warned error
	doubt, err := folder.Doubt(ctx, func() time.Duration { return 0 }, func(ahead time.Duration) {
		warned = fmt.Errorf("%s ahead of the last time in the database; that is right if no server has run since", ahead.Round(time.Minute))
	})
	if err == nil && !doubt.Trusted() {
		err = warned
	}
	tell("clock", "fits the database", errors.Join(err, folder.Close()))
}
