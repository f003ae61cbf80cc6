package render

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/people"
	"lipsync/internal/sound/speech"
)

// plan says how each frame of an output is painted, and what is heard.
type plan struct {
	input   input
	seen    observation
	line    footage.Timeline
	sum     string // see recording.Output.Plan; "" if the output isn't made in pieces
	sound   soundtrack
	spoken  []speech.Articulation // the articulation of the speech in each frame of the output
	pcm     *os.File              // samples of the speech; the caller closes it
	warning order.Warnings
	painter engine.Painter
	speaker func(source int) int // the track of the speaker in a source frame, -1 for none
	shares  []uint8              // of the mask, of each frame of the output; nil means 255 for all
	islands []bool               // see findIslands
}

// plan makes the plan of an output. It fails if the options don't allow one of these media.
func (w work) plan(ctx context.Context, in input, seen observation) (p plan, err error) {
	in = in.encodedBy(seen.crf)
	p = plan{input: in, seen: seen}
	if p.line, err = in.timeline(seen); err != nil {
		return p, err
	}
	frames := p.line.Frames
	if err := in.checkSize(seen.shown, frames); err != nil {
		return p, err
	}
	if err := in.job.Space.Take(in.space(seen.shown, frames)); err != nil { // more than before if the file states too short a length, or none
		return p, err
	}
	if in.inPieces(frames) && w.basis() != "" {
		if p.sum, err = w.planSum(in, frames); err != nil {
			return p, err
		}
	}
	if p.sound, p.warning, err = w.finishSound(ctx, in, seen.shown, frames); err != nil {
		return p, err
	}
	if p.speaker, err = in.speaker(seen); err != nil {
		return p, err
	}
	if p.pcm, err = os.Open(p.sound.PCM); err != nil {
		return p, err
	}
	p.spoken = extend(seen.spoken, frames)
	out := engine.Output{
		Frames: frames, Source: p.line.Source, Spoken: p.spoken, Heard: seen.heard,
		Samples: p.samples(), Speaker: p.speaker, Mask: in.job.Options.Mask,
	}
	if seen.hidden.Covers() > 0 {
		out.Hidden = func(track, source int) bool { return seen.hidden.Cover(track, source).HidesLips() }
	}
	p.shares = in.shares(p.spoken, frames)
	p.islands = p.findIslands()
	if p.painter, err = seen.analyser.Plan(ctx, out); err != nil {
		p.pcm.Close()
		return p, fmt.Errorf("plan: %w", err)
	}
	return p, nil
}

// encodedBy returns the input for an output that is encoded with the crf.
func (in input) encodedBy(crf int) input {
	info, video := *in.video, *in.video.Video
	video.CRF, info.Video, in.video = crf, &video, &info
	return in
}

// samples returns the samples of the speech, and of silence after it if the output is longer.
func (p plan) samples() *io.SectionReader { return io.NewSectionReader(p.pcm, 0, 2*p.sound.Samples) }

// share returns the share of the mask in an output frame.
func (p plan) share(output int) uint8 {
	if p.shares == nil {
		return 255
	}
	return p.shares[output]
}

// island tells whether an output frame stays as it is because its mouth would be synced for a moment only.
func (p plan) island(output int) bool { return p.islands != nil && p.islands[output] }

// cover returns what hides the mouth in an output frame, nil if nothing does.
func (p plan) cover(output int) *occlusion.Cover {
	if p.seen.hidden.Covers() == 0 {
		return nil
	}
	source := p.line.Source(output)
	return p.seen.hidden.Cover(p.speaker(source), source)
}

// face returns the face whose mouth can be measured in an output frame, nil if there is none: nobody speaks, or the mouth isn't painted as a whole.
func (p plan) face(output int) *people.Seen {
	if p.share(output) < 255 || p.cover(output).HidesLips() || p.island(output) {
		return nil
	}
	source := p.line.Source(output)
	if face := p.seen.Of(p.speaker(source), source); face != nil && !p.outside(face) {
		return face
	}
	return nil
}

// planSum returns a checksum, in hexadecimal, of all that decides what the frames of an output are and how they are encoded. Pieces of the same
// plan fit together.
func (w work) planSum(in input, frames int) (string, error) {
	sum := sha256.New()
	encoding, err := w.Media.Encoding(in.video.Video, in.job.Options.Output)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(sum, "%s, media %x, engine %s, largest %t, %d frames, %s\n",
		w.basis(), in.job.Sums, in.job.Engine, in.job.LargestFace, frames, encoding)
	if err := json.NewEncoder(sum).Encode(in.job.Options); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Estimate inspects the job's media as Render does, and says how large its output will be, or for what problems Render would fail. It decodes no
// frame, so it knows nothing about faces, and takes the stated length of the video. Of the job it uses no Output.
func (r *Renderer) Estimate(ctx context.Context, j Job) (e order.Estimate, err error) {
	w, err := r.begin(j, nil)
	if err == nil {
		defer os.RemoveAll(w.dir)
		err = failure.Guard(func() (err error) {
			e, err = w.estimate(ctx, j.normal())
			return err
		})
	}
	switch {
	case ctx.Err() != nil, errors.Is(err, ffmpeg.ErrNotRun): // no problem of the media
		return e, w.reason(ctx, err)
	case err != nil:
		e.Problems, err = order.Problems(err)
	}
	return e, err
}

// estimate makes the estimate. An error may be a problem.
func (w work) estimate(ctx context.Context, j Job) (e order.Estimate, err error) {
	in, wrong := w.inspectVideo(ctx, j)
	speech, unheard := w.inspectSpeech(ctx, j, os.DevNull, ample{})
	e.Problems, err = order.Problems(w.checkCodec(ctx, j), wrong, unheard)
	if err != nil || e.Problems != nil {
		return e, err
	}
	in.speech = speech
	if in.boxes, err = in.readBoxes(ctx); err != nil {
		return e, err
	}
	source := max(1, in.expected())
	line, err := in.timelineFor(source, nil)
	if err != nil {
		return e, err
	}
	if err := in.job.Space.Fits(in.space(source, line.Frames)); err != nil {
		return e, err
	}
	return order.Estimate{
		VideoSeconds: order.Rounded(in.video.Duration.Seconds()), AudioSeconds: order.Rounded(in.audioLength().Seconds()),
		OutputSeconds: order.Rounded(in.length(line.Frames).Seconds()), Frames: line.Frames, Size: in.size(source, line.Frames),
	}, in.checkSize(source, line.Frames)
}
