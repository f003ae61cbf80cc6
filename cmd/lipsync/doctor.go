package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
	"lipsync/internal/render"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

type doctorCommand struct {
	dataFlag
	renderFlags
	DiskReserve settings.Size
}

// Run checks what a server needs, and prints a line for each check. It changes nothing but a file that it removes again.
func (c *doctorCommand) Run(ctx context.Context, s streams) error {
	wrong := 0
	tell := func(what, good string, err error) {
		if err != nil {
			wrong++
			good = "WRONG: " + err.Error()
		}
		fmt.Fprintf(s.out, "%-9s %s\n", what, good)
	}
	err := checkData(c.Data)
	tell("folder", c.Data, err)
	if err == nil {
		tell("database", "whole", sqlite.Check(ctx, filepath.Join(c.Data, databaseFile)))
		tell("disk", "can be written, and has room", c.checkRoom())
		c.checkFolder(ctx, tell)
	}
	set, err := c.open(ctx, 1, render.Limits{}, slog.New(slog.DiscardHandler))
	if err != nil {
		tell("engines", "", err)
	} else {
		names, err := set.Names(c.Engine)
		tell("engines", fmt.Sprint(names), err)
		tell("ffmpeg", fmt.Sprint("works, in the sandbox of ", set.Tools.Sandbox), errors.Join(set.Tools.Check(ctx, c.Data), set.Close()))
	}
	if wrong > 0 {
		return fmt.Errorf("checks that failed: %d", wrong)
	}
	return nil
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
	folder, err := openData(ctx, c.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		tell("media", "", err)
		return
	}
	tell("media", "belong to the database", folder.belong(ctx))
	var warned error
	doubt, err := folder.doubt(ctx, func() time.Duration { return 0 }, func(ahead time.Duration) {
		warned = fmt.Errorf("%s ahead of the last time in the database; that is right if no server has run since", ahead.Round(time.Minute))
	})
	if err == nil && !doubt.Trusted() {
		err = warned
	}
	tell("clock", "fits the database", errors.Join(err, folder.close()))
}
