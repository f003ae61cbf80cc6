package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"time"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/cmd/lipsync/internal/jobs"
	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/client"
)

// callFlags are the options of commands that call a service.
type callFlags struct {
	URL     string `name:"url"`
	Key     string
	KeyFile string
}

// patience is the sum of the pauses between the tries of one call. A service that is upgraded or restarted is back sooner.
const patience = 10 * time.Minute

// client returns a client of the service. It tells its user of faults.
func (f *callFlags) client(tell func(fault error, pause time.Duration)) (*client.Client, error) {
	key := f.Key
	if key == "" && f.KeyFile != "" {
		text, err := os.ReadFile(f.KeyFile)
		if err != nil {
			return nil, err
		}
		key = strings.TrimSpace(string(text))
	}
	if key == "" {
		return nil, fmt.Errorf("there is no API key: set %s, or give a file with the key to %s", settings.Key.Env(), settings.KeyFile.Flag())
	}
	return &client.Client{
		URL: settings.ServiceURL.Value(f.URL), Key: key,
		Retry: client.Retry{Patience: patience, Sleep: client.Pause, Random: rand.Float64, Tell: tell},
	}, nil
}

type sendCommand struct {
	callFlags
	outputFlags
	Model string `placeholder:"NAME" help:"Engine (default: the one of the service)."`
	flags.Choices
}

// Validate checks the options; kong calls it.
func (c *sendCommand) Validate() error {
	if c.DisableActiveSpeakerDetection && c.Options(c.Output).Face.By != order.AutoFace {
		return errors.New("--face and --disable-active-speaker-detection exclude each other")
	}
	return c.outputFlags.check(&c.Choices)
}

// Run sends the media, waits until the outputs are made, and gets them.
func (c *sendCommand) Run(ctx context.Context, s streams) (err error) {
	said := c.said(s)
	found, err := c.outputFlags.order("send", &c.Choices).Jobs(s.Out, said)
	if err != nil {
		return err
	}
	var all []job
	for _, j := range found {
		all = append(all, job{Job: j})
	}
	order, err := c.order()
	if err != nil {
		return err
	}
	scratch, err := all[0].Scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	sender := &sender{command: c, streams: s, said: said, scratch: scratch, bar: screen.NewProgress(said), order: order}
	if sender.client, err = c.client(sender.tell); err != nil {
		return err
	}
	if _, err := sender.client.Me(ctx); err != nil {
		return fmt.Errorf("%s: %w", sender.client.URL.Host, cmp.Or(unwrapURL(err), err))
	}
	return sender.run(ctx, all)
}

// unwrapURL returns the cause of an error of a call, which names the whole URL again, and nil for other errors.
func unwrapURL(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return nil
}

// job is one speech track with its output.
type job struct {
	jobs.Job
	id string // of the request, "" until it is made
}

// order returns the body of the generate call, without the inputs.
func (c *sendCommand) order() (o client.Order, err error) {
	o.Choices = client.Choices{LargestFace: c.DisableActiveSpeakerDetection, Model: c.Model}
	options := c.Options(c.Output)
	output := options.Output
	segments, err := c.ReadSegments(options)
	if err != nil {
		return o, err
	}
	options.Output = order.Output{}
	if !options.IsZero() {
		o.Options = options
	}
	if output != (order.Output{}) {
		o.Output = output
	}
	if segments != nil {
		o.Segments = segments
	}
	return o, nil
}
