package speech

import (
	"bytes"
	"io"
	"testing"

	"lipsync/internal/test/check"
)

// BenchmarkRead analyses ten seconds of sound.
func BenchmarkRead(b *testing.B) {
	sound, err := io.ReadAll(samples(babble(10)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(sound), check.Scratch(b)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkArticulation hears the articulation of ten seconds of sound.
func BenchmarkArticulation(b *testing.B) {
	s, err := Read(samples(babble(10)), check.Scratch(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		check.Must(b, s.Articulation(func(Articulation) {}))
	}
}
