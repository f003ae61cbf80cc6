//go:build cgo

package onnx

import "time"

// OnThread lets a session of the CPU run on a thread of its own, as those of GPUs do.
func (s *Session) OnThread() { s.thread = newThread() }

// SetLongest bounds the session's runs, for tests that don't wait for minutes.
func (s *Session) SetLongest(d time.Duration) { s.longest = d }
