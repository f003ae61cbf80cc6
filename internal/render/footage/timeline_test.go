package footage

import (
	"bytes"
	"fmt"
	"image"
	"slices"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/flow"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
)

func TestTimeline(t *testing.T) {
	moments := func(sources ...int) (all []moment) {
		for _, s := range sources {
			all = append(all, moment{source: s})
		}
		return all
	}
	for _, test := range []struct {
		mode           order.SyncMode
		source, speech int
		cuts           []int
		want           []moment
	}{
		{order.Bounce, 4, 9, nil, moments(0, 1, 2, 3, 2, 1, 0, 1, 2)},
		{order.Bounce, 2, 5, nil, moments(0, 1, 0, 1, 0)},
		{order.Bounce, 1, 3, nil, moments(0, 0, 0)},
		{order.Bounce, 9, 3, nil, moments(0, 1, 2)},
		{order.Loop, 4, 9, nil, moments(0, 1, 2, 3, 0, 1, 2, 3, 0)},
		{order.Loop, 2, 5, nil, moments(0, 1, 0, 1, 0)},
		{order.Loop, 1, 3, nil, moments(0, 0, 0)},
		{order.Loop, 9, 3, nil, moments(0, 1, 2)},
		{order.CutOff, 4, 9, nil, moments(0, 1, 2, 3)},
		{order.CutOff, 4, 4, nil, moments(0, 1, 2, 3)},
		{order.CutOff, 1, 3, nil, moments(0)},
		{order.CutOff, 9, 3, nil, moments(0, 1, 2)},
		{order.Pad, 4, 6, nil, moments(0, 1, 2, 3, 3, 3)},
		{order.Pad, 1, 3, nil, moments(0, 0, 0)},
		{order.Pad, 5, 3, nil, moments(0, 1, 2, 3, 4)},
		{order.Remap, 3, 3, nil, moments(0, 1, 2)},
		{order.Remap, 10, 5, nil, moments(1, 3, 5, 7, 9)},
		{order.Remap, 7, 5, nil, moments(0, 2, 3, 4, 6)},
		{order.Remap, 1, 2, nil, moments(0, 0)},
		{order.Remap, 3, 6, nil, []moment{{0, 0}, {0, 63}, {0, 191}, {1, 63}, {1, 191}, {2, 0}}},
		{order.Remap, 3, 6, []int{0, 1}, []moment{{0, 0}, {0, 0}, {1, 0}, {1, 63}, {1, 191}, {2, 0}}},
	} {
		line := NewTimeline(test.mode, test.source, test.speech, test.cuts)
		var got []moment
		for o := range line.Frames {
			got = append(got, line.at(o))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("mode %d, %d frames for %d: got %v, want %v", test.mode, test.source, test.speech, got, test.want)
		}
	}
}

// TestRuns checks that the runs of timelines are as long as they can be.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name string
		line Timeline
		want string
	}{
		{"bounce", bounce(4, 9), "0-4 4-7< 7-9 "},
		{"bounce, one frame of a run", bounce(4, 5), "0-4 4-5< "},
		{"bounce of two", bounce(2, 5), "0-2 2-4 4-5< "},
		{"bounce of one", bounce(1, 5), "0-5 "},
		{"loop", loop(4, 10), "0-4 4-8 8-10 "},
		{"loop, one frame of a run", loop(4, 5), "0-4 4-5< "},
		{"held", hold(3, 7), "0-7 "},
		{"faster", remap(9, 5, nil), "0-5 "},
		{"slower", remap(5, 9, nil), "0-9 "},
	} {
		got := ""
		for from := 0; from < c.line.Frames; {
			to, backward := c.line.run(from)
			got += fmt.Sprintf("%d-%d%s ", from, to, map[bool]string{true: "<"}[backward])
			from = to
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPlayModes plays timelines of each mode, from kept frames and from some that are decoded again, and compares each
// byte with that of a straight read.
func TestPlayModes(t *testing.T) {
	media := rendertest.Media{}
	for _, length := range []int{1, 23} {
		info, all := ffmpegtest.FramesBy(t, media, rendertest.Numbered(medium.RateOf(25_000), length).File(t, "numbered"))
		if len(all) != length || ffmpegtest.Number(all[length-1], 0) != length-1 {
			t.Fatalf("got %d frames, want %d", len(all), length)
		}
		for name, most := range map[string]int{"kept": 23, "decoded again": 7} {
			t.Run(fmt.Sprintf("%d frames, %s", length, name), func(t *testing.T) {
				t.Parallel()
				s := decodeAll(t, Source{Media: media, Video: info, Dir: t.TempDir(), most: most, Expected: length, Limit: 1000})
				defer s.Close()
				if want := length <= most; (s.kept != nil) != want {
					t.Fatalf("frames are kept: %t, want %t", !want, want)
				}
				for mode := order.Bounce; mode <= order.Remap; mode++ {
					for _, speech := range []int{length/2 + 1, length, length + 1, 2 * length} {
						checkPlayed(t, &player{s, NewTimeline(mode, length, speech, nil)}, all, fmt.Sprintf("mode %d, speech of %d", mode, speech))
					}
				}
			})
		}
	}
}

// checkPlayed compares what a player plays with a mix of the frames of a straight read.
func checkPlayed(t *testing.T, p *player, all []*image.YCbCr, name string) {
	t.Helper()
	output := 0
	free := flow.NewBuffers(2, func() []byte { return newFrame(p.Video.Video) })
	err := p.Play(t.Context(), p.line, 0, free, func(frame []byte) error {
		m, want := p.line.at(output), p.Video.Video.NewFrame()
		copy(medium.Bytes(want), medium.Bytes(all[m.source]))
		if m.next > 0 {
			for i, v := range medium.Bytes(all[m.source+1]) {
				own := &medium.Bytes(want)[i]
				*own = byte((int(*own)*(255-int(m.next)) + int(v)*int(m.next) + 127) / 255)
			}
		}
		if !bytes.Equal(frame, medium.Bytes(want)) {
			return fmt.Errorf("output frame %d isn't source frame %d", output, m.source)
		}
		output++
		free.Put(frame)
		return nil
	})
	if err != nil || output != p.line.Frames {
		t.Errorf("%s: %d frames and %v, want %d", name, output, err, p.line.Frames)
	}
}
