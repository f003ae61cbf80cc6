package speaker

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/face"
	"lipsync/internal/ffmpeg"
	"lipsync/internal/ffmpeg/ffmpegtest"
	"lipsync/internal/onnx"
	"lipsync/internal/onnx/onnxtest"
	"lipsync/internal/speech"
)

// media returns the path of a clip that is not the project's own.
func media(t testing.TB, name string) string {
	t.Helper()
	shared := os.Getenv("LIPSYNC_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	path, err := filepath.Abs(filepath.Join(shared, "media", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s beside the repository or in $LIPSYNC_SHARED", filepath.Join("shared", "media", name))
	}
	return path
}

// The panels of clips, side by side, each of 320 × 320 pixels. The man's sound
// goes on below whatever is seen of him.
const (
	manTo4      = "[0:v]trim=0:4,setpts=PTS-STARTPTS"
	manFrom4    = "[0:v]trim=4:8,setpts=PTS-STARTPTS,hflip"
	manRests    = "[0:v]trim=0:0.4,setpts=PTS-STARTPTS,split[%[1]sa],reverse[%[1]sb];[%[1]sa][%[1]sb]concat,loop=-1:20,trim=0:4,setpts=PTS-STARTPTS"
	manAll      = "[0:v]trim=0:8,setpts=PTS-STARTPTS"
	manOther    = "[0:v]trim=4:8,setpts=PTS-STARTPTS,hflip[%[1]sa];[0:v]trim=0:4,setpts=PTS-STARTPTS,hflip[%[1]sb];[%[1]sa][%[1]sb]concat"
	womanSmiles = "[1:v]fps=25,crop=480:480:130:60,split[%[1]sa],reverse[%[1]sb];[%[1]sa][%[1]sb]concat,trim=0:8,setpts=PTS-STARTPTS"
	womanClose  = "[1:v]fps=25,crop=340:340:200:120,split[%[1]sa],reverse[%[1]sb];[%[1]sa][%[1]sb]concat,trim=0:8,setpts=PTS-STARTPTS"
	portrait    = "[2:v]crop=352:352:352:0,split[%[1]sa],reverse[%[1]sb];[%[1]sa][%[1]sb]concat,trim=0:8,setpts=PTS-STARTPTS"
)

func then(a, b string) string {
	return strings.ReplaceAll(a, "%[1]s", "%[1]sp") + "[%[1]sx];" + strings.ReplaceAll(b, "%[1]s", "%[1]sq") + "[%[1]sy];[%[1]sx][%[1]sy]concat"
}

// scene makes a clip of panels and returns its path.
func scene(t *testing.T, rate, sound string, panels ...string) string {
	var graph, row strings.Builder
	for i, p := range panels {
		name := string(rune('A' + i))
		fmt.Fprint(&graph, strings.ReplaceAll(p, "%[1]s", name), ",scale=320:320,setsar=1[", name, "];")
		fmt.Fprint(&row, "[", name, "]")
	}
	fmt.Fprintf(&graph, "%shstack=%d,fps=%s", row.String(), len(panels), rate)
	args := []string{"-i", media(t, "talking_man.mp4"), "-i", media(t, "woman.mp4"), "-i", media(t, "two_people.mp4"),
		"-f", "lavfi", "-i", sound, "-filter_complex", graph.String()}
	switch sound {
	case own:
		args = append(args, "-map", "0:a")
	default:
		args = append(args, "-map", "3:a")
	}
	return ffmpegtest.Make(t, "clip.mp4", append(args, "-t", "8", "-crf", "20")...)
}

const (
	own     = "anullsrc=d=1"
	nothing = "anullsrc=d=8"
	noise   = "anoisesrc=d=8:a=.3"
	music   = "aevalsrc='.2*sin(2*PI*t*(220+110*floor(mod(t*3\\,4))))*(1+sin(2*PI*t*3)):d=8'"
)

func TestScenes(t *testing.T) {
	var network *Network
	if os.Getenv("NET") != "" {
		session, err := onnxtest.Runtime(t).Load("../../../shared/models/light_asd.onnx", onnx.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if network, err = NewNetwork(session); err != nil {
			t.Fatal(err)
		}
	}
	left := func(float64) int { return 0 }
	right := func(float64) int { return 1 }
	for _, test := range []struct {
		name, rate, sound string
		panels            []string
		want              func(seconds float64) int
	}{
		{"turns", "25", own, []string{then(manTo4, manRests), then(manRests, manFrom4)}, turnAt(4, 0, 1)},
		{"turns, 30", "30", own, []string{then(manTo4, manRests), then(manRests, manFrom4)}, turnAt(4, 0, 1)},
		{"turns, 50", "50", own, []string{then(manTo4, manRests), then(manRests, manFrom4)}, turnAt(4, 0, 1)},
		{"turns, 12", "12", own, []string{then(manTo4, manRests), then(manRests, manFrom4)}, turnAt(4, 0, 1)},
		{"turns, no sound", "25", nothing, []string{then(manTo4, manRests), then(manRests, manFrom4)}, turnAt(4, 0, 1)},
		{"turns, noise", "25", noise, []string{then(manTo4, manRests), then(manRests, manFrom4)}, turnAt(4, 0, 1)},
		{"turns, music", "25", music, []string{then(manTo4, manRests), then(manRests, manFrom4)}, turnAt(4, 0, 1)},
		{"turns of three", "25", own, []string{then(manTo4, manRests), portrait, then(manRests, manFrom4)}, turnAt(4, 0, 2)},
		{"turns, woman between", "25", own, []string{then(manTo4, manRests), womanSmiles, then(manRests, manFrom4)}, turnAt(4, 0, 2)},
		{"man and woman", "25", own, []string{manAll, womanSmiles}, left},
		{"man and woman close", "25", own, []string{womanClose, manAll}, right},
		{"man and woman close, no sound", "25", nothing, []string{womanClose, manAll}, right},
		{"out of step", "25", own, []string{manOther, manAll}, right},
		{"out of step, left", "25", own, []string{manAll, manOther}, left},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := scene(t, test.rate, test.sound, test.panels...)
			right, all, log := judge(t, network, path, len(test.panels), test.want)
			t.Logf("%d of %d %s", right, all, log)
			if float64(right) < .95*float64(all) {
				t.Errorf("right in %d of %d frames", right, all)
			}
		})
	}
	t.Run("two people", func(t *testing.T) {
		right, all, log := judge(t, network, media(t, "two_people.mp4"), 2, left)
		t.Logf("%d of %d %s", right, all, log)
	})
}

func turnAt(at float64, a, b int) func(float64) int {
	return func(seconds float64) int {
		switch {
		case seconds < at-.3:
			return a
		case seconds > at+.3:
			return b
		}
		return -1
	}
}

func judge(t *testing.T, network *Network, path string, panels int, want func(float64) int) (right, all int, log string) {
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	fps := info.Video.Rate.Float()
	s, err := tools.OpenSound(t.Context(), info, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	cepstra := NewCepstra()
	heard, err := speech.Read(io.TeeReader(s, cepstra))
	if err != nil {
		t.Fatal(err)
	}
	cast := New(fps, network)
	where := observe(t, tools, info, cast, cepstra)
	active := cast.Active(heard)
	var b strings.Builder
	for i, places := range where {
		w := want(float64(i) / fps)
		x, ok := places[active(i)]
		if i%int(fps/5+.5) == 0 {
			fmt.Fprint(&b, int(x*float32(panels)))
		}
		if w < 0 {
			continue
		}
		all++
		if ok && int(x*float32(panels)) == w {
			right++
		}
	}
	return right, all, b.String()
}

func observe(t *testing.T, tools *ffmpeg.Tools, info *ffmpeg.Info, cast *Cast, cepstra *Cepstra) (where []map[int]float32) {
	frames, err := tools.OpenFrames(t.Context(), info, 10000)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	finder, err := face.NewFinder(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tracker := face.NewTracker(finder)
	frame := info.Video.NewFrame()
	windows := make(chan *Window)
	done := make(chan error, 1)
	go func() { done <- cast.Score(t.Context(), windows, cepstra) }()
	give := func(complete []*Window) {
		for _, w := range complete {
			windows <- w
		}
	}
	for {
		if err := frames.Read(frame); err == io.EOF {
			give(cast.End())
			close(windows)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return where
		} else if err != nil {
			t.Fatal(err)
		}
		faces, cut, err := tracker.Add(frame)
		if err != nil {
			t.Fatal(err)
		}
		give(cast.Add(frame, faces, cut))
		places := map[int]float32{}
		for _, f := range faces {
			places[f.Track] = f.Box.X / float32(info.Video.Width)
		}
		where = append(where, places)
	}
}
