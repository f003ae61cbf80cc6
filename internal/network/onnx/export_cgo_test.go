//go:build cgo

package onnx

import "time"

// SetLongest bounds the session's runs, for tests that don't wait for minutes.
func (s *Session) SetLongest(d time.Duration) { s.longest = d }
