package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engines"
)

const batchesWhat = "Runs of each network with more and more items at once: the size from which on an item takes no less time is the best for batches."

// batches measures the networks whose models leave the number of items open.
func (m *Machine) batches(ctx context.Context) (rows [][]string, err error) {
	models, err := catalog.Read(m.Models)
	if err != nil {
		return nil, err
	}
	runtime, err := onnx.Open(m.Library)
	if err != nil {
		return nil, err
	}
	for _, role := range []catalog.Role{catalog.Wav2Lip, catalog.MuseTalkEncoder, catalog.MuseTalk, catalog.MuseTalkDecoder, catalog.FaceLandmarks} {
		model, found := models.Find(role)
		if !found {
			rows = append(rows, []string{string(role), notChecked + "there is no such network"})
			continue
		}
		more, e := m.batchesOf(ctx, runtime, model)
		rows, err = append(rows, more...), errors.Join(err, e)
	}
	return rows, err
}

func (m *Machine) batchesOf(ctx context.Context, r *onnx.Runtime, model catalog.Model) (rows [][]string, err error) {
	s, err := model.Load(r, onnx.Options{Providers: m.Providers[:1], Threads: engines.Threads(model.Role)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Inputs()[0].Shape[0] >= 0 {
		return [][]string{{string(model.Role), notChecked + "the model fixes the number of items"}}, nil
	}
	for _, n := range []int{1, 4, 16, 32, 64} {
		began := time.Now()
		b, err := bind(ctx, model.Role, s, n)
		if err != nil {
			return rows, fmt.Errorf("%s, %d items: %w", model.Role, n, err)
		}
		err = b.Run(ctx)
		first := time.Since(began)
		var mean made
		if err == nil {
			mean, err = run(ctx, b, 0)
		}
		if err = errors.Join(err, b.Close()); err != nil {
			return rows, fmt.Errorf("%s, %d items: %w", model.Role, n, err)
		}
		rows = append(rows, []string{string(model.Role), fmt.Sprint(n), ms(first), ms(mean.took), fmt.Sprintf("%.0f", float64(n)/mean.took.Seconds())})
	}
	return rows, nil
}
