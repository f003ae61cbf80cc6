// Package speech turns a speech track into what a mouth has to do.
package speech

import "io"

// SampleRate is the rate of the samples that Read takes, in Hz.
const SampleRate = 16000

// Speech is what is known of a speech track.
type Speech struct{}

// Read analyses 16-bit little-endian mono samples at SampleRate until EOF.
func Read(r io.Reader) (*Speech, error) { panic("todo") }
