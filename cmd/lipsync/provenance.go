package main

import (
	"context"
	"fmt"

	"lipsync/internal/domain/settings"
	"lipsync/internal/media/c2pa"
)

// sign makes the deployment sign outputs, if the settings ask for it. It returns an error if that isn't possible.
func (c *serveCommand) sign(ctx context.Context, d *deployment) error {
	if c.ProvenanceCertificate == "" && c.ProvenanceKey == "" {
		if c.RequireProvenance {
			return fmt.Errorf("%s needs %s and %s", settings.RequireProvenance.Flag(), settings.ProvenanceCertificate.Flag(), settings.ProvenanceKey.Flag())
		}
		return nil
	}
	if c.ProvenanceCertificate == "" || c.ProvenanceKey == "" {
		return fmt.Errorf("%s and %s belong together", settings.ProvenanceCertificate.Flag(), settings.ProvenanceKey.Flag())
	}
	signer, err := c2pa.Find(ctx, c.ProvenanceCertificate, c.ProvenanceKey, d.worker.Scratch)
	if err != nil {
		return err
	}
	d.worker.Signer = signer
	return nil
}
