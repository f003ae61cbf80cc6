package main

import (
	"testing"

	"lipsync/internal/test/awstest"
)

// TestSmall runs the step of make aws-smoke in which the function does a small request, and gives a large one back, which a job does.
func TestSmall(t *testing.T) {
	d := newDeploymentWith(t, awstest.Own(t), "", 2)
	t.Cleanup(d.close)
	s := d.smoked(t)
	s.Draw(t)
	stepOf(t, "pools").Try(t, s)
	if _, failed := d.Small.Counts(); failed > 0 {
		t.Errorf("%d small workers failed", failed)
	}
	if n := d.Batch.Started(); n != 1 {
		t.Errorf("%d jobs started, want one, for the large request", n)
	}
}
