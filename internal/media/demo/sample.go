package demo

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// text is the text that the head says.
const text = "Hello! I am only a drawing, and a moment ago I could not speak. Now my lips follow every word."

// Video draws the first n frames of the sample video into a new file, with their width and height divided by shrink. It calls progress after
// each.
func Video(ctx context.Context, path string, n, shrink int, progress func(done int)) error {
	encoder := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-y",
		"-f", "rawvideo", "-pixel_format", "rgba", "-video_size", fmt.Sprintf("%dx%d", frameWidth/shrink, frameHeight/shrink),
		"-framerate", fmt.Sprint(fps), "-i", "pipe:0",
		"-c:v", "libx264", "-preset", "veryfast", "-crf", "14", "-pix_fmt", "yuv420p", path)
	pictures, err := encoder.StdinPipe()
	if err != nil {
		return err
	}
	return run(encoder, func() error {
		defer pictures.Close()
		for i := range n {
			if _, err := pictures.Write(frame(i, shrink).Pix); err != nil {
				return err
			}
			progress(i + 1)
		}
		return nil
	})
}

// Speech speaks the sample text into a new WAV file.
func Speech(ctx context.Context, path string) error {
	return run(exec.CommandContext(ctx, "espeak-ng", "-v", "en-us", "-s", "155", "-w", path, text), nil)
}

// columns is the number of moments in a Picture.
const columns = 6

// Picture puts frames of two videos into one PNG file: those of before above those of after, at
// the same moments of the first seconds.
func Picture(ctx context.Context, before, after, path string) error {
	sheet := fmt.Sprintf("fps=3,trim=start_frame=1:end_frame=%d,crop=360:450:460:110,tile=%dx1:padding=6", columns+1, columns)
	filter := fmt.Sprintf("[0:v]%s[a];[1:v]%s[b];[a][b]vstack", sheet, sheet)
	return run(exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-y",
		"-i", before, "-i", after, "-filter_complex", filter, "-frames:v", "1", path), nil)
}

// run runs a command and feed at the same time, until both have ended. If either fails, the error
// has what the command wrote to standard error.
func run(c *exec.Cmd, feed func() error) error {
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		return err
	}
	var fed error
	if feed != nil {
		fed = feed()
	}
	// If the command stopped reading, its own error is the cause and comes first.
	if err := c.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", c.Args[0], err, strings.TrimSpace(said.String()))
	}
	return fed
}
