package ffmpeg_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/media/ffmpeg"
)

// TestRefuse checks that no file is at fault if the disk was full while it was decoded, or if a
// program couldn't be run, was killed by the system, or got no processor time.
func TestRefuse(t *testing.T) {
	full := fmt.Errorf("ffmpeg: exit status 228: %w", syscall.ENOSPC)
	for _, c := range []struct {
		cause error
		want  failure.Reason
	}{
		{nil, failure.MediaUnsupported},
		{errors.New("ffmpeg: exit status 1: invalid data"), failure.MediaUnsupported},
		{full, failure.HostFailing},
		{fmt.Errorf("ffmpeg: %w: signal: killed", ffmpeg.ErrKilled), failure.InternalFault},
		{fmt.Errorf("start ffmpeg: %w: not found", ffmpeg.ErrNotRun), failure.InternalFault},
		{fmt.Errorf("read frame: %w: i/o timeout", ffmpeg.ErrStarved), failure.InternalFault},
	} {
		if got := failure.Of(ffmpeg.Unsupported(failure.Audio, c.cause)).Code; got != c.want {
			t.Errorf("%v: got %s, want %s", c.cause, got, c.want)
		}
	}
}
