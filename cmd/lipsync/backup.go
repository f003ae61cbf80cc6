package main

import (
	"context"
	"fmt"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/settings"
)

// dataFlag is the option of each command that uses a data folder.
type dataFlag struct {
	Data string
}

type backupCommand struct {
	dataFlag
	DiskReserve settings.Size
	File        string `arg:"" help:"The file to make. It holds secrets: only its owner may read it. It appears when it is complete and was read again."`
}

func (c *backupCommand) Run(ctx context.Context, s streams) error {
	made, err := datafolder.MakeBackup(ctx, c.Data, c.File, int64(c.DiskReserve))
	if err != nil {
		return err
	}
	for _, key := range made.Lost {
		fmt.Fprintf(s.Err, "lipsync: warning: a request waits for %s, which is gone\n", key)
	}
	_, err = fmt.Fprintf(s.Out, "backup of %s: %d files, %d bytes\n", c.Data, made.Files, made.Bytes)
	return err
}

type restoreCommand struct {
	dataFlag
	File  string `arg:"" help:"A file that lipsync backup made. The data folder must be empty or missing."`
	Trial bool   `help:"To try a backup: delete all webhooks, and cancel all requests and batches that aren't finished. A server on this data folder then sends nothing to clients."`
}

func (c *restoreCommand) Run(ctx context.Context, s streams) error {
	ended, err := datafolder.Restore(ctx, c.File, c.Data, c.Trial)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(s.Out, "restored %s\n", c.Data); err == nil && c.Trial {
		_, err = fmt.Fprintf(s.Out, "for a trial: webhooks deleted: %d, requests canceled: %d, batches canceled: %d\n", ended.Webhooks, ended.Requests, ended.Batches)
	}
	return err
}
