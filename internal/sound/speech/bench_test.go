package speech

import (
	"bytes"
	"io"
	"testing"
)

// BenchmarkRead analyses ten seconds of sound.
func BenchmarkRead(b *testing.B) {
	sound, err := io.ReadAll(samples(babble(10)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(sound)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkArticulation hears the articulation of ten seconds of sound.
func BenchmarkArticulation(b *testing.B) {
	s, err := Read(samples(babble(10)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Articulation()
	}
}
