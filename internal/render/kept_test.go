package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"lipsync/internal/media/ffmpeg/medium"
)

// keeping is Media that keeps what is read of files, so that the estimate of a job that was rendered starts no program again.
type keeping struct {
	Media
	kept *sync.Map // answers, by their calls
}

// keepReads returns a renderer that doesn't read twice.
func keepReads(r *Renderer) *Renderer {
	keeper := *r
	keeper.Media = keeping{r.Media, new(sync.Map)}
	return &keeper
}

// answer is what a call returned and wrote.
type answer struct {
	info  *medium.Info
	n     int64
	err   error
	pcm   []byte
	sound []byte
}

// ask returns the answer to a call. It asks only once, unless ctx ends meanwhile.
func (k keeping) ask(ctx context.Context, call string, ask func() answer) answer {
	if kept, ok := k.kept.Load(call); ok {
		return kept.(answer)
	}
	a := ask()
	if ctx.Err() == nil {
		k.kept.Store(call, a)
	}
	return a
}

func (k keeping) Probe(ctx context.Context, path string) (*medium.Info, error) {
	a := k.ask(ctx, path, func() (a answer) {
		a.info, a.err = k.Media.Probe(ctx, path)
		return a
	})
	if a.err != nil {
		return nil, a.err
	}
	own := *a.info // jobs change it
	if own.Video != nil {
		v := *own.Video
		own.Video = &v
	}
	if own.Audio != nil {
		sound := *own.Audio
		own.Audio = &sound
	}
	return &own, nil
}

func (k keeping) Samples(ctx context.Context, in *medium.Info, pcm, sound io.Writer, most time.Duration) (int64, error) {
	a := k.ask(ctx, fmt.Sprint("samples ", in.Path, in.Begin, *in.Audio, most), func() (a answer) {
		var pcm, sound bytes.Buffer
		a.n, a.err = k.Media.Samples(ctx, in, &pcm, &sound, most)
		a.pcm, a.sound = pcm.Bytes(), sound.Bytes()
		return a
	})
	_, err := pcm.Write(a.pcm)
	_, other := sound.Write(a.sound)
	if err := errors.Join(err, other); err != nil {
		return 0, err
	}
	return a.n, a.err
}
