package measure

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"lipsync/internal/media/demo"
)

// Sample makes the sample video of the demo, with a height in pixels, and its speech. Both
// are repeated to a length in seconds, and written to the folder dir.
func Sample(ctx context.Context, dir string, height, seconds int) (video, speech string, err error) {
	drawn, spoken := filepath.Join(dir, "drawn.mp4"), filepath.Join(dir, "spoken.wav")
	video, speech = filepath.Join(dir, "video.mp4"), filepath.Join(dir, "audio.wav")
	if err := demo.Video(ctx, drawn, demo.Frames, 1, func(int) {}); err != nil {
		return "", "", err
	}
	if err := demo.Speech(ctx, spoken); err != nil {
		return "", "", err
	}
	length := fmt.Sprint(seconds)
	if err := repeat(ctx, drawn, length, "-preset", "veryfast", "-crf", "18", "-vf", fmt.Sprintf("scale=-2:%d", height), video); err != nil {
		return "", "", err
	}
	return video, speech, repeat(ctx, spoken, length, speech)
}

// repeat lets ffmpeg repeat a file to a length in seconds. args end with the file to write.
func repeat(ctx context.Context, file, seconds string, args ...string) error {
	args = append([]string{"-v", "error", "-nostdin", "-y", "-stream_loop", "-1", "-i", file, "-t", seconds}, args...)
	if out, err := exec.CommandContext(ctx, "ffmpeg", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
