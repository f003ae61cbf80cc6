package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/footage"
	"lipsync/internal/test/ffmpegtest"
)

// TestSyncModes renders a video of 20 frames with shorter and longer tones, and checks what each output frame shows, and what is
// heard.
func TestSyncModes(t *testing.T) {
	const fps, length = 25, 20
	video := numbered(t, "25", length)
	for _, c := range []struct {
		name   string
		mode   order.SyncMode
		speech int // frames
		frames int
	}{
		{"loop, longer speech", order.Loop, 47, 47},
		{"loop, shorter speech", order.Loop, 8, 8},
		{"cut off, longer speech", order.CutOff, 47, length},
		{"cut off, shorter speech", order.CutOff, 8, 8},
		{"silence, longer speech", order.Pad, 47, 47},
		{"silence, shorter speech", order.Pad, 8, length},
		{"remap, slower", order.Remap, 40, 40},
		{"remap, faster", order.Remap, 10, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			engine := &numberer{}
			tone := tone(t, fmt.Sprint(float64(c.speech)/fps))
			output, result, err := renderBy(t, inMemory(t, engine), video, tone, order.Options{SyncMode: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			source, painted, info := numbers(t, output)
			if f := result.Frames; len(source) != c.frames || f.Total != c.frames || f.Synced != c.frames || len(engine.out.Spoken) != c.frames {
				t.Fatalf("%d frames, told %+v, with the articulation of %d, want %d", len(source), f, len(engine.out.Spoken), c.frames)
			}
			if want := time.Duration(c.frames) * time.Second / fps; result.Length != want {
				t.Errorf("told of %v, want %v", result.Length, want)
			}
			line := footage.NewTimeline(c.mode, length, c.speech, nil)
			for i := range source {
				if source[i] != line.Source(i) || painted[i] != i {
					t.Errorf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], line.Source(i), i)
				}
			}
			if got, want := len(engine.seen), min(length, map[order.SyncMode]int{order.Pad: length, order.Remap: length}[c.mode]+c.speech); got != want {
				t.Errorf("%d frames were analysed, want %d", got, want)
			}
			checkSound(t, info, float64(c.frames)/fps, float64(min(c.frames, c.speech))/fps)
		})
	}
}

// TestSyncModesWithinFrames renders a video of 20 frames at 30000/1001 frames/s, in which no tone ends with a frame: one lasts
// 28.5 frames, the other 10.5. The last, partial frame of a tone is shown.
func TestSyncModesWithinFrames(t *testing.T) {
	const fps = 30000. / 1001
	video := numbered(t, "30000/1001", 20)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	for _, c := range []struct {
		mode    order.SyncMode
		seconds float64 // length of the tone
		sources []int
	}{
		{order.Bounce, .95, slices.Concat(all, []int{18, 17, 16, 15, 14, 13, 12, 11, 10})},
		{order.Loop, .95, slices.Concat(all, all[:9])},
		{order.CutOff, .95, all},
		{order.CutOff, .35, all[:11]},
		{order.Pad, .95, slices.Concat(all, []int{19, 19, 19, 19, 19, 19, 19, 19, 19})},
		{order.Pad, .35, all},
		{order.Remap, .35, []int{0, 2, 4, 6, 8, 10, 11, 13, 15, 17, 19}},
	} {
		t.Run(fmt.Sprintf("%s, %.2f s", c.mode, c.seconds), func(t *testing.T) {
			t.Parallel()
			tone := tone(t, fmt.Sprint(c.seconds))
			output, result, err := renderBy(t, inMemory(t, &numberer{}), video, tone, order.Options{SyncMode: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			got, painted, info := numbers(t, output)
			if !slices.Equal(got, c.sources) || len(painted) != result.Frames.Total {
				t.Errorf("got the sources %v, told of %d frames, want %v", got, result.Frames.Total, c.sources)
			}
			if rate := info.Video.Rate.String(); rate != "30000/1001" {
				t.Errorf("got %s frames/s, want 30000/1001", rate)
			}
			length := float64(len(c.sources)) / fps
			checkSound(t, info, length, min(length, c.seconds))
		})
	}
}

// checkSound checks that an output's sound has a length in seconds, and that a tone is heard from its beginning to toneEnd and no
// longer.
func checkSound(t *testing.T, info *medium.Info, length, toneEnd float64) {
	t.Helper()
	const block, edge = .02, .06 // seconds; the codec smears the edge
	stream, err := mediaOf(t, info.Path).OpenSound(t.Context(), info, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := io.ReadAll(stream)
	if err != nil || stream.Close() != nil {
		t.Fatal(err)
	}
	samples := func(seconds float64) int { return int(math.Round(seconds * ffmpeg.PCMRate)) }
	if got := len(pcm) / 2; math.Abs(float64(got-samples(length))) > float64(samples(block)) {
		t.Errorf("%d samples of sound, want %d", got, samples(length))
	}
	for at := block; at+2*block < length; at += block {
		if math.Abs(at-toneEnd) < edge {
			continue
		}
		loudest := 0
		for i := samples(at); i < samples(at+block); i++ {
			loudest = max(loudest, int(int16(uint16(pcm[2*i])|uint16(pcm[2*i+1])<<8)))
		}
		if heard := loudest > 300; heard != (at < toneEnd) || !heard && loudest > 20 {
			t.Errorf("level %d at %.2f s, where the tone ends at %.2f s", loudest, at, toneEnd)
		}
	}
}

// TestSpeeds checks that a video plays at most twice as fast or as slowly.
func TestSpeeds(t *testing.T) {
	video := numbered(t, "25", 20)
	for seconds, want := range map[string]string{
		"0.2":  "video would have to play 4 times as fast: sync_mode remap allows a factor of 2",
		"0.36": "video would have to play 2.3 times as fast: sync_mode remap allows a factor of 2",
		"1.64": "video would have to play 2.1 times as slowly: sync_mode remap allows a factor of 2",
		"2.16": "video would have to play 2.7 times as slowly: sync_mode remap allows a factor of 2",
	} {
		t.Run(seconds, func(t *testing.T) {
			t.Parallel()
			engine := &numberer{}
			_, _, err := renderBy(t, inMemory(t, engine), video, tone(t, seconds), order.Options{SyncMode: order.Remap})
			if got := failure.MessageOf(err); got != want || failure.Of(err).Code != failure.SpeedOutOfRange {
				t.Errorf("got %q, want %q (%v)", got, want, err)
			}
			// For .36 s the whole video is analysed: see limit.
			if most := map[string]int{"0.2": 11, "0.36": 20}[seconds]; most > 0 && len(engine.seen) != most {
				t.Errorf("%d frames were analysed, want %d", len(engine.seen), most)
			}
		})
	}
}

// TestUnknownSpeed checks the failure of a long video that states no length.
func TestUnknownSpeed(t *testing.T) {
	video := unstated(t, 50)
	_, _, err := renderBy(t, inMemory(t, &numberer{}), video, tone(t, "0.2"), order.Options{SyncMode: order.Remap})
	if got, want := failure.MessageOf(err), "video would have to play more than 2 times as fast: sync_mode remap allows a factor of 2"; got != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}

// TestLimitOfOutput checks that an output that is as long as its video keeps the limit, if the video's file states no length.
func TestLimitOfOutput(t *testing.T) {
	for frames, want := range map[int]string{50: "", 51: "video is longer than 0 minutes"} {
		r := inMemory(t, &numberer{})
		r.Limits.Duration = 2 * time.Second
		video := unstated(t, frames)
		dir := t.TempDir()
		_, err := r.Render(t.Context(), Job{Video: video, Audio: tone(t, "0.2"), Output: dir + "/o.mp4", Scratch: dir,
			Options: order.Options{SyncMode: order.Pad}}, nil)
		if got := failure.Of(err).Sentence(); err == nil != (want == "") || err != nil && got != want {
			t.Errorf("%d frames: got %q, want %q (%v)", frames, got, want, err)
		}
	}
}

// TestFaceMissing checks that a request can fail for a frame without a face, if the output shows it.
func TestFaceMissing(t *testing.T) {
	video := numbered(t, "25", 40)
	for _, c := range []struct {
		name, seconds string
		options       order.Options
		want          string
	}{
		{"shown", "1.6", order.Options{NoFace: order.FailFaceless}, "video shows no face at 1.2 seconds: no_face fail requires one in each frame"},
		{"not shown", "1.2", order.Options{NoFace: order.FailFaceless}, ""},
		{"shown, faster", "1.2", order.Options{NoFace: order.FailFaceless, SyncMode: order.Remap}, "video shows no face at 1.2 seconds: no_face fail requires one in each frame"},
		{"in a preview", "1.6", order.Options{NoFace: order.FailFaceless, Preview: order.Preview{Start: 400 * time.Millisecond, Length: time.Second}},
			"video shows no face at 1.2 seconds: no_face fail requires one in each frame"},
		{"kept", "1.6", order.Options{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := inMemory(t, &numberer{})
			r.NewTracker = trackFunc(func(frame int) ([]tracking.Face, bool) {
				if frame >= 30 {
					return nil, frame == 30
				}
				return []tracking.Face{someone(0, 60)}, frame == 0
			}).new
			_, result, err := renderBy(t, r, video, tone(t, c.seconds), c.options)
			if got := failure.MessageOf(err); (err != nil) != (c.want != "") || err != nil && got != c.want {
				t.Errorf("got %q, want %q (%v)", got, c.want, err)
			}
			if err != nil && failure.Of(err).Code != failure.FaceMissing {
				t.Errorf("got %+v", failure.Of(err))
			}
			if err == nil && result.Frames.Synced != 30 {
				t.Errorf("got %+v, want 30 synced frames", result.Frames)
			}
		})
	}
}

// TestWarnings checks that only a video with a high dynamic range has the warning of its conversion.
func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want order.Warnings
	}{
		"PQ":  {hdr("smpte2084"), order.ConvertedHDR},
		"HLG": {hdr("arib-std-b67"), order.ConvertedHDR},
		"SDR": {nil, ""},
	} {
		video := ffmpegtest.Make(t, "a.mp4", append([]string{"-f", "lavfi", "-i", ffmpegtest.Numbered("25", 5)}, c.args...)...)
		_, result, err := renderBy(t, newRenderer(t, &numberer{}), video, sound(t, "a.wav", "0.2"), order.Options{})
		if err != nil || result.Warnings != c.want {
			t.Errorf("%s: got %q, want %q (%v)", name, result.Warnings, c.want, err)
		}
	}
}
