package render

import (
	"cmp"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// TestLimitsOfOutputs renders videos over a limit whose outputs keep it. An output over the limit is refused.
func TestLimitsOfOutputs(t *testing.T) {
	const numbered = ffmpegtest.Width * ffmpegtest.Height
	fast := ffmpegtest.Make(t, "f.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-r", "240")
	wide := ffmpegtest.Make(t, "w.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-vf", "scale=320:192")
	unstated := ffmpegtest.Make(t, "n.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 40), "-f", "matroska", "-live", "1")
	long := ffmpegtest.Make(t, "l.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 100))
	for name, c := range map[string]struct {
		video string
		asked order.Options
		want  failure.Reason
		most  float64 // pixels of all frames; 0 for many
	}{
		"240 frames a second":                   {video: fast, want: failure.FrameRateAbove},
		"240 frames a second, of which 30":      {video: fast, asked: order.Options{Output: order.Output{FPS: 30000}}},
		"too wide":                              {video: wide, want: failure.PictureLargerThan},
		"too wide, with a width":                {video: wide, asked: order.Options{Output: order.Output{Width: 160}}},
		"too long":                              {video: long, want: failure.MediaLongerThan},
		"too long, of which a part is rendered": {video: long, asked: order.Options{Preview: order.Preview{Start: time.Second, Length: 500 * time.Millisecond}}},

		"as many pixels as may be":             {video: wide, asked: order.Options{Output: order.Output{Width: 160}}, most: 20*320*192 + 48*160*96},
		"too many pixels":                      {video: wide, asked: order.Options{Output: order.Output{Width: 160}}, most: 20*320*192 + 48*160*96 - 1, want: failure.TooManyPixels},
		"as many frames of the file as may be": {video: fast, asked: order.Options{Output: order.Output{FPS: 30000}}, most: (24*8 + 57) * numbered},
		"too many frames of the file":          {video: fast, asked: order.Options{Output: order.Output{FPS: 30000}}, most: (24*8+57)*numbered - 1, want: failure.TooManyPixels},
		"no stated length":                     {video: unstated, asked: order.Options{SyncMode: order.Pad}, most: 88 * numbered},
		"too many pixels, no stated length":    {video: unstated, asked: order.Options{SyncMode: order.Pad}, most: 87 * numbered, want: failure.TooManyPixels},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRenderer(t, &numberer{})
			r.Limits.Width, r.Limits.Duration, r.Limits.Gigapixels = 200, 2*time.Second, cmp.Or(c.most/1e9, 2000)
			job := Job{Video: c.video, Audio: sound(t, "a.wav", "1.9"), Output: t.TempDir() + "/o.mp4", Scratch: t.TempDir(), Options: c.asked}
			if _, err := r.Render(t.Context(), job, nil); (err == nil) != (c.want == "") || err != nil && failure.Of(err).Code != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
