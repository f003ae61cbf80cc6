package speaker

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/alignment"
	"lipsync/internal/detection"
	"lipsync/internal/ffmpeg"
	"lipsync/internal/ffmpeg/ffmpegtest"
	"lipsync/internal/onnx"
	"lipsync/internal/onnx/onnxtest"
	"lipsync/internal/speech"
	"lipsync/internal/tracking"
)

// The panels of scenes: filters of ffmpeg that show someone for 8 s, # being
// part of labels of their own. The man speaks with his own sound.
const (
	man = "[0:v]copy"
	// he out of step with it, four seconds too early or late
	manAstray = "[0:v]split[#a][#b];[#a]trim=start_frame=100,setpts=PTS-STARTPTS[#c];" +
		"[#b]trim=end_frame=100[#d];[#c][#d]concat,hflip"
	manRests = "[0:v]trim=end_frame=10" + backAndForth
	// who smiles and turns her head, but says nothing
	womanFar   = "[1:v]fps=25" + backAndForth + ",crop=480:480:130:60"
	womanClose = "[1:v]fps=25" + backAndForth + ",crop=340:340:200:120"
	portrait   = "[2:v]crop=iw/2:ih:iw/2:0" + backAndForth
	nods       = portrait + ",crop=280:280:36:36+18*sin(2*PI*t*1.5)"

	backAndForth = ",split[#k][#l];[#k]reverse[#m];[#l][#m]concat,loop=-1:300,trim=end_frame=200,setpts=N/25/TB"
	faint        = ",scale=80:80,noise=alls=10:allf=t"
)

// silent is the man when he rests while an expression of t, in seconds, holds.
func silent(when string) string {
	return man + "[#x];" + manRests + "[#y];[#x][#y]overlay=enable='" + when + "'"
}

// The sounds of scenes.
const (
	own     = "[0:a]acopy"
	nothing = "anullsrc=d=8"
	noise   = "anoisesrc=d=8:a=.3"
	noisy   = "[0:a]volume=2[o];anoisesrc=d=8:a=.05[n];[o][n]amix"
	music   = "aevalsrc='.2*sin(2*PI*t*(220+110*floor(mod(t*3\\,4))))*(1+sin(2*PI*t*3)):d=8'"
)

// scenes are what people may look like who speak or don't.
var scenes = []struct {
	name, rate, sound string
	panels            []string
	want              []int // the panel of who speaks, in each of as many parts
}{
	{"turns", "25", own, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"30 frames/s", "30", own, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"50 frames/s", "50", own, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"12 frames/s", "12", own, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"no sound", "25", nothing, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"noise", "25", noise, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"music", "25", music, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"noise with the voice", "25", noisy, []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}, []int{0, 1}},
	{"poor pictures", "25", own, []string{silent("gte(t,4)") + faint, silent("lt(t,4)") + ",hflip" + faint}, []int{0, 1}},
	{"short turns", "25", own, []string{silent("mod(floor(t/2),2)"), silent("not(mod(floor(t/2),2))") + ",hflip"}, []int{0, 1, 0, 1}},
	{"three people", "25", own, []string{silent("gte(t,4)"), portrait, silent("lt(t,4)") + ",hflip"}, []int{0, 2}},
	{"a woman between", "25", own, []string{silent("gte(t,4)"), womanFar, silent("lt(t,4)") + ",hflip"}, []int{0, 2}},
	{"a woman who smiles", "25", own, []string{man, womanFar}, []int{0}},
	{"close", "25", own, []string{womanClose, man}, []int{1}},
	{"close, no sound", "25", nothing, []string{womanClose, man}, []int{1}},
	{"who nods", "25", own, []string{nods, man}, []int{1}},
	{"out of step", "25", own, []string{manAstray, man}, []int{1}},
	{"in step", "25", own, []string{man, manAstray}, []int{0}},
}

func TestScenes(t *testing.T) {
	detector, err := detection.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	testScenes(t, detector, nil)
}

func TestScenesWithNetworks(t *testing.T) {
	detector, err := detection.New(t.Context(), onnxtest.LoadWith(t, filepath.Join(onnxtest.Models(t), "ultraface_rfb_320.onnx"), onnx.Options{}), onnxtest.LoadWith(t, filepath.Join(onnxtest.Models(t), "facemesh_192.onnx"), onnx.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { detector.Close() })
	testScenes(t, detector, lightASD(t))
}

func lightASD(t testing.TB) *Network {
	t.Helper()
	n, err := NewNetwork(t.Context(), onnxtest.LoadWith(t, filepath.Join(onnxtest.Models(t), "light_asd.onnx"), onnx.Options{}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func testScenes(t *testing.T, detector detection.Detector, network *Network) {
	clips := filepath.Join(filepath.Dir(onnxtest.Models(t)), "media")
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			path := makeScene(t, clips, s.rate, s.sound, s.panels)
			judge(t, watch(t, path, detector, network), len(s.panels), s.want)
		})
	}
	t.Run("two_people.mp4", func(t *testing.T) {
		judge(t, watch(t, filepath.Join(clips, "two_people.mp4"), detector, network), 2, []int{0})
	})
}

// makeScene makes a clip of panels side by side and returns its path.
func makeScene(t *testing.T, clips, rate, sound string, panels []string) string {
	var graph, row strings.Builder
	for i, p := range panels {
		name := fmt.Sprint("p", i)
		fmt.Fprint(&graph, strings.ReplaceAll(p, "#", name), ",scale=320:320,setsar=1[", name, "];")
		fmt.Fprint(&row, "[", name, "]")
	}
	fmt.Fprintf(&graph, "%shstack=%d,fps=%s[v];%s[a]", row.String(), len(panels), rate, sound)
	var args []string
	for _, name := range []string{"talking_man.mp4", "woman.mp4", "two_people.mp4"} {
		args = append(args, "-i", filepath.Join(clips, name))
	}
	return ffmpegtest.Make(t, "clip.mp4", append(args, "-filter_complex", graph.String(),
		"-map", "[v]", "-map", "[a]", "-t", "8", "-crf", "20", "-preset", "veryfast")...)
}

// watched is a video of which is known who speaks.
type watched struct {
	info   *ffmpeg.Info
	active func(frame int) int
	places []map[int]float32 // where each face is in each frame, from 0 left to 1 right
}

func watch(t *testing.T, path string, detector detection.Detector, network *Network) watched {
	t.Helper()
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := tools.OpenSound(t.Context(), info, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	mfcc := NewMFCC()
	heard, err := speech.Read(io.TeeReader(sound, mfcc))
	if err != nil {
		t.Fatal(err)
	}
	w := watched{info: info}
	a := New(info.Video.Rate.Float(), network)
	windows, done := make(chan *Window), make(chan error)
	go func() { done <- a.Score(t.Context(), windows, mfcc) }()
	w.observe(t, detector, a, windows)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.active = a.Active(heard)
	return w
}

func (w *watched) observe(t *testing.T, detector detection.Detector, a *Analyser, windows chan<- *Window) {
	frames, err := ffmpegtest.Tools(t).OpenFrames(t.Context(), w.info, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	give := func(complete []*Window) {
		for _, w := range complete {
			windows <- w
		}
	}
	see := func(aligned []alignment.Frame) {
		for _, f := range aligned {
			give(a.Add(f))
			places := map[int]float32{}
			for _, face := range f.Faces {
				places[face.Track] = face.To.Apply(alignment.Middle).X / float32(w.info.Video.Width)
			}
			w.places = append(w.places, places)
		}
	}
	fps := w.info.Video.Rate.Float()
	tracker, aligner := tracking.NewTracker(detector, fps), alignment.NewAligner(fps)
	frame := w.info.Video.NewFrame()
	for frames.Read(frame) == nil {
		faces, cut, err := tracker.Add(t.Context(), frame)
		if err != nil {
			t.Fatal(err)
		}
		see(aligner.Add(faces, cut))
	}
	see(aligner.End())
	give(a.End())
	close(windows)
}

// judge wants who speaks to be in the right panel in 95 of 100 frames, all counted:
// also those of a pause between two turns, where no one is heard nor moves the lips
// (after the first of the short turns there are ten).
func judge(t *testing.T, w watched, panels int, want []int) {
	t.Helper()
	n, right := len(w.places), 0
	var got strings.Builder
	for i, places := range w.places {
		panel := -1
		if x, ok := places[w.active(i)]; ok {
			panel = int(x * float32(panels))
		}
		if i%(n/40) == 0 {
			fmt.Fprint(&got, panel)
		}
		if panel == want[i*len(want)/n] {
			right++
		}
	}
	t.Logf("right in %d of %d frames: %s", right, n, got.String())
	if float64(right) < .95*float64(n) {
		t.Errorf("right in %d of %d frames, want 95 %%", right, n)
	}
}
