package musetalk

import (
	"context"
	"errors"
	"fmt"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
)

// linked is the memory of a batch of faces on their way through encoder, network and decoder, one after the other. So a batch
// stays together, and no network runs half empty.
type linked struct {
	encoder, network, decoder *onnx.Binding
	latents, sound            int // indices of inputs of the network
}

var _ batch.Binding = (*linked)(nil)

// link returns the memory of runs of a number of faces.
func link(ctx context.Context, parts map[catalog.Role]*Part, faces int) (_ batch.Binding, err error) {
	inputs := parts[catalog.MuseTalk].inputs
	l := &linked{latents: inputs[0], sound: inputs[1]}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.encoder, err = parts[catalog.MuseTalkEncoder].bind(ctx, pictures*faces); err != nil {
		return nil, fmt.Errorf("%s: %w", catalog.MuseTalkEncoder, err)
	}
	if l.network, err = parts[catalog.MuseTalk].bind(ctx, faces); err != nil {
		return nil, fmt.Errorf("%s: %w", catalog.MuseTalk, err)
	}
	if l.decoder, err = parts[catalog.MuseTalkDecoder].bind(ctx, faces); err != nil {
		return nil, fmt.Errorf("%s: %w", catalog.MuseTalkDecoder, err)
	}
	return l, nil
}

// Input returns the pictures or the sound of the batch.
func (l *linked) Input(i int) []float32 {
	if i == 0 {
		return l.encoder.Input(0)
	}
	return l.network.Input(l.sound)
}

func (l *linked) Output(i int) []float32 { return l.decoder.Output(i) }

func (l *linked) Run(ctx context.Context) error {
	if err := l.encoder.Run(ctx); err != nil {
		return fmt.Errorf("%s: %w", catalog.MuseTalkEncoder, err)
	}
	copy(l.network.Input(l.latents), l.encoder.Output(0))
	if err := l.network.Run(ctx); err != nil {
		return fmt.Errorf("%s: %w", catalog.MuseTalk, err)
	}
	copy(l.decoder.Input(0), l.network.Output(0))
	if err := l.decoder.Run(ctx); err != nil {
		return fmt.Errorf("%s: %w", catalog.MuseTalkDecoder, err)
	}
	return nil
}

func (l *linked) Close() (err error) {
	for _, b := range []*onnx.Binding{l.encoder, l.network, l.decoder} {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
	}
	return err
}
