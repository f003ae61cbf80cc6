package speaker

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/network/onnx"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/tracktest"
)

// The panels of clips: filters of ffmpeg that show one person for 8 s. # stands for the panel's own part
// of labels. The man speaks with his own sound.
const (
	man = "[0:v]copy"
	// The man four seconds too early or too late for his sound.
	manAstray = "[0:v]split[#a][#b];[#a]trim=start_frame=100,setpts=PTS-STARTPTS[#c];" +
		"[#b]trim=end_frame=100[#d];[#c][#d]concat,hflip"
	manRests = "[0:v]trim=end_frame=10" + backAndForth
	// The woman smiles and turns her head, but says nothing.
	womanFar   = "[1:v]fps=25" + backAndForth + ",crop=480:480:130:60"
	womanClose = "[1:v]fps=25" + backAndForth + ",crop=340:340:200:120"
	portrait   = "[2:v]crop=iw/2:ih:iw/2:0" + backAndForth
	nods       = portrait + ",crop=280:280:36:36+18*sin(2*PI*t*1.5)"

	backAndForth = ",split[#k][#l];[#k]reverse[#m];[#l][#m]concat,loop=-1:300,trim=end_frame=200,setpts=N/25/TB"
	faint        = ",scale=80:80,noise=alls=10:allf=t"
)

// silent returns the panel of the man who rests while an expression of t, in seconds, holds.
func silent(when string) string {
	return man + "[#x];" + manRests + "[#y];[#x][#y]overlay=enable='" + when + "'"
}

// The sounds of clips.
const (
	own     = "[0:a]acopy"
	nothing = "anullsrc=d=8"
	noise   = "anoisesrc=d=8:a=.3"
	noisy   = "[0:a]volume=2[o];anoisesrc=d=8:a=.05[n];[o][n]amix"
	music   = "aevalsrc='.2*sin(2*PI*t*(220+110*floor(mod(t*3\\,4))))*(1+sin(2*PI*t*3)):d=8'"
)

// ownVoice is the sound of most clips.
var ownVoice = map[string]string{"voice": own}

// scenes are pictures of people side by side, some of whom speak, each with some sounds.
var scenes = []struct {
	name, rate string            // rate in frames/s
	sounds     map[string]string // by name
	panels     []string
	want       []int // the panel of the speaker in each of as many equal parts of the clip
}{
	{name: "turns", rate: "25", want: []int{0, 1},
		sounds: map[string]string{"voice": own, "no sound": nothing, "noise": noise, "music": music, "noise with the voice": noisy},
		panels: []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}},
	{name: "30 frames/s", rate: "30", want: []int{0, 1},
		sounds: ownVoice,
		panels: []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}},
	{name: "50 frames/s", rate: "50", want: []int{0, 1},
		sounds: ownVoice,
		panels: []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}},
	{name: "12 frames/s", rate: "12", want: []int{0, 1},
		sounds: ownVoice,
		panels: []string{silent("gte(t,4)"), silent("lt(t,4)") + ",hflip"}},
	{name: "poor pictures", rate: "25", want: []int{0, 1},
		sounds: ownVoice,
		panels: []string{silent("gte(t,4)") + faint, silent("lt(t,4)") + ",hflip" + faint}},
	{name: "short turns", rate: "25", want: []int{0, 1, 0, 1},
		sounds: ownVoice,
		panels: []string{silent("mod(floor(t/2),2)"), silent("not(mod(floor(t/2),2))") + ",hflip"}},
	{name: "three people", rate: "25", want: []int{0, 2},
		sounds: ownVoice,
		panels: []string{silent("gte(t,4)"), portrait, silent("lt(t,4)") + ",hflip"}},
	{name: "a woman between", rate: "25", want: []int{0, 2},
		sounds: ownVoice,
		panels: []string{silent("gte(t,4)"), womanFar, silent("lt(t,4)") + ",hflip"}},
	{name: "a woman who smiles", rate: "25", want: []int{0},
		sounds: ownVoice,
		panels: []string{man, womanFar}},
	{name: "close", rate: "25", want: []int{1},
		sounds: map[string]string{"voice": own, "no sound": nothing},
		panels: []string{womanClose, man}},
	{name: "who nods", rate: "25", want: []int{1},
		sounds: ownVoice,
		panels: []string{nods, man}},
	{name: "out of step", rate: "25", want: []int{1},
		sounds: ownVoice,
		panels: []string{manAstray, man}},
	{name: "in step", rate: "25", want: []int{0},
		sounds: ownVoice,
		panels: []string{man, manAstray}},
}

// These are the scenes of TestScenes: for the built-in networks one of each kind, for others fewer.
var (
	quick        = []string{"turns", "50 frames/s", "three people", "close", "out of step", "two_people.mp4"}
	withNetworks = []string{"out of step"}
)

// TestScenes finds the speakers in the quick scenes with the networks of package eyes, and in one with others.
func TestScenes(t *testing.T) { testScenes(t, true) }

// TestScenes_long finds the speakers in the other scenes.
func TestScenes_long(t *testing.T) { testScenes(t, false) }

func testScenes(t *testing.T, listed bool) {
	known := []string{"two_people.mp4"}
	for _, s := range scenes {
		known = append(known, s.name)
	}
	in := func(list []string) func(string) bool {
		for _, scene := range list {
			if !slices.Contains(known, scene) {
				t.Errorf("there is no scene %q", scene)
			}
		}
		return func(scene string) bool { return slices.Contains(list, scene) == listed }
	}
	t.Run("built in", func(t *testing.T) {
		detector, err := detection.New(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		inScenes(t, detector, nil, in(quick))
	})
	t.Run("networks", func(t *testing.T) { inScenes(t, networks(t), lightASD(t), in(withNetworks)) })
}

// networks returns the detector of the networks.
func networks(t *testing.T) detection.Detector {
	t.Helper()
	detector, err := detection.New(t.Context(), slog.New(slog.DiscardHandler), onnxtest.LoadWith(t, filepath.Join(onnxtest.Models(t), "ultraface_rfb_320.onnx"), onnx.Options{}), onnxtest.LoadWith(t, filepath.Join(onnxtest.Models(t), "facemesh_192.onnx"), onnx.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { detector.Close() })
	return detector
}

// inScenes finds the speakers in the wanted scenes, and in a clip of two people.
func inScenes(t *testing.T, detector detection.Detector, network *Network, wanted func(scene string) bool) {
	media := filepath.Join(filepath.Dir(onnxtest.Models(t)), "media")
	for _, s := range scenes {
		if wanted(s.name) {
			t.Run(s.name, func(t *testing.T) {
				watch(t, makeScene(t, media, s.rate, s.sounds, s.panels), detector, network).judge(t, len(s.panels), s.want)
			})
		}
	}
	if wanted("two_people.mp4") {
		t.Run("two_people.mp4", func(t *testing.T) {
			watch(t, map[string]string{"voice": filepath.Join(media, "two_people.mp4")}, detector, network).judge(t, 2, []int{0})
		})
	}
}

func lightASD(t testing.TB) *Network {
	t.Helper()
	n, err := NewNetwork(t.Context(), []*onnx.Session{onnxtest.LoadWith(t, filepath.Join(onnxtest.Models(t), "light_asd.onnx"), onnx.Options{})}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// makeScene makes clips of panels side by side, with the same pictures and one sound each, and
// returns their paths by the name of the sound.
func makeScene(t *testing.T, media, rate string, sounds map[string]string, panels []string) map[string]string {
	t.Helper()
	var graph, row strings.Builder
	for i, p := range panels {
		name := fmt.Sprint("p", i)
		fmt.Fprint(&graph, strings.ReplaceAll(p, "#", name), ",scale=320:320,setsar=1[", name, "];")
		fmt.Fprint(&row, "[", name, "]")
	}
	fmt.Fprintf(&graph, "%shstack=%d,fps=%s[v]", row.String(), len(panels), rate)
	var args []string
	for _, name := range []string{"talking_man.mp4", "woman.mp4", "two_people.mp4"} {
		args = append(args, "-i", filepath.Join(media, name))
	}
	pictures := ffmpegtest.Make(t, "pictures.mp4", append(args, "-filter_complex", graph.String(),
		"-map", "[v]", "-t", "8", "-crf", "20", "-preset", "veryfast")...)
	clips := map[string]string{}
	for name, sound := range sounds {
		clips[name] = ffmpegtest.Make(t, "clip.mp4", "-i", filepath.Join(media, "talking_man.mp4"), "-i", pictures,
			"-filter_complex", sound+"[a]", "-map", "1:v", "-map", "[a]", "-t", "8", "-c:v", "copy")
	}
	return clips
}

// watched is the result for a clip: the speakers by each of its sounds.
type watched struct {
	active map[string]func(frame int) int // by the name of the sound
	places []map[int]float32              // place of each face in each frame, by track, from 0 left to 1 right
}

// listener finds the speakers by one sound.
type listener struct {
	*Analyser
	heard   *speech.Speech
	windows chan *Window
	done    chan error
}

// listen returns the listener of a clip's sound.
func listen(t *testing.T, info *medium.Info, network *Network) *listener {
	t.Helper()
	sound, err := ffmpegtest.Tools(t).OpenSound(t.Context(), info, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	mfcc := NewMFCC(check.Scratch(t))
	heard, err := speech.Read(io.TeeReader(sound, mfcc), check.Scratch(t))
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{New(info.Video.Rate.Float(), network), heard, make(chan *Window), make(chan error)}
	go func() { l.done <- l.Score(t.Context(), l.windows, mfcc) }()
	return l
}

func (l *listener) give(complete []*Window) {
	for _, w := range complete {
		l.windows <- w
	}
}

// watch tracks the faces of clips with the same pictures once, and finds the speakers by the sound of each.
func watch(t *testing.T, clips map[string]string, detector detection.Detector, network *Network) watched {
	t.Helper()
	w := watched{active: map[string]func(int) int{}}
	all := map[string]*listener{}
	var info *medium.Info
	for name, path := range clips {
		var err error
		if info, err = ffmpegtest.Tools(t).Probe(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		all[name] = listen(t, info, network)
	}
	observe(t, info, detector, func(f alignment.Frame) {
		places := map[int]float32{}
		for _, face := range f.Faces {
			places[face.Track] = face.To.Apply(alignment.Middle).X / float32(info.Video.Width)
		}
		w.places = append(w.places, places)
		for _, l := range all {
			l.give(l.Add(f))
		}
	})
	for name, l := range all {
		l.give(l.End())
		close(l.windows)
		if err := <-l.done; err != nil {
			t.Fatal(err)
		}
		w.active[name] = l.Active(l.heard)
	}
	return w
}

// observe tracks and aligns the faces of a clip, and calls add with each frame.
func observe(t *testing.T, info *medium.Info, detector detection.Detector, add func(alignment.Frame)) {
	t.Helper()
	frames, err := ffmpegtest.Tools(t).OpenFrames(t.Context(), info, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	addAll := func(aligned []alignment.Frame) {
		for _, f := range aligned {
			add(f)
		}
	}
	fps := info.Video.Rate.Float()
	tracker, aligner := tracking.NewTracker(detector, fps), alignment.NewAligner(fps)
	frame := info.Video.NewFrame()
	for frames.Read(frame) == nil {
		faces, cut, err := tracktest.Add(t.Context(), tracker, frame)
		if err != nil {
			t.Fatal(err)
		}
		addAll(aligner.Add(faces, cut))
	}
	addAll(aligner.End())
}

// judge checks that the speaker is in the right panel in 95 % of the frames by each sound. All frames
// count, also those of a pause between two turns, in which no one is heard or moves the lips. There
// are ten of them after the first of the short turns.
func (w watched) judge(t *testing.T, panels int, want []int) {
	t.Helper()
	for name, active := range w.active {
		n, right := len(w.places), 0
		var got strings.Builder
		for i, places := range w.places {
			panel := -1
			if x, ok := places[active(i)]; ok {
				panel = int(x * float32(panels))
			}
			if i%(n/40) == 0 {
				fmt.Fprint(&got, panel)
			}
			if panel == want[i*len(want)/n] {
				right++
			}
		}
		t.Logf("%s: right in %d of %d frames: %s", name, right, n, got.String())
		if float64(right) < .95*float64(n) {
			t.Errorf("%s: right in %d of %d frames, want 95 %%", name, right, n)
		}
	}
}
