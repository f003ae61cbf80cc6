package geom_test

import (
	"fmt"

	"lipsync/internal/signal/geom"
)

// Two pupils fix where a face lies: here it is twice as large, and turned by a right angle.
func ExampleFit() {
	canonical := []geom.Point{{X: 0, Y: 0}, {X: 1, Y: 0}}
	seen := []geom.Point{{X: 100, Y: 50}, {X: 100, Y: 52}}
	s := geom.Fit(canonical, seen)
	mouth := s.Apply(geom.Point{X: .5, Y: 1})
	fmt.Printf("scale %.0f, mouth at %.0f, %.0f\n", s.Scale(), mouth.X, mouth.Y)
	back := s.Inverse().Apply(mouth)
	fmt.Printf("back at %.1f, %.1f\n", back.X, back.Y)
	// Output:
	// scale 2, mouth at 98, 51
	// back at 0.5, 1.0
}
