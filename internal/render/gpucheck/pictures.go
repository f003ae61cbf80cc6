package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
)

// onGPU returns tools with which the GPU encodes, if it can.
func (m *Machine) onGPU(ctx context.Context) *ffmpeg.Tools {
	if m.gpu == nil {
		t := *m.Tools
		if m.NVIDIA {
			t.UseNVIDIA(ctx, slog.New(&m.without))
		}
		m.gpu = &t
	}
	return m.gpu
}

// warnings is a log whose entries are sentences: each is the message with the first line of the error.
type warnings []string

// warning is held while an entry is added: several jobs may log at once.
var warning sync.Mutex

var _ slog.Handler = (*warnings)(nil)

func (w *warnings) Enabled(context.Context, slog.Level) bool { return true }

func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	said := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			first, _, _ := strings.Cut(a.Value.String(), "\n")
			said += ": " + first
		}
		return true
	})
	warning.Lock()
	defer warning.Unlock()
	*w = append(*w, said)
	return nil
}

func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *warnings) WithGroup(string) slog.Handler { return w }

// about returns the first sentence with a text, or "" if there is none.
func (w warnings) about(text string) string {
	for _, said := range w {
		if strings.Contains(said, text) {
			return said
		}
	}
	return ""
}

func decibels(n float64) string {
	if math.IsInf(n, 1) {
		return "equal"
	}
	return fmt.Sprintf("%.1f", n)
}

// ffmpeg runs the program ffmpeg.
func (m *Machine) ffmpeg(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, m.Tools.FFmpeg, append([]string{"-v", "error", "-nostdin", "-y"}, args...)...).CombinedOutput()
	if err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

const encodingWhat = "With the settings of the service the GPU's encoder keeps as near to the source as libx264: " +
	"PSNR and SSIM are at most 1 dB lower, which is one step of the quantiser, with at most 1.25 times its bits. " +
	"The last size is the smallest that the GPU gets."

// The GPU's encoder may differ from libx264 by so much.
const (
	lower  = 1.   // dB of PSNR and of SSIM, lower
	larger = 1.25 // times the bits
)

// encoded describes the file that an encoder made of a video.
type encoded struct {
	likeness       // to the video
	bytes    int64 // size of the file, which holds little besides the pictures
}

// kbit returns the kilobits of a frame.
func (e *encoded) kbit() float64 { return float64(8*e.bytes) / 1000 / float64(e.frames) }

// keepsTo returns an error if the file of the GPU is farther from the source than that of
// the CPU, or takes more bits.
func (e *encoded) keepsTo(cpu *encoded) error {
	if !(e.psnr() >= cpu.psnr()-lower && e.decibels() >= cpu.decibels()-lower) {
		return fmt.Errorf("PSNR is %.1f dB and SSIM %.1f dB, and on the CPU %.1f dB and %.1f dB", e.psnr(), e.decibels(), cpu.psnr(), cpu.decibels())
	}
	if !(e.kbit() <= larger*cpu.kbit()) {
		return fmt.Errorf("a frame takes %.1f kbit, and on the CPU %.1f kbit", e.kbit(), cpu.kbit())
	}
	return nil
}

// encoding compares the files that both encoders make of the video.
func (m *Machine) encoding(ctx context.Context) (rows [][]string, err error) {
	dir, err := m.folder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	small := filepath.Join(dir, "small.mp4")
	if err := m.ffmpeg(ctx, "-i", m.Video, "-an", "-vf", "scale=160:160", "-crf", "10", small); err != nil {
		return nil, err
	}
	if m.NVIDIA && !m.encodes(ctx) {
		return [][]string{{"", notChecked + m.without.about("encodes")}}, nil
	}
	for _, source := range []string{m.Video, small} {
		var both [2]encoded // on the CPU, and on the GPU
		for i, tools := range []*ffmpeg.Tools{m.Tools, m.onGPU(ctx)} {
			row, e := []string(nil), error(nil)
			both[i], row, e = m.encode(ctx, tools, source, dir)
			rows = append(rows, row)
			if e != nil {
				return rows, errors.Join(err, fmt.Errorf("%s: %w", row[0], e))
			}
		}
		if e := both[1].keepsTo(&both[0]); e != nil {
			err = errors.Join(err, fmt.Errorf("of %s, %w", filepath.Base(source), e))
		}
	}
	return rows, err
}

// encode encodes the frames of a video and compares them with it.
func (m *Machine) encode(ctx context.Context, tools *ffmpeg.Tools, source, dir string) (e encoded, row []string, err error) {
	row = []string{"?"}
	info, err := tools.Probe(ctx, source)
	if err != nil {
		return e, row, err
	}
	row = []string{tools.EncoderArgs(info.Video, order.Output{})[1], fmt.Sprintf("%d×%d", info.Video.Width, info.Video.Height)}
	sound, output := filepath.Join(dir, "silence.wav"), filepath.Join(dir, "out.mp4")
	if err := m.ffmpeg(ctx, "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "0.1", sound); err != nil {
		return e, row, err
	}
	encoder, err := tools.Encode(ctx, info.Video, order.Output{}, sound, output)
	if err != nil {
		return e, row, err
	}
	started := time.Now()
	if err := m.each(ctx, source, encoder.Write); err != nil {
		encoder.Abort()
		return e, row, err
	}
	if err := encoder.Finish(); err != nil {
		return e, row, err
	}
	took := time.Since(started)
	if e.likeness, err = m.liken(ctx, source, output); err != nil {
		return e, row, err
	}
	file, err := os.Stat(output)
	if err != nil {
		return e, row, err
	}
	e.bytes = file.Size()
	return e, append(row, decibels(e.psnr()), decibels(e.decibels()), fmt.Sprintf("%.1f", e.kbit()), fmt.Sprintf("%.0f", float64(e.frames)/took.Seconds())), nil
}

// each decodes a video and calls f with each frame.
func (m *Machine) each(ctx context.Context, path string, f func(*image.YCbCr) error) error {
	frames, frame, err := m.frames(ctx, path)
	if err != nil {
		return err
	}
	defer frames.Close()
	for {
		if err := frames.Read(frame); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := f(frame); err != nil {
			return err
		}
	}
}
