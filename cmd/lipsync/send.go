package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/client"
)

// callFlags are the options of commands that call a service.
type callFlags struct {
	URL     *url.URL `name:"url"`
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
		URL: &url.URL{Scheme: f.URL.Scheme, Host: f.URL.Host}, Key: key,
		Retry: client.Retry{Patience: patience, Sleep: client.Pause, Random: rand.Float64, Tell: tell},
	}, nil
}

type sendCommand struct {
	callFlags
	Video  string `arg:"" help:"The video, with a face in it. It may be a picture: PNG, JPEG, WebP or AVIF."`
	Audio  string `arg:"" help:"The speech track. It may be a video with sound. If it is a folder, an output is made for each file in it."`
	Output string `short:"o" placeholder:"OUT.mp4" help:"The file to make, or - for standard output. OUT.mov and OUT.webm have other formats. If AUDIO is a folder, it is the folder of the outputs, which get the names of the speech tracks. Required."`
	Quiet  bool   `short:"q" help:"Print nothing except errors."`
	Model  string `placeholder:"NAME" help:"Engine (default: the one of the service)."`
	optionFlags
}

// Validate implements kong's check of a command's options, as that of syncCommand does.
func (c *sendCommand) Validate() error {
	switch {
	case c.Audio == "":
		return nil
	case c.DisableActiveSpeakerDetection && c.options(c.Output).Face.By != order.AutoFace:
		return errors.New("--face and --disable-active-speaker-detection exclude each other")
	}
	return c.optionFlags.check(c.Output, isFolder(c.Audio))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Run sends the media, waits until the outputs are made, and gets them.
func (c *sendCommand) Run(ctx context.Context, s streams) (err error) {
	said := s.err
	if c.Quiet {
		said = io.Discard
	}
	jobs, err := c.jobs(s.out)
	if err != nil {
		return err
	}
	order, err := c.order()
	if err != nil {
		return err
	}
	scratch, err := scratchFor(jobs[0].output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	sender := &sender{command: c, streams: s, said: said, scratch: scratch, bar: newProgress(said), order: order}
	if sender.client, err = c.client(sender.tell); err != nil {
		return err
	}
	if _, err := sender.client.Me(ctx); err != nil {
		return fmt.Errorf("%s: %w", sender.client.URL.Host, cmp.Or(unwrapURL(err), err))
	}
	return sender.run(ctx, jobs)
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
	audio, output string
	id            string // of the request, "" until it is made
}

// jobs returns the jobs of the command, at least one, after it has checked their files.
func (c *sendCommand) jobs(out io.Writer) ([]job, error) {
	jobs := []job{{audio: c.Audio, output: c.Output}}
	if isFolder(c.Audio) {
		var err error
		if jobs, err = c.folder(); err != nil {
			return nil, err
		}
	}
	for _, j := range jobs {
		files := append(c.files(), inputFile{"video", c.Video}, inputFile{"audio", j.audio})
		if err := checkFiles("send", j.output, out, files); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// folder returns a job for each file of the folder of speech tracks, except for hidden ones, in the order of their names.
func (c *sendCommand) folder() (jobs []job, err error) {
	if !isFolder(c.Output) {
		return nil, fmt.Errorf("%s is a folder of speech tracks, so the output must be a folder too: make the folder %s", c.Audio, c.Output)
	}
	files, err := os.ReadDir(c.Audio)
	if err != nil {
		return nil, err
	}
	from := map[string]string{} // the speech track of each output
	for _, f := range files {
		if f.IsDir() || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		stem := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))
		output := filepath.Join(c.Output, stem+c.options("").Output.Format.Extension())
		if other := from[output]; other != "" {
			return nil, fmt.Errorf("%s and %s would have the same output %s: rename one", other, f.Name(), output)
		}
		from[output] = f.Name()
		jobs = append(jobs, job{audio: filepath.Join(c.Audio, f.Name()), output: output})
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s has no files", c.Audio)
	}
	return jobs, nil
}

// order returns the body of the generate call, without the inputs.
func (c *sendCommand) order() (o client.Order, err error) {
	o.Choices = client.Choices{LargestFace: c.DisableActiveSpeakerDetection, Model: c.Model}
	options := c.options(c.Output)
	output := options.Output
	segments, err := c.segments(options)
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
