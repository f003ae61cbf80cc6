package lipsync

import (
	"slices"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// CheckProvenance returns an error with the failure NotSignable if every output must be signed, and this one can't be.
func (s *Service) CheckProvenance(o order.Output) error {
	if s.RequireProvenance && !o.Format.Signable() {
		return failure.Failure{Code: failure.NotSignable}.Because(nil)
	}
	return nil
}

// Unsigned reports whether the request's output has no signed manifest although the service signs outputs and this one can be signed.
func (r Request) Unsigned() bool {
	return r.Options.Output.Format.Signable() && r.Size <= order.MostSigned && r.warned(order.NotSigned)
}

// Provenance returns the standard of the output's signed manifest, c2pa, or "" if it has none.
func (r Request) Provenance() string {
	if r.warned(order.Signed) {
		return "c2pa"
	}
	return ""
}

func (r Request) warned(w order.Warnings) bool {
	return slices.Contains(strings.Fields(string(r.Warnings)), string(w))
}
