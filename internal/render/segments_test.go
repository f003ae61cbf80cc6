package render

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/people"
	"lipsync/internal/test/ffmpegtest"
)

// renderSegments renders a video with options and segments. They name the audios a, b and so on.
func renderSegments(t *testing.T, r *Renderer, o order.Options, video string, segments order.Segments, audios ...string) (string, Result, error) {
	t.Helper()
	dir := t.TempDir()
	j := Job{Video: video, Output: dir + "/o", Scratch: dir, Options: o, Segments: segments, Audios: map[string]string{}}
	for i, path := range audios {
		j.Audios[string(rune('a'+i))] = path
	}
	r = keepReads(r)
	told, err := r.Render(t.Context(), j, nil)
	compareEstimate(t, r, j, told, err)
	return j.Output, told, err
}

// ms returns a time in milliseconds.
func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// TestSegments gives three parts of a video of 50 frames speech of their own: one for the left person, and two, one right after the other, for
// the right person. Elsewhere picture and sound stay.
func TestSegments(t *testing.T) {
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 50),
		"-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.2*sin(%d*2*PI*t):d=2:s=48000", originalTone), "-c:a", "flac")
	// Each audio has half a second of silence, and then a tone.
	audio := func(hz int) string {
		return ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=gte(t\\,.5)*.3*sin(%d*2*PI*t):s=44100:d=1.5", hz))
	}
	const secondTone = 2000
	left, right := order.Face{By: order.FaceAt, X: 40, Y: 48}, order.Face{By: order.FaceAt, Frame: 12, X: 120, Y: 48}
	mask := order.Mask{Feather: 500, Expand: -100}
	engine := &numberer{}
	r := newRenderer(t, engine)
	r.NewTracker = couple
	output, result, err := renderSegments(t, r, order.Options{Mask: mask}, video, order.Segments{
		{Start: ms(200), End: ms(600), Ref: "a", From: ms(500), To: ms(700), Options: order.Options{Face: left, OriginalGain: .5}},
		{Start: ms(1000), End: ms(1200), Ref: "b", From: ms(600), To: ms(1500), Options: order.Options{Face: right}},
		{Start: ms(1200), End: ms(1600), Ref: "a", Options: order.Options{Face: right}},
	}, audio(voiceTone), audio(secondTone))
	if err != nil {
		t.Fatal(err)
	}
	source, painted, _ := numbers(t, output)
	in := func(frame int) bool { return frame >= 5 && frame < 15 || frame >= 25 && frame < 40 }
	if len(source) != 50 || result.Frames != (order.Frames{Total: 50, Synced: 25}) || result.Length != 2*time.Second || result.Warnings != "" {
		t.Fatalf("got %d frames and %+v, want 50, of which 25 are synced", len(source), result)
	}
	for i := range source {
		speaker := -1
		if in(i) {
			speaker = min(i/20, 1)
		}
		if got := engine.out.Speaker(i); source[i] != i || got != speaker {
			t.Errorf("frame %d shows source %d, and person %d speaks, want %d", i, source[i], got, speaker)
		}
		if !in(i) && painted[i] != 0 {
			t.Errorf("frame %d is painted %d, want nothing", i, painted[i])
		}
	}
	for _, i := range []int{8, 11, 30, 36} { // between the fades
		if painted[i] != i {
			t.Errorf("frame %d is painted %d", i, painted[i])
		}
	}
	if engine.out.Mask != mask {
		t.Errorf("the engine got the mask %+v", engine.out.Mask)
	}
	amplitude := amplitudes(t, output)
	for at, want := range map[float64]map[float64]float64{
		.05: {originalTone: .2}, .22: {originalTone: .1, voiceTone: .3}, .28: {originalTone: .1, voiceTone: .3}, .45: {originalTone: .1}, .65: {originalTone: .2}, .85: {originalTone: .2},
		1.05: {secondTone: .3}, 1.3: {}, 1.65: {originalTone: .2}, 1.85: {originalTone: .2},
	} {
		for _, hz := range []float64{originalTone, voiceTone, secondTone} {
			if got := amplitude(hz, at); math.Abs(got-want[hz]) > .03 {
				t.Errorf("%.0f Hz at %.2f s: got an amplitude of %.3f, want %.3f", hz, at, got, want[hz])
			}
		}
	}
	samples := samplesOf(t, output)
	between := samples[ffmpeg.PCMRate*119/100 : ffmpeg.PCMRate*121/100] // of the two segments for the right person
	if got := ffmpegtest.Amplitude(between, ffmpeg.PCMRate, originalTone); got > .03 {
		t.Errorf("between two segments the video's own sound has an amplitude of %.3f, want 0", got)
	}
}

// listener is an engine that reads the samples of the speech.
type listener struct {
	*numberer
	heard []float64
}

func (l *listener) Analyse(engine.Video) (engine.Analyser, error) { return l, nil }

func (l *listener) Plan(ctx context.Context, out engine.Output) (engine.Painter, error) {
	pcm, err := io.ReadAll(out.Samples)
	if err != nil {
		return nil, err
	}
	l.heard = decoded(pcm)
	return l.numberer.Plan(ctx, out)
}

// TestSegmentGains silences the speech of one segment and doubles that of another. The engine hears both as they are. The video's own sound,
// as loud as a file can have it, is the same elsewhere. The output is WebM, since ffmpeg's encoder of AAC makes so loud a tone quieter by up to
// a tenth.
func TestSegmentGains(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 50),
		"-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.99*sin(%d*2*PI*t):d=2:s=48000", originalTone), "-c:a", "flac")
	tone := ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.3*sin(%d*2*PI*t):s=48000:d=2", voiceTone))
	engine := &listener{numberer: &numberer{}}
	output, result, err := renderSegments(t, newRenderer(t, engine), order.Options{Output: order.Output{Format: order.WebM}}, video, order.Segments{
		{Start: ms(400), End: ms(800), Ref: "a", Options: order.Options{VoiceGain: -1}},
		{Start: ms(1200), End: ms(1600), Ref: "a", Options: order.Options{VoiceGain: 1}},
	}, tone)
	if err != nil || result.Frames.Synced != 20 {
		t.Fatalf("got %v, %+v, want 20 synced frames", err, result)
	}
	amplitude := amplitudes(t, output)
	for at, want := range map[float64][2]float64{.2: {.99, 0}, .55: {0, 0}, .95: {.99, 0}, 1.35: {0, .6}, 1.8: {.99, 0}} {
		if got := [2]float64{amplitude(originalTone, at), amplitude(voiceTone, at)}; math.Abs(got[0]-want[0]) > .03 || math.Abs(got[1]-want[1]) > .03 {
			t.Errorf("at %.2f s: got amplitudes of %.3f, want %.3f", at, got, want)
		}
	}
	for _, at := range []int{55, 135} { // hundredths of a second
		from := ffmpeg.PCMRate * at / 100
		if got := ffmpegtest.Amplitude(engine.heard[from:from+ffmpeg.PCMRate/10], ffmpeg.PCMRate, voiceTone); math.Abs(got-.3) > .02 {
			t.Errorf("the engine hears an amplitude of %.3f at .%d s, want .3", got, at)
		}
	}
}

// TestSegmentsOfSilentVideo gives speech to a video without sound: to the end of the video, and to a picture.
func TestSegmentsOfSilentVideo(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	picture := ffmpegtest.Make(t, "in.png", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 1))
	tone := sound(t, "a.wav", "2")
	for path, frames := range map[string]int{video: 20, picture: 30} {
		output, result, err := renderSegments(t, newRenderer(t, &numberer{}), order.Options{}, path, order.Segments{{Start: ms(400), End: ms(1200), Ref: "a"}}, tone)
		if err != nil {
			t.Fatal(err)
		}
		warned := map[string]order.Warnings{video: order.SegmentIsCut}[path]
		if want := (order.Frames{Total: frames, Synced: frames - 10}); result.Frames != want || result.Warnings != warned {
			t.Errorf("%s: got %+v, want %+v and the warnings %q", path, result, want, warned)
		}
		amplitude := amplitudes(t, output)
		if before, in := amplitude(300, .2), amplitude(300, .5); before > .01 || in < .05 {
			t.Errorf("%s: got amplitudes of %.3f and %.3f, want silence and a tone", path, before, in)
		}
	}
}

// TestSegmentsRefused renders segments that begin after the end of a medium, and audios that can't be used.
func TestSegmentsRefused(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	picture := ffmpegtest.Make(t, "in.png", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 1))
	tone := sound(t, "a.wav", "1")
	for _, c := range []struct {
		segment order.Segment
		audio   string
		want    string
	}{
		{order.Segment{Start: ms(9000), End: ms(9200), Ref: "a"}, tone, "video ends before 9 seconds, where a segment begins"},
		{order.Segment{End: 2 * time.Hour, Ref: "a"}, tone, "audio is longer than 60 minutes: 120 minutes"},
		{order.Segment{End: ms(400), Ref: "a", From: 2 * time.Hour, To: 3 * time.Hour}, tone, "audio ends before 7200 seconds, where a segment begins"},
		{order.Segment{Start: ms(800), End: ms(1200), Ref: "a"}, tone, "video ends before 0.8 seconds, where a segment begins"},
		{order.Segment{End: ms(400), Ref: "a", From: ms(1100), To: ms(1200)}, tone, "audio ends before 1.1 seconds, where a segment begins"},
		{order.Segment{End: ms(400), Ref: "a"}, video, "audio has no sound track"},
		{order.Segment{End: ms(400), Ref: "a"}, write(t, "a.wav", []byte("RIFF? no")), "audio is not a supported format"},
	} {
		_, _, err := renderSegments(t, newRenderer(t, &numberer{}), order.Options{}, video, order.Segments{c.segment}, c.audio)
		if got := failure.MessageOf(err); failure.CodeOf(err) != failure.Invalid || !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q (%v), want %q", got, err, c.want)
		}
	}
	_, _, err := renderSegments(t, newRenderer(t, &numberer{}), order.Options{}, picture, order.Segments{
		{End: ms(400), Ref: "a"}, {Start: ms(400), End: ms(800), Ref: "a", Options: order.Options{Face: order.Face{By: order.FaceAt, X: 40, Y: 48}}},
	}, tone)
	if code := failure.Of(err).Code; code != failure.FacesOfPicture {
		t.Errorf("a picture with two faces: got %v", err)
	}
}

// TestFaceMissingOutsideSegments renders frames without a face, if they are in no segment, though the options refuse such frames.
func TestFaceMissingOutsideSegments(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 30))
	r := newRenderer(t, &numberer{})
	r.NewTracker = func(fps float64) people.Tracker {
		all := couple(fps).(trackFunc)
		return trackFunc(func(frame int) ([]tracking.Face, bool) {
			if frame >= 20 {
				return nil, frame == 20
			}
			return all(frame)
		})
	}
	job := func(end time.Duration) error {
		dir := t.TempDir()
		_, err := r.Render(t.Context(), Job{Video: video, Output: dir + "/o.mp4", Scratch: dir, Options: order.Options{NoFace: order.FailFaceless},
			Segments: order.Segments{{Start: ms(200), End: end}}, Audios: map[string]string{"": sound(t, "a.wav", "1")}}, nil)
		return err
	}
	if err := job(ms(800)); err != nil {
		t.Error(err)
	}
	r.Engines[""] = &numberer{}
	if err := job(ms(900)); failure.Of(err).Code != failure.FaceMissing {
		t.Errorf("got %v, want a missing face", err)
	}
}

// TestSharesOfSegments checks the fades at the ends of segments. The third segment has another face than the second.
func TestSharesOfSegments(t *testing.T) {
	other := order.Options{Face: order.Face{By: order.FaceAt, X: 1}}
	in := input{video: &medium.Info{Video: &medium.Video{Rate: medium.Rate{Num: 25, Den: 1}}}, job: Job{Segments: order.Segments{
		{Start: ms(80), End: ms(240)}, {Start: ms(240), End: ms(400)}, {Start: ms(400), End: ms(560), Options: other}, {Start: ms(840), End: ms(880)},
	}}}
	want := []uint8{0, 0, 63, 127, 255, 255, 255, 255, 127, 63, 63, 127, 127, 63, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0}
	if got := in.shares(nil, 24); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestPreviewOfSegments renders a part of a video, which begins in the first of three segments and ends in the second.
func TestPreviewOfSegments(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 50),
		"-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.2*sin(%d*2*PI*t):d=2:s=48000", originalTone), "-c:a", "flac")
	picture := ffmpegtest.Make(t, "in.png", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 1))
	// Each second of the audio has another tone.
	tone := ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.3*sin(%d*2*PI*t*(1+gte(t\\,1))):s=48000:d=2", voiceTone))
	segments := order.Segments{
		{Start: ms(200), End: ms(800), Ref: "a", From: ms(800), To: ms(1400)},
		{Start: ms(1200), End: ms(1800), Ref: "a"},
		{Start: ms(1880), End: ms(9000), Ref: "a", From: ms(9000), To: ms(9900)}, // outside of the preview nothing is checked
	}
	o := order.Options{Preview: order.Preview{Start: ms(400), Length: ms(1200)}}
	output, result, err := renderSegments(t, newRenderer(t, &numberer{}), o, video, segments, tone)
	if err != nil {
		t.Fatal(err)
	}
	source, painted, _ := numbers(t, output)
	if len(source) != 30 || result.Frames != (order.Frames{Total: 30, Synced: 20}) || result.Length != ms(1200) {
		t.Fatalf("got %d frames and %+v, want 30, of which 20 are synced", len(source), result)
	}
	for i := range source {
		want := 0
		if i < 8 || i >= 23 { // without the fades
			want = i
		} else if i < 10 || i >= 20 {
			want = painted[i]
		}
		if source[i] != i+10 || painted[i] != want {
			t.Errorf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], i+10, want)
		}
	}
	amplitude := amplitudes(t, output)
	for at, want := range map[float64][3]float64{.1: {0, 0, .3}, .3: {0, 0, .3}, .45: {.2, 0, 0}, .65: {.2, 0, 0}, .85: {0, .3, 0}, 1.1: {0, .3, 0}} {
		for i, hz := range []float64{originalTone, voiceTone, 2 * voiceTone} {
			if got := amplitude(hz, at); math.Abs(got-want[i]) > .03 {
				t.Errorf("%.0f Hz at %.2f s: got an amplitude of %.3f, want %.1f", hz, at, got, want[i])
			}
		}
	}
	_, result, err = renderSegments(t, newRenderer(t, &numberer{}), o, picture, segments, tone)
	if want := (order.Frames{Total: 30, Synced: 20}); err != nil || result.Frames != want {
		t.Errorf("a picture: got %+v, %v, want %+v", result, err, want)
	}
	o.Preview = order.Preview{Start: ms(1900), Length: ms(500)}
	_, _, err = renderSegments(t, newRenderer(t, &numberer{}), o, video, order.Segments{{Start: ms(2000), End: ms(2200), Ref: "a"}}, tone)
	if got := failure.MessageOf(err); got != "video ends before 2 seconds, where a segment begins" {
		t.Errorf("got %q", got)
	}
}

// TestSpeechThroughSegments checks that speech that goes on in the next segment is heard without a gap, and that it is faded where it
// doesn't.
func TestSpeechThroughSegments(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 50))
	tone := ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.3*sin(%d*2*PI*t):s=22050:d=1.5", voiceTone))
	engine := &listener{numberer: &numberer{}}
	render := func(segments ...order.Segment) error {
		_, _, err := renderSegments(t, newRenderer(t, engine), order.Options{}, video, segments, tone)
		return err
	}
	err := render(
		order.Segment{Start: ms(200), End: ms(600), Ref: "a"},
		order.Segment{Start: ms(600), End: ms(1000), Ref: "a", From: ms(400), To: ms(800)},
		order.Segment{Start: ms(1000), End: ms(1400), Ref: "a", From: ms(400), To: ms(800)},
	)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]float64{595: .3, 600: .3, 605: .3, 995: .1, 1000: .1, 1200: .3} {
		from := ffmpeg.PCMRate * at / 1000
		got := ffmpegtest.Amplitude(engine.heard[from:from+ffmpeg.PCMRate/200], ffmpeg.PCMRate, voiceTone)
		if want == .3 && math.Abs(got-want) > .02 || want < .3 && got > .2 {
			t.Errorf("at %d ms: got an amplitude of %.3f, want %.1f", at, got, want)
		}
	}
	err = render(
		order.Segment{Start: ms(0), End: ms(600), Ref: "a", From: ms(1000), To: ms(1600)},
		order.Segment{Start: ms(600), End: ms(1000), Ref: "a", From: ms(1600), To: ms(2000)},
	)
	if got := failure.MessageOf(err); got != "audio ends before 1.6 seconds, where a segment begins" {
		t.Errorf("got %q", got)
	}
}
