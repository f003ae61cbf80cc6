package render

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
)

// TestRefuse blames no file for a disk that was full while it was decoded, nor for a
// program that the system killed, or gave no time.
func TestRefuse(t *testing.T) {
	full := fmt.Errorf("ffmpeg: exit status 228: %w", syscall.ENOSPC)
	for _, c := range []struct {
		cause error
		want  lipsync.FailureCode
	}{
		{nil, lipsync.MediaUnsupported},
		{errors.New("ffmpeg: exit status 1: invalid data"), lipsync.MediaUnsupported},
		{full, lipsync.HostFailing},
		{fmt.Errorf("ffmpeg: %w: signal: killed", ffmpeg.ErrKilled), lipsync.InternalFault},
		{fmt.Errorf("read frame: %w: i/o timeout", ffmpeg.ErrStarved), lipsync.InternalFault},
	} {
		if got := lipsync.FailureOf(unsupported(lipsync.Audio, c.cause)).Code; got != c.want {
			t.Errorf("%v: got %s, want %s", c.cause, got, c.want)
		}
	}
}
