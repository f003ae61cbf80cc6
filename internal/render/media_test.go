package render

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/render/rendertest"
	"lipsync/internal/test/ffmpegtest"
)

// TestMedia checks that the tools of the machine and their twin for tests do the same with a video of 20 numbered frames and a tone of .6 s.
func TestMedia(t *testing.T) {
	clip := rendertest.Numbered(ffmpeg.Rate{Num: 25, Den: 1}, 20)
	clip.Samples = rendertest.Tone(.8, .1)
	for name, c := range map[string]struct {
		media         Media
		video, speech string
	}{
		"tools": {ffmpegtest.Tools(t), ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-f", "lavfi", "-i", "sine=d=0.8:r=16000", "-c:a", "flac"), sound(t, "a.wav", "0.6")},
		"twin":  {rendertest.Media{}, clip.File(t, "video"), tone(t, "0.6")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := t.Context(), t.TempDir()
			probe := func(path string) *ffmpeg.Info {
				t.Helper()
				in, err := c.media.Probe(ctx, path)
				if err != nil {
					t.Fatal(err)
				}
				return in
			}
			want := func(what string, got, want any) {
				t.Helper()
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: got %v, want %v", what, got, want)
				}
			}
			in, speech := probe(c.video), probe(c.speech)
			want("size, rate and lengths", []any{in.Video.Width, in.Video.Height, in.Video.Rate, in.Video.Stated.Round(ms(40)), in.Duration.Round(ms(40)), speech.Duration.Round(ms(10)), speech.Video},
				[]any{160, 96, "25/1", ms(800), ms(800), ms(600), (*ffmpeg.Video)(nil)})

			read := func(f ffmpeg.Frames, err error) (all []int) {
				t.Helper()
				for frame := in.Video.NewFrame(); err == nil; {
					if err = f.Read(frame); err == nil {
						all = append(all, ffmpegtest.Number(frame, 0))
					}
				}
				if err != io.EOF {
					t.Fatal(err)
				}
				f.Close()
				return all
			}
			counted := func(from, to int) (all []int) {
				for n := from; n < to; n++ {
					all = append(all, n)
				}
				return all
			}
			want("some frames", read(c.media.OpenFrames(ctx, in, 7)), counted(0, 7))
			want("all frames", read(c.media.OpenFrames(ctx, in, 100)), counted(0, 20))
			want("frames after a seek", read(c.media.OpenFramesAt(ctx, in, 3, 9)), counted(3, 9))
			part := *in
			part.Begin = ms(200)
			want("frames of a part", read(c.media.OpenFrames(ctx, &part, 100)), counted(5, 20))
			want("frames of a part after a seek", read(c.media.OpenFramesAt(ctx, &part, 3, 9)), counted(8, 14))
			half := *in
			video := *in.Video
			video.Rate, video.Resampled = ffmpeg.RateOf(12500), true
			half.Video = &video
			want("frames at half the rate", len(read(c.media.OpenFrames(ctx, &half, 100))), 10)

			own, err := c.media.OpenSound(ctx, &part, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			samples, err := io.ReadAll(own)
			want("the video's own sound", []any{len(samples), err, own.Close()}, []any{2 * 9600, nil, nil})
			encoded := filepath.Join(dir, "speech.m4a")
			n, err := c.media.Transcode(ctx, speech, encoded, io.Discard, time.Hour)
			want("the speech", []any{n, err}, []any{9600, nil})
			n, err = c.media.TranscodeTo(ctx, speech, encoded, io.Discard, ms(400))
			want("a part of the speech", []any{n, err}, []any{6400, nil})
			n, err = c.media.TranscodeTo(ctx, speech, encoded, io.Discard, ms(800))
			want("the speech and silence", []any{n, err}, []any{12800, nil})
			n, err = c.media.CountSamples(ctx, speech, ms(500))
			want("counted", []any{n, err}, []any{8000, nil})

			encode := func(sound, path string, numbers []int) string {
				t.Helper()
				path = filepath.Join(dir, path)
				e, err := c.media.Encode(ctx, in.Video, lipsync.Output{}, sound, path)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range numbers {
					frame := in.Video.NewFrame()
					ffmpegtest.Draw(frame, 0, n)
					if err := e.WritePixels(ffmpeg.Bytes(frame)); err != nil {
						t.Fatal(err)
					}
				}
				if err := e.Finish(); err != nil {
					t.Fatal(err)
				}
				return path
			}
			check := func(path string) {
				t.Helper()
				made := probe(path)
				want("frames of "+path, read(c.media.OpenFrames(ctx, made, 100)), counted(0, 20))
				if made.Audio == nil || made.Duration.Round(ms(100)) != ms(800) {
					t.Errorf("%s: got %v, want sound", path, made.Duration)
				}
			}
			check(encode(encoded, "whole.mp4", counted(0, 20)))
			first, reel := encode(encoded, "first.mp4", counted(0, 12)), filepath.Join(dir, "reel.mp4")
			if err := c.media.TakeReel(ctx, in.Video, lipsync.Output{}, first, reel); err != nil {
				t.Fatal(err)
			}
			reels := []ffmpeg.Reel{{Path: reel, Frames: 12}, {Path: encode("", "second.mp4", counted(12, 20)), Frames: 8}}
			joined := filepath.Join(dir, "joined.mp4")
			if err := c.media.Join(ctx, in.Video, lipsync.Output{}, reels, encoded, joined); err != nil {
				t.Fatal(err)
			}
			check(joined)
			_, err = c.media.Probe(ctx, write(t, "text", []byte("no clip")))
			if !errors.Is(err, ffmpeg.ErrUnsupported) {
				t.Errorf("text: got %v, want %v", err, ffmpeg.ErrUnsupported)
			}
		})
	}
}
