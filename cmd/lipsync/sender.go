package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/cmd/lipsync/internal/jobs"
	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/client"
)

// sender does the jobs of the command send.
type sender struct {
	command *sendCommand
	client  *client.Client
	streams streams
	said    io.Writer // for all except errors
	scratch string
	bar     *screen.Progress

	order client.Order // of all jobs; its inputs are the video, and the speech tracks with names
}

// tell says that a call has failed, and when it is tried again.
func (s *sender) tell(fault error, pause time.Duration) {
	s.bar.End()
	fmt.Fprintf(s.said, "%v; trying again in %v\n", cmp.Or(unwrapURL(fault), fault), pause.Round(time.Second))
}

// run sends all jobs, and then gets their outputs one after the other. A job that fails doesn't stop the others.
func (s *sender) run(ctx context.Context, all []job) (err error) {
	failed := 0
	fail := func(j *job, err error) {
		s.bar.End()
		failed++
		if s.command.JSON {
			_ = s.result(j).Tell(true, s.streams.Out, s.said, err)
		}
		if len(all) > 1 {
			fmt.Fprintf(s.streams.Err, "lipsync: %s: %v\n", j.Audio, err)
		}
	}
	err = s.share(ctx)
	for n := range all {
		if err != nil {
			break
		}
		if err = s.start(ctx, &all[n]); ofInput(err) && len(all) > 1 {
			fail(&all[n], err)
			err = nil
		}
	}
	sending := err
	for n := range all {
		if all[n].id == "" || ctx.Err() != nil {
			continue
		}
		if err = s.finish(ctx, &all[n]); err == nil {
			all[n].id = "" // nothing is left to cancel
		} else if ctx.Err() == nil {
			fail(&all[n], err)
			all[n].id = ""
		}
	}
	s.bar.End()
	switch {
	case ctx.Err() != nil:
		s.leave(ctx, all)
		return ctx.Err()
	case sending != nil:
		return sending
	case len(all) == 1:
		return err
	case failed > 0:
		return fmt.Errorf("%d of %d speech tracks failed", failed, len(all))
	}
	return nil
}

// ofInput reports whether the service refused an input, and may take others.
func ofInput(err error) bool {
	status := client.StatusOf(err)
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
}

// share uploads what all jobs share: the video, and the speech tracks with names.
func (s *sender) share(ctx context.Context) error {
	if err := s.upload(ctx, &s.order, failure.Video, s.command.Video, ""); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.command.Ref)) {
		if err := s.upload(ctx, &s.order, failure.Audio, s.command.Ref[name], name); err != nil {
			return err
		}
	}
	return nil
}

// upload uploads a file, and adds it to the inputs of an order.
func (s *sender) upload(ctx context.Context, o *client.Order, kind failure.MediaKind, path, ref string) error {
	url, err := s.client.Send(ctx, kind, path, s.moved("sending "+filepath.Base(path)))
	if err == nil {
		o.Inputs = append(slices.Clone(o.Inputs), client.Input{Type: kind, URL: url, Ref: ref})
	}
	return err
}

// moved returns a function that shows how many bytes of a file were moved.
func (s *sender) moved(stage string) func(done, total int64) {
	return func(done, total int64) { s.bar.Show(stage, int(done), int(total)) }
}

// start uploads the job's speech track, and makes its request.
func (s *sender) start(ctx context.Context, j *job) error {
	order := s.order
	err := s.upload(ctx, &order, failure.Audio, j.Audio, "")
	if err != nil {
		return err
	}
	if j.id, err = s.client.Generate(ctx, order, uuid.NewString()); err != nil {
		return err
	}
	s.bar.End()
	_, err = fmt.Fprintf(s.said, "%s: request %s\n", filepath.Base(j.Audio), j.id)
	return err
}

// finish waits until the job's request is finished, and gets its output.
func (s *sender) finish(ctx context.Context, j *job) error {
	told := ""
	r, err := s.client.Wait(ctx, j.id, func(p client.Progress) {
		if !p.Status.Final() {
			if p.Reason != told && p.Reason != "" {
				s.bar.End()
				fmt.Fprintf(s.said, "%s waits: %s\n", filepath.Base(j.Audio), p.Reason)
				told = p.Reason
			}
			s.bar.Show(cmp.Or(string(p.Stage), string(p.Status)), p.Percent, 100)
		}
	})
	if err != nil {
		return err
	}
	if r.Status == lipsync.Failed {
		d, _ := s.client.Details(ctx, r.ID) // without it the reason is unknown
		return jobs.Reasoned(flags.Words(r.ErrorMessage), d.Reason)
	}
	finished := filepath.Join(s.scratch, "output")
	if err := s.client.Download(ctx, r, finished, s.moved("getting "+filepath.Base(j.Output))); err != nil {
		return err
	}
	s.bar.End()
	if err := j.Deliver(finished, s.streams.Out, s.said); err != nil {
		return err
	}
	d, err := s.client.Details(ctx, r.ID)
	if err != nil {
		return err
	}
	result := s.result(j)
	result.Frames, result.Synced, result.Unsynced, result.LeftOut, result.Warnings = d.Frames.Total, d.Frames.Synced, d.Unsynced, d.LeftOut, d.Warnings
	if d.Sync != nil {
		result.Score, result.Sync = d.Sync.Score, d.Sync.Text
	}
	return result.Tell(s.command.JSON, s.streams.Out, s.said, nil)
}

// result returns what is known of a job's output before it is made.
func (s *sender) result(j *job) jobs.Result {
	return jobs.Result{Video: s.command.Video, Audio: j.Audio, Output: j.Output, Request: j.id}
}

// cancelTime is the time for the cancels after an interruption.
const cancelTime = 30 * time.Second

// leave asks whether the open requests should be canceled, and does so. Where nobody can be asked, they go on.
func (s *sender) leave(ctx context.Context, all []job) {
	open := slices.DeleteFunc(slices.Clone(all), func(j job) bool { return j.id == "" })
	if len(open) == 0 {
		return
	}
	cancel := s.streams.Ask(fmt.Sprintf("Cancel %s? [y/N] ", counted(len(open))))
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	for _, j := range open {
		says := "goes on"
		if cancel {
			says = s.cancel(ctx, j.id)
		}
		fmt.Fprintf(s.streams.Err, "The request %s %s\n", j.id, says)
	}
}

// cancel cancels a request, and returns what became of it.
func (s *sender) cancel(ctx context.Context, id string) string {
	_, err := s.client.Cancel(ctx, id)
	switch {
	case client.StatusOf(err) == http.StatusConflict: // it is finished
		return "was finished before"
	case err != nil:
		return "goes on: " + err.Error()
	default:
		return "is canceled"
	}
}

func counted(requests int) string {
	if requests == 1 {
		return "the request"
	}
	return fmt.Sprintf("the %d requests", requests)
}
