package render

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
)

// mediaTest is a test of media with a video of 20 numbered frames and a sound of .8 s, and a tone of .6 s.
type mediaTest struct {
	*testing.T
	media         Media
	video, speech *medium.Info
}

// TestMedia checks that the tools of the machine and their twin for tests do the same.
func TestMedia(t *testing.T) {
	clip := rendertest.Numbered(medium.Rate{Num: 25, Den: 1}, 20)
	clip.Samples = rendertest.Tone(.8, .1)
	film := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-f", "lavfi", "-i", "sine=d=0.8:r=16000", "-c:a", "flac")
	for name, c := range map[string]struct {
		media         Media
		video, speech string
	}{
		"tools": {ffmpegtest.Tools(t), film, sound(t, "a.wav", "0.6")},
		"twin":  {rendertest.Media{}, clip.File(t, "video"), tone(t, "0.6")},
	} {
		t.Run(name, func(t *testing.T) {
			m := mediaTest{T: t, media: c.media}
			m.video, m.speech = m.probe(c.video), m.probe(c.speech)
			v := m.video.Video
			m.want("size and rate", []any{v.Width, v.Height, v.Rate}, []any{160, 96, "25/1"})
			m.want("lengths", []any{v.Stated.Round(ms(40)), m.video.Duration.Round(ms(40)), m.speech.Duration.Round(ms(10))}, []any{ms(800), ms(800), ms(600)})
			if _, err := c.media.Probe(t.Context(), write(t, "text", []byte("no clip"))); !errors.Is(err, medium.ErrUnsupported) || m.speech.Video != nil {
				t.Errorf("text: got %v, want %v; a tone has the pictures %v", err, medium.ErrUnsupported, m.speech.Video)
			}
			m.reads()
			m.hears()
			m.writes()
		})
	}
}

func (m mediaTest) want(what string, got, want any) {
	m.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		m.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (m mediaTest) probe(path string) *medium.Info {
	m.Helper()
	in, err := m.media.Probe(m.Context(), path)
	if err != nil {
		m.Fatal(err)
	}
	return in
}

// numbers returns the numbers of frames.
func (m mediaTest) numbers(f ffmpeg.Frames, err error) (all []int) {
	m.Helper()
	for frame := m.video.Video.NewFrame(); err == nil; {
		if err = f.Read(frame); err == nil {
			all = append(all, ffmpegtest.Number(frame, 0))
		}
	}
	if err != io.EOF {
		m.Fatal(err)
	}
	f.Close()
	return all
}

// count returns the numbers in [from, to).
func count(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

// reads reads frames.
func (m mediaTest) reads() {
	ctx, part, half, video := m.Context(), *m.video, *m.video, *m.video.Video
	part.Begin = ms(200)
	video.Rate, video.KeepsLast = medium.RateOf(12500), true
	half.Video = &video
	m.want("some frames", m.numbers(m.media.OpenFrames(ctx, m.video, 7)), count(0, 7))
	m.want("all frames", m.numbers(m.media.OpenFrames(ctx, m.video, 100)), count(0, 20))
	m.want("frames after a seek", m.numbers(m.media.OpenFramesAt(ctx, m.video, 3, 9)), count(3, 9))
	m.want("frames of a part", m.numbers(m.media.OpenFrames(ctx, &part, 100)), count(5, 20))
	m.want("frames of a part after a seek", m.numbers(m.media.OpenFramesAt(ctx, &part, 3, 9)), count(8, 14))
	m.want("frames at half the rate", len(m.numbers(m.media.OpenFrames(ctx, &half, 100))), 10)
}

// write writes the sound of a file for outputs.
func (m mediaTest) write(in *medium.Info, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = m.media.Samples(m.Context(), in, io.Discard, file, time.Hour)
	return errors.Join(err, file.Close())
}

// hears reads and writes sound.
func (m mediaTest) hears() {
	ctx, path, part := m.Context(), filepath.Join(m.TempDir(), "speech.wav"), *m.video
	part.Begin = ms(200)
	own, err := m.media.OpenSound(ctx, &part, time.Hour)
	if err != nil {
		m.Fatal(err)
	}
	samples, err := io.ReadAll(own)
	m.want("the video's own sound", []any{len(samples), err, own.Close()}, []any{2 * 9600, nil, nil})
	length := func(err error) any {
		if err != nil {
			return err
		}
		return m.probe(path).Duration.Round(ms(1))
	}
	m.want("the speech", length(m.write(m.speech, path)), ms(600))
	m.want("a part of the speech", length(m.media.Fit(path, ms(400))), ms(400))
	m.want("the part and silence", length(m.media.Fit(path, ms(800))), ms(800))
	n, err := m.media.Samples(ctx, m.speech, io.Discard, io.Discard, ms(500))
	m.want("counted samples", []any{n, err}, []any{8000, nil})
}

// writes writes an output at once, and joins one of two pieces.
func (m mediaTest) writes() {
	ctx, dir, v := m.Context(), m.TempDir(), m.video.Video
	sound, encoded := filepath.Join(dir, "speech.wav"), filepath.Join(dir, "speech.m4a")
	if err := errors.Join(m.write(m.video, sound), m.media.EncodeSound(ctx, order.Output{}, sound, encoded)); err != nil {
		m.Fatal(err)
	}
	encode := func(sound, name string, numbers []int) string {
		m.Helper()
		path := filepath.Join(dir, name)
		e, err := m.media.Encode(ctx, v, order.Output{}, sound, path)
		if err != nil {
			m.Fatal(err)
		}
		for _, n := range numbers {
			frame := v.NewFrame()
			ffmpegtest.Draw(frame, 0, n)
			err = errors.Join(err, e.WritePixels(medium.Bytes(frame)))
		}
		if err := errors.Join(err, e.Finish()); err != nil {
			m.Fatal(err)
		}
		return path
	}
	first, reel, joined := encode(sound, "first.mp4", count(0, 12)), filepath.Join(dir, "reel.mp4"), filepath.Join(dir, "joined.mp4")
	err := m.media.TakeReel(ctx, v, order.Output{}, first, reel)
	reels := []ffmpeg.Reel{{Path: reel, Frames: 12}, {Path: encode("", "second.mp4", count(12, 20)), Frames: 8}}
	if err := errors.Join(err, m.media.Join(ctx, v, order.Output{}, reels, encoded, joined)); err != nil {
		m.Fatal(err)
	}
	for _, path := range []string{encode(sound, "whole.mp4", count(0, 20)), joined} {
		made := m.probe(path)
		m.want("frames of "+path, m.numbers(m.media.OpenFrames(ctx, made, 100)), count(0, 20))
		if made.Audio == nil || made.Duration.Round(ms(100)) != ms(800) {
			m.Errorf("%s: got %v, want sound", path, made.Duration)
		}
	}
}
