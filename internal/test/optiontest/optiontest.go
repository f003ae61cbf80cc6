// Package optiontest renders small media by each option of a request, and looks at the pixels and samples of the
// outputs. One engine passes all of it, another one those that reach an engine, and one that shares its painter some. A deployment renders a few, and hands
// all of them on unchanged.
package optiontest

import (
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/media/demo"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// Job is what a client asks for. The texts are JSON as calls of the API have it; "" is absent.
type Job struct {
	Video  string
	Audios map[string]string // paths by ref; "" is the audio without one
	Boxes  string            // path of the file that options name by BoxesURL; "" if they name none

	Options, Output, Segments string
	LargestFace               bool
}

// BoxesURL stands in Options for the URL of the file of boxes.
const BoxesURL = "BOXES"

// Render renders a job. It returns the path of the output, or the failure code of the request.
type Render func(t *testing.T, j Job) (path, failure string)

// These are the tones of the media, in Hz. Each has a tenth of a second or more.
const (
	original, voice, other = 300, 1000, 2000
)

// The frames of the media. A second has 25 of them.
const frames = 30

// Media are the files of the jobs.
type Media struct {
	head, two, vanishing, picture string // pictures; the first three have the tone original
	bright, clear                 string // head with a high dynamic range, and with alpha
	tracks                        string // grey and head, and the tones of other and, by default, voice
	speech, late, long, short     string // sounds that are spoken: of the video's length, after a pause, longer and shorter
	tone, otherTone               string
	drawn, spoken                 string // the sample's video and speech, of which the others are made
	boxes                         string // of the right head of two
}

// These are the places of things in the frames of head, and in the left half of those of two.
var (
	wide, high = 320, 360
	mouth      = image.Rect(140, 200, 180, 235)
)

// Make makes the media of all options, for the time of the test.
func Make(t *testing.T) Media {
	t.Helper()
	m := makeFew(t)
	m.vanishing = m.film(t, "[head]drawbox=color=gray:t=fill:enable=gte(n\\,15)")
	m.bright = ffmpegtest.Make(t, "in.mp4", "-i", m.head, "-pix_fmt", "yuv420p10", "-c:v", "libx265", "-crf", "8", "-x265-params",
		"log-level=none:colorprim=bt2020:colormatrix=bt2020nc:transfer=arib-std-b67")
	m.clear = ffmpegtest.Make(t, "in.mov", "-i", m.head, "-vf", "format=yuva444p10,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='if(gt(Y,300),0,1023)'",
		"-c:v", "prores_ks", "-profile:v", "4444", "-qscale:v", "16")
	m.tracks = ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", fmt.Sprintf("color=gray:s=%dx%d:r=25:d=1.2", wide, high), "-i", m.head, "-i", m.otherTone, "-i", m.tone,
		"-map", "0:v", "-map", "1:v", "-map", "2:a", "-map", "3:a", "-crf", "12", "-c:a", "flac", "-disposition:v:0", "default", "-disposition:v:1", "0",
		"-disposition:a:0", "0", "-disposition:a:1", "default")
	m.picture = ffmpegtest.Make(t, "in.png", "-i", m.head, "-frames:v", "1")
	m.late, m.long, m.short = m.sound(t, "adelay=600,atrim=end=1.2"), m.sound(t, "atrim=end=2"), m.sound(t, "atrim=end=0.6")
	return m
}

// makeFew makes the media that Few needs.
func makeFew(t *testing.T) (m Media) {
	t.Helper()
	dir := t.TempDir()
	m.drawn, m.spoken = ffmpegtest.Head(t, frames), filepath.Join(dir, "spoken.wav")
	if err := demo.Speech(t.Context(), m.spoken); err != nil {
		t.Fatal(err)
	}
	m.head, m.two = m.film(t, "[head]null"), m.film(t, "[head]split[l][r];[r]hflip[f];[l][f]hstack")
	m.speech = m.sound(t, "atrim=end=1.2")
	tone := func(hz int) string {
		return ffmpegtest.Make(t, "in.wav", "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.3*sin(%d*2*PI*t):d=1.2:s=48000", hz))
	}
	m.tone, m.otherTone = tone(voice), tone(other)
	m.boxes = filepath.Join(dir, "boxes.json")
	box := fmt.Sprintf("[%d,60,%d,300]", wide+60, wide+260)
	if err := os.WriteFile(m.boxes, []byte("["+strings.Repeat(box+",", frames-1)+box+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// film makes a video of the drawn head, with numbered frames and the tone original.
func (m Media) film(t *testing.T, filter string) string {
	t.Helper()
	return ffmpegtest.Make(t, "in.mp4", "-i", m.drawn, "-f", "lavfi", "-i", ffmpegtest.Numbered("25", frames),
		"-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=.2*sin(%d*2*PI*t):d=1.2:s=48000", original),
		"-filter_complex", fmt.Sprintf("[0:v]crop=%d:%d[head];%s[all];[1:v]crop=%d:16:0:0[number];[all][number]overlay=0:0,format=yuv420p[v]", wide, high, filter, ffmpegtest.Width),
		"-map", "[v]", "-map", "2:a", "-crf", "12")
}

// sound makes a part of the speech.
func (m Media) sound(t *testing.T, filter string) string {
	t.Helper()
	return ffmpegtest.Make(t, "in.wav", "-i", m.spoken, "-af", filter)
}

// output is a decoded output, beside its video.
type output struct {
	*testing.T
	info    *medium.Info
	size    int64
	source  []*image.YCbCr
	frames  []*image.YCbCr
	samples func() []float64 // decodes the sound when it is called first
	shared  *shared
}

// shared has the figures of several outputs, to compare them, and the pictures of the videos, which are decoded once.
type shared struct {
	mutex   sync.Mutex
	figures map[string]float64
	videos  map[string][]*image.YCbCr // by path
}

// video returns the frames of a video of the media.
func (s *shared) video(t *testing.T, path string) []*image.YCbCr {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.videos[path] == nil {
		_, s.videos[path] = ffmpegtest.Frames(t, path)
	}
	return s.videos[path]
}

func (o output) keep(name string, figure float64) {
	o.shared.mutex.Lock()
	defer o.shared.mutex.Unlock()
	o.shared.figures[name] = figure
}

// option is an option with a job, and the check of its output. A job with a failure has no output.
type option struct {
	name    string
	job     Job
	failure string
	check   func(o output)
}

// Run renders a job for each option, and checks its output. render may be called at the same time.
func Run(t *testing.T, m Media, render Render) { run(t, options(m), render) }

// RunPainted is Run with the options that reach an engine.
func RunPainted(t *testing.T, m Media, render Render) { run(t, painted(m), render) }

// Few renders some of the jobs: those with the names of options, whose media makeFew makes.
func Few(t *testing.T, render Render, names ...string) { RunSome(t, makeFew(t), render, names...) }

// RunSome renders the jobs with the names of options.
func RunSome(t *testing.T, m Media, render Render, names ...string) {
	few := slices.DeleteFunc(options(m), func(c option) bool { return !slices.Contains(names, c.name) })
	if len(few) != len(names) {
		t.Errorf("found %d of the jobs %q", len(few), names)
	}
	run(t, few, render)
}

func run(t *testing.T, jobs []option, render Render) {
	s := &shared{figures: map[string]float64{}, videos: map[string][]*image.YCbCr{}}
	t.Run("options", func(t *testing.T) {
		for _, c := range jobs {
			c.run(t, s, render)
		}
	})
	for larger, smaller := range map[string]string{"wide mask": "narrow mask", "high quality": "low quality"} {
		if s.figures[larger] < 1.1*s.figures[smaller] {
			t.Errorf("%s: got %.0f, want 1.1 times the %.0f of %s or more", larger, s.figures[larger], s.figures[smaller], smaller)
		}
	}
}

// run renders the job and checks its output.
func (c option) run(t *testing.T, s *shared, render Render) {
	t.Run(c.name, func(t *testing.T) {
		t.Parallel()
		path, failure := render(t, c.job)
		if failure != c.failure {
			t.Fatalf("got the failure %q, want %q", failure, c.failure)
		}
		if failure == "" {
			c.check(read(t, c.job.Video, path, s))
		}
	})
}

// of returns a job with options.
func of(video, audio, options string) Job {
	return Job{Video: video, Audios: map[string]string{"": audio}, Options: options}
}

// Plain returns the job of a video without options.
func (m Media) Plain(video string) Job { return of(video, m.speech, "") }

// made returns a job with an output.
func (m Media) made(video, output string) Job {
	j := m.Plain(video)
	j.Output = output
	return j
}

// options returns all options.
func options(m Media) []option { return slices.Concat(painted(m), unpainted(m)) }

// painted returns the options that reach an engine: which frames it paints, whose mouth, where and how often.
func painted(m Media) []option {
	boxes := of(m.two, m.speech, `{"face":{"boxes_url":"`+BoxesURL+`"}}`)
	boxes.Boxes = m.boxes
	largest := m.Plain(m.head)
	largest.LargestFace = true
	spoken := m.Plain(m.head)
	spoken.Segments = `[{"start":0.4,"end":1}]`
	return []option{
		{"none", m.Plain(m.head), "", func(o output) { o.shows(frames, same); o.speaks(0, 0, frames) }},
		{"sync_mode bounce", of(m.head, m.long, `{"sync_mode":"bounce"}`), "", func(o output) {
			o.shows(50, func(i int) int { return min(i, 2*(frames-1)-i) })
			o.speaks(0, 0, 50)
		}},
		{"sync_mode remap", of(m.head, m.long, `{"sync_mode":"remap"}`), "", func(o output) { o.shows(50, func(i int) int { return (2*i + 1) * frames / 100 }) }},
		{"silence keep", of(m.head, m.late, `{"silence":"keep"}`), "", func(o output) { o.stays(0, 1, 12); o.speaks(0, 15, frames) }},
		{"no_face keep", of(m.vanishing, m.speech, `{"no_face":"keep"}`), "", func(o output) { o.speaks(0, 0, 15); o.stays(0, 18, frames) }},
		{"preview", of(m.head, m.speech, `{"preview":{"start":0.4,"seconds":0.4}}`), "", func(o output) { o.shows(10, func(i int) int { return i + 10 }) }},
		{"face at a point", of(m.two, m.speech, `{"face":{"frame":3,"point":[480,180]}}`), "", func(o output) { o.speaks(1, 0, frames); o.stays(0, 0, frames) }},
		{"face in boxes", boxes, "", func(o output) { o.speaks(1, 0, frames); o.stays(0, 0, frames) }},
		{"largest face", largest, "", func(o output) { o.speaks(0, 0, frames) }},
		{"mask wide", of(m.head, m.speech, `{"mask":{"feather":2,"expand":1.25}}`), "", func(o output) { o.speaks(0, 0, frames); o.keep("wide mask", o.painted()) }},
		{"mask narrow", of(m.head, m.speech, `{"mask":{"feather":0.25,"expand":0.85}}`), "", func(o output) { o.speaks(0, 0, frames); o.keep("narrow mask", o.painted()) }},
		{"output fps", m.made(m.head, `{"fps":50}`), "", func(o output) { o.shows(2*frames, func(i int) int { return i / 2 }); o.lasts(1.2) }},
		{"output width", m.made(m.head, `{"width":160}`), "", func(o output) {
			if v := o.info.Video; v.Width != 160 || v.Height != 180 || len(o.frames) != frames {
				o.Errorf("got %d frames of %d × %d pixels", len(o.frames), v.Width, v.Height)
			}
		}},
		{"picture", of(m.picture, m.speech, ""), "", func(o output) { o.shows(frames, func(int) int { return 0 }); o.speaks(0, 0, frames) }},
		{"segments, pictures", spoken, "", func(o output) { o.stays(0, 0, 10); o.speaks(0, 10, 25); o.stays(0, 25, frames) }},
	}
}

// unpainted returns the others: of sound, tracks, containers, codecs, refusals, and what reaches an engine as one of the painted does.
func unpainted(m Media) []option {
	as := func(output string) Job { return m.made(m.head, output) }
	segments := of(m.head, m.tone, "")
	segments.Audios["ana"] = m.otherTone
	segments.Segments = `[{"start":0.2,"end":0.6},{"start":0.8,"end":1,"audio":{"ref":"ana","start":0.5,"end":0.7},"options":{"original_gain":0.5}}]`
	return []option{
		{"sync_mode loop", of(m.head, m.long, `{"sync_mode":"loop"}`), "", func(o output) { o.shows(50, func(i int) int { return i % frames }) }},
		{"sync_mode cut_off", of(m.head, m.long, `{"sync_mode":"cut_off"}`), "", func(o output) { o.shows(frames, same); o.lasts(1.2) }},
		{"sync_mode silence", of(m.head, m.short, `{"sync_mode":"silence"}`), "", func(o output) {
			o.shows(frames, same)
			o.lasts(1.2)
			if loudest := slices.Max(o.samples()[ffmpeg.PCMRate*8/10:]); loudest > .01 {
				o.Errorf("after the audio there is a sound of %.3f", loudest)
			}
		}},
		{"no_face fail", of(m.vanishing, m.speech, `{"no_face":"fail"}`), "face_missing", nil},
		{"voice_gain", of(m.head, m.tone, `{"voice_gain":0.5}`), "", func(o output) { o.sounds(.5, .15, voice); o.sounds(.5, 0, original) }},
		{"original_gain", of(m.head, m.tone, `{"original_gain":0.5}`), "", func(o output) { o.sounds(.5, .3, voice); o.sounds(.5, .1, original) }},
		{"duck", of(m.head, m.tone, `{"original_gain":1,"duck":true}`), "", func(o output) {
			if got := o.amplitude(.8, original); got > .1 || got < .01 {
				o.Errorf("the original has an amplitude of %.3f under the voice, want it lowered from .2", got)
			}
		}},
		{"face by id", of(m.two, m.speech, `{"face":{"id":"0,160,180"}}`), "", func(o output) { o.speaks(0, 0, frames); o.stays(1, 0, frames) }},
		{"default audio_track", of(m.head, m.tracks, ""), "", func(o output) { o.sounds(.5, .3, voice); o.sounds(.5, 0, other) }},
		{"audio_track", of(m.head, m.tracks, `{"audio_track":1}`), "", func(o output) { o.sounds(.5, 0, voice); o.sounds(.5, .3, other) }},
		{"audio_track missing", of(m.head, m.tracks, `{"audio_track":3}`), "track_missing", nil},
		{"default video_track", of(m.tracks, m.speech, ""), "no_face", nil},
		{"video_track", of(m.tracks, m.speech, `{"video_track":2}`), "", func(o output) { o.speaks(0, 0, frames) }},
		{"output mp4, hevc", as(`{"codec":"hevc"}`), "", func(o output) { o.encoded("hevc") }},
		{"output mp4, vp9", as(`{"codec":"vp9"}`), "", func(o output) { o.encoded("vp9") }},
		{"output mov", as(`{"format":"mov"}`), "", func(o output) { o.encoded("h264") }},
		{"output mov, prores", as(`{"format":"mov","codec":"prores"}`), "", func(o output) { o.encoded("prores") }},
		{"output webm", as(`{"format":"webm"}`), "", func(o output) { o.encoded("vp9") }},
		{"output mp4, hevc, HDR", m.made(m.bright, `{"codec":"hevc"}`), "", func(o output) { o.encoded("hevc"); o.has("a high dynamic range", o.info.Video.HDR()) }},
		{"output mov, prores, alpha", m.made(m.clear, `{"format":"mov","codec":"prores"}`), "", func(o output) { o.encoded("prores"); o.has("alpha", o.info.Video.Alpha()) }},
		{"output webm, alpha", m.made(m.clear, `{"format":"webm"}`), "", func(o output) { o.encoded("vp9"); o.has("alpha", o.info.Video.Alpha()) }},
		{"output quality high", as(`{"quality":"high"}`), "", func(o output) { o.encoded("h264"); o.keep("high quality", float64(o.size)) }},
		{"output quality low", as(`{"quality":"low"}`), "", func(o output) { o.encoded("h264"); o.keep("low quality", float64(o.size)) }},
		{"segments, sound", segments, "", func(o output) {
			o.shows(frames, same)
			for at, want := range map[float64][3]float64{.05: {.2}, .35: {0, .3}, .65: {.2}, .85: {.1, 0, .3}, 1.05: {.2}} {
				for i, hz := range []float64{original, voice, other} {
					o.sounds(at, want[i], hz)
				}
			}
		}},
	}
}

func same(i int) int { return i }

// read decodes the pictures of an output and of its video.
func read(t *testing.T, video, path string, s *shared) output {
	t.Helper()
	o := output{T: t, shared: s, source: s.video(t, video)}
	o.info, o.frames = ffmpegtest.Frames(t, path)
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	o.size = file.Size()
	o.samples = sync.OnceValue(func() []float64 { return sound(t, o.info) })
	return o
}

// sound decodes the sound of an output.
func sound(t *testing.T, info *medium.Info) (all []float64) {
	t.Helper()
	stream, err := ffmpegtest.Tools(t).OpenSound(t.Context(), info, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := io.ReadAll(stream)
	if err != nil || stream.Close() != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(pcm); i += 2 {
		all = append(all, float64(int16(uint16(pcm[i])|uint16(pcm[i+1])<<8))/32768)
	}
	return all
}

// shows checks the number of frames, and which frame of the video each one shows.
func (o output) shows(n int, source func(frame int) int) {
	o.Helper()
	if len(o.frames) != n {
		o.Fatalf("got %d frames, want %d", len(o.frames), n)
	}
	for i, frame := range o.frames {
		if got := ffmpegtest.Number(frame, 0); got != source(i) {
			o.Errorf("frame %d shows frame %d of the video, want %d", i, got, source(i))
		}
	}
}

// lasts checks the length of the sound, in seconds. An encoder may add some padding.
func (o output) lasts(seconds float64) {
	o.Helper()
	if got := float64(len(o.samples())) / ffmpeg.PCMRate; math.Abs(got-seconds) > .05 {
		o.Errorf("the sound lasts %.3f s, want %g", got, seconds)
	}
}

// encoded checks the codec, and that the video is shown and speaks.
func (o output) encoded(codec string) {
	o.Helper()
	got, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=codec_name", "-of", "csv=p=0", o.info.Path).Output()
	if err != nil || strings.TrimSpace(string(got)) != codec {
		o.Errorf("got the codec %s (%v), want %s", got, err, codec)
	}
	o.shows(frames, same)
	o.speaks(0, 0, frames)
}

// has checks that the output has a thing.
func (o output) has(thing string, has bool) {
	o.Helper()
	if !has {
		o.Errorf("the output doesn't have %s", thing)
	}
}

// changed returns the mean difference between the luma of a frame and of the frame of the video that it shows, at the mouth of a head:
// 0 or, on the right, 1.
func (o output) changed(frame, head int) float64 {
	source := o.source[ffmpegtest.Number(o.frames[frame], 0)]
	area := mouth.Add(image.Pt(head*wide, 0))
	sum := 0
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			d := int(o.frames[frame].Y[o.frames[frame].YOffset(x, y)]) - int(source.Y[source.YOffset(x, y)])
			sum += max(d, -d)
		}
	}
	return float64(sum) / float64(area.Dx()*area.Dy())
}

// These bound what changed returns: an encoder changes a mouth by at most 2, and a mouth that speaks changes by at least 5.
const kept, moved = 2, 5

// speaks checks that the mouth of a head is another one than in the video in some of the frames, up to frame to.
func (o output) speaks(head, from, to int) {
	o.Helper()
	most := 0.
	for i := from; i < to; i++ {
		most = max(most, o.changed(i, head))
	}
	if most < moved {
		o.Errorf("the mouth of head %d changes by %.1f at most in frames %d to %d, want %d or more", head, most, from, to-1, moved)
	}
}

// stays checks that the mouth of a head is as in the video in the frames, up to frame to.
func (o output) stays(head, from, to int) {
	o.Helper()
	for i := from; i < to; i++ {
		if got := o.changed(i, head); got > kept {
			o.Errorf("the mouth of head %d changes by %.1f in frame %d, want %d at most", head, got, i, kept)
		}
	}
}

// painted counts the pixels of all frames that clearly differ from the video.
func (o output) painted() (n float64) {
	for i, frame := range o.frames {
		for k, v := range frame.Y {
			if d := int(v) - int(o.source[i].Y[k]); d > 8 || d < -8 {
				n++
			}
		}
	}
	return n
}

// amplitude returns the amplitude of a tone in the tenth of a second that begins at a time.
func (o output) amplitude(at, hz float64) float64 {
	from := int(at * ffmpeg.PCMRate)
	samples := o.samples()
	if from+ffmpeg.PCMRate/10 > len(samples) {
		o.Fatalf("the sound ends after %d samples", len(samples))
	}
	return ffmpegtest.Amplitude(samples[from:from+ffmpeg.PCMRate/10], ffmpeg.PCMRate, hz)
}

// sounds checks the amplitude of a tone at a time.
func (o output) sounds(at, want, hz float64) {
	o.Helper()
	if got := o.amplitude(at, hz); math.Abs(got-want) > .03 {
		o.Errorf("%.0f Hz at %.2f s: got an amplitude of %.3f, want %.2f", hz, at, got, want)
	}
}
