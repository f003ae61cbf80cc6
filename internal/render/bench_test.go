package render

import (
	"image"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/footage"
	"lipsync/internal/test/ffmpegtest"
)

// benchSizes runs f with four seconds of a moving picture of each size.
func benchSizes(b *testing.B, f func(b *testing.B, tools *ffmpeg.Tools, video *medium.Info)) {
	for _, size := range []string{"1280x720", "1920x1080"} {
		b.Run(size, func(b *testing.B) {
			tools := ffmpegtest.Tools(b)
			path := ffmpegtest.Make(b, "a.mp4", "-f", "lavfi", "-i", "testsrc2=d=4:r=25:s="+size)
			info, err := tools.Probe(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			f(b, tools, info)
		})
	}
}

// report reports the number of frames per second.
func report(b *testing.B, frames int) {
	b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkDecode(b *testing.B) {
	benchSizes(b, func(b *testing.B, tools *ffmpeg.Tools, video *medium.Info) {
		frame, n := video.Video.NewFrame(), 0
		for b.Loop() {
			frames, err := tools.OpenFrames(b.Context(), video, 100)
			if err != nil {
				b.Fatal(err)
			}
			for frames.Read(frame) == nil {
				n++
			}
			frames.Close()
		}
		report(b, n)
	})
}

func BenchmarkEncode(b *testing.B) {
	benchSizes(b, func(b *testing.B, tools *ffmpeg.Tools, video *medium.Info) {
		frames, err := tools.OpenFrames(b.Context(), video, 25)
		if err != nil {
			b.Fatal(err)
		}
		defer frames.Close()
		var moving []*image.YCbCr
		for range 25 {
			frame := video.Video.NewFrame()
			if err := frames.Read(frame); err != nil {
				b.Fatal(err)
			}
			moving = append(moving, frame)
		}
		wav, n := sound(b, "a.wav", "4"), 0
		for b.Loop() {
			encoder, err := tools.Encode(b.Context(), video.Video, order.Output{}, wav, filepath.Join(b.TempDir(), "o.mp4"))
			if err != nil {
				b.Fatal(err)
			}
			line := footage.NewTimeline(order.Bounce, len(moving), 100, nil)
			for o := range line.Frames {
				if err := encoder.Write(moving[line.Source(o)]); err != nil {
					b.Fatal(err)
				}
			}
			if err := encoder.Finish(); err != nil {
				b.Fatal(err)
			}
			n += line.Frames
		}
		report(b, n)
	})
}
