package main

import (
	"context"
	"fmt"

	"lipsync/internal/domain/settings"
	"lipsync/internal/media/c2pa"
	"lipsync/internal/work/worker"
)

// sign makes the worker sign outputs, if the settings ask for it. It returns an error if that isn't possible.
func (c *serveCommand) sign(ctx context.Context, w *worker.Worker) error {
	if c.ProvenanceCertificate == "" && c.ProvenanceKey == "" {
		if c.RequireProvenance {
			return fmt.Errorf("%s needs %s and %s", settings.RequireProvenance.Flag(), settings.ProvenanceCertificate.Flag(), settings.ProvenanceKey.Flag())
		}
		return nil
	}
	if c.ProvenanceCertificate == "" || c.ProvenanceKey == "" {
		return fmt.Errorf("%s and %s belong together", settings.ProvenanceCertificate.Flag(), settings.ProvenanceKey.Flag())
	}
	signer, err := c2pa.Find(ctx, c.ProvenanceCertificate, c.ProvenanceKey, w.Scratch)
	if err != nil {
		return err
	}
	w.Signer = signer
	return nil
}
