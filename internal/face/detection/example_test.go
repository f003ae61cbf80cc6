package detection_test

import (
	"fmt"
	"image"

	"lipsync/internal/face/detection"
)

// Detectors find one face several times. Two boxes that overlap enough are of one face.
func ExampleBox_Same() {
	face := detection.Box{X: 200, Y: 150, Size: 100}
	fmt.Println(face.Same(detection.Box{X: 210, Y: 155, Size: 110}))
	fmt.Println(face.Same(detection.Box{X: 320, Y: 150, Size: 100}))
	// Output:
	// true
	// false
}

// A face at the edge of the frame counts as long as enough of it can be seen.
func ExampleBox_Inside() {
	frame := image.Rect(0, 0, 640, 360)
	fmt.Println(detection.Box{X: 320, Y: 180, Size: 100}.Inside(frame))
	fmt.Println(detection.Box{X: 0, Y: 0, Size: 100}.Inside(frame))
	// Output:
	// true
	// false
}
