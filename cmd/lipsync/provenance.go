package main

import (
	"context"
	"fmt"

	"lipsync/internal/domain/settings"
	"lipsync/internal/media/c2pa"
	"lipsync/internal/work/worker"
)

// signer returns what signs outputs, or nil if the settings don't ask for it. It returns an error if that isn't possible.
func (c *serveCommand) signer(ctx context.Context, scratch string) (worker.Signer, error) {
	if c.ProvenanceCertificate == "" && c.ProvenanceKey == "" {
		if c.RequireProvenance {
			return nil, fmt.Errorf("%s needs %s and %s", settings.RequireProvenance.Flag(), settings.ProvenanceCertificate.Flag(), settings.ProvenanceKey.Flag())
		}
		return nil, nil
	}
	if c.ProvenanceCertificate == "" || c.ProvenanceKey == "" {
		return nil, fmt.Errorf("%s and %s belong together", settings.ProvenanceCertificate.Flag(), settings.ProvenanceKey.Flag())
	}
	signer, err := c2pa.Find(ctx, c.ProvenanceCertificate, c.ProvenanceKey, scratch)
	if err != nil {
		return nil, err
	}
	return signer, nil
}
