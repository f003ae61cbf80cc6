package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
)

func TestParseGPUs(t *testing.T) {
	for _, c := range []struct {
		text string
		want []GPU
		err  string
	}{
		{"580.159.03, 4, 143771, NVIDIA H200\n", []GPU{{"NVIDIA H200", "580.159.03", 4, 143771}}, ""},
		{"1, 2, 3, A, B\n1, 5, 6, C\n", []GPU{{"A, B", "1", 2, 3}, {"C", "1", 5, 6}}, ""},
		{"", nil, "there is no NVIDIA GPU"},
		{"1, [N/A], 3, A\n", nil, `nvidia-smi says "1, [N/A], 3, A`},
		{"no devices\n", nil, `nvidia-smi says "no devices`},
	} {
		got, err := parseGPUs(c.text)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%q: got %v, %v, want %v, %s", c.text, got, err, c.want, c.err)
		}
	}
}

func TestCompare(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name      string
		got, want [][]float32
		d         difference
		ok        bool
	}{
		{"the same", [][]float32{{1, 2}}, [][]float32{{1, 2}}, difference{}, true},
		{"near", [][]float32{{0, 255}, {.5}}, [][]float32{{1, 256}, {.5}}, difference{1, 1. / 256}, true},
		{"the largest of all outputs", [][]float32{{100}, {2}}, [][]float32{{101}, {1}}, difference{1, 1}, false},
		{"of nothing", [][]float32{{1}}, [][]float32{{0}}, difference{1, math.Inf(1)}, false},
		{"NaN", [][]float32{{nan}}, [][]float32{{1}}, difference{}, false},
		{"NaN on the CPU", [][]float32{{1}}, [][]float32{{nan}}, difference{}, false},
		{"NaN on both", [][]float32{{nan}}, [][]float32{{nan}}, difference{}, false},
		{"infinite", [][]float32{{inf}}, [][]float32{{1}}, difference{}, false},
		{"infinite on the CPU", [][]float32{{1}}, [][]float32{{-inf}}, difference{}, false},
		{"infinite on both", [][]float32{{inf}}, [][]float32{{inf}}, difference{}, false},
		{"another size", [][]float32{{1}}, [][]float32{{1, 1}}, difference{}, false},
		{"fewer", [][]float32{{1}}, [][]float32{{1}, {1}}, difference{}, false},
	} {
		if d, err := compare(c.got, c.want); d != c.d || (err == nil) != c.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", c.name, d, err, c.d, c.ok)
		}
	}
}

func TestShapes(t *testing.T) {
	got := shapes(catalog.ActiveSpeaker, []onnx.Info{{Shape: []int{-1, -1, 13}}, {Shape: []int{1, -1, 112, 112}}}, 4)
	if !slices.Equal(got[0], []int{1, 100, 13}) || !slices.Equal(got[1], []int{1, 25, 112, 112}) {
		t.Errorf("got %v", got)
	}
	if got := shapes(catalog.Wav2Lip, []onnx.Info{{Shape: []int{-1, 6, 96, 96}}}, 4); !slices.Equal(got[0], []int{4, 6, 96, 96}) {
		t.Errorf("got %v", got)
	}
}

// TestLikeness checks that a difference of 16 levels is a PSNR of 24.05 dB, and that blurred
// structure is distinguished from a shift of brightness.
func TestLikeness(t *testing.T) {
	frame := func(f func(i int) int) *image.YCbCr {
		img := image.NewYCbCr(image.Rect(0, 0, 64, 64), image.YCbCrSubsampleRatio420)
		for i := range img.Y {
			img.Y[i] = byte(f(i))
		}
		return img
	}
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]int, 64*64)
	for i := range noise {
		noise[i] = 64 + random.IntN(64)
	}
	picture := frame(func(i int) int { return noise[i] })
	for _, c := range []struct {
		name       string
		other      *image.YCbCr
		psnr, ssim float64
	}{
		{"the same", picture, math.Inf(1), 1},
		{"brighter", frame(func(i int) int { return noise[i] + 16 }), 24.05, .98},
		{"flat", frame(func(int) int { return 95 }), 22.8, .15},
	} {
		var l likeness
		l.add(picture, c.other)
		l.add(picture, c.other)
		if got := l.psnr(); got != c.psnr && math.Abs(got-c.psnr) > .1 {
			t.Errorf("%s: PSNR %.2f, want %.2f", c.name, got, c.psnr)
		}
		if got := l.ssim / 2; math.Abs(got-c.ssim) > .02 {
			t.Errorf("%s: SSIM %.3f, want %.3f", c.name, got, c.ssim)
		}
	}
}

// TestKeepsTo checks that the GPU's encoder may lose a dB and take a quarter more bits, not more.
func TestKeepsTo(t *testing.T) {
	of := func(psnr, ssim float64, bytes int64) *encoded {
		squares := 255 * 255 / math.Pow(10, psnr/10)
		return &encoded{likeness{frames: 2, squares: 2 * squares, ssim: 2 * (1 - math.Pow(10, -ssim/10))}, bytes}
	}
	cpu := of(40, 20, 1000)
	for _, c := range []struct {
		gpu  *encoded
		want string
	}{
		{cpu, ""},
		{of(39.1, 19.1, 1250), ""},
		{of(38.9, 20, 1000), "PSNR is 38.9 dB"},
		{of(40, 18.9, 1000), "PSNR is 40.0 dB and SSIM 18.9 dB"},
		{of(45, 25, 1251), "a frame takes 5.0 kbit, and on the CPU 4.0 kbit"},
	} {
		if err := c.gpu.keepsTo(cpu); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestSqueeze checks that limits fall until batches become smaller or the network fails.
func TestSqueeze(t *testing.T) {
	for _, c := range []struct {
		name            string
		smaller, broken int64 // the limits in MiB below which batches are smaller, and all fails
		rows            int
		err             string
	}{
		{"smaller", 4000, 0, 4, ""},
		{"too little at once", 0, 4000, 4, "at 3456 MiB: full"},
		{"never", 0, 0, 20, "full batches fit at every limit"},
	} {
		rows, err := squeeze(func(limit int64) (bool, error) {
			if limit>>20 < c.broken {
				return false, errors.New("full")
			}
			return limit>>20 < c.smaller, nil
		})
		if len(rows) != c.rows || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: got %v, %v, want %d rows, %s", c.name, rows, err, c.rows, c.err)
		}
	}
}

// TestNoTime ends the time in the second of three checks: the first keeps its result, the second says that it was cut off, and the third
// is not run.
func TestNoTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	check := func(name string, run func(context.Context) ([][]string, error)) Check {
		return Check{Name: name, Run: run}
	}
	passes := func(context.Context) ([][]string, error) { return [][]string{{"1"}}, nil }
	var got []string
	err := Run(ctx, []Check{check("one", passes), check("two", func(ctx context.Context) ([][]string, error) {
		cancel()
		return [][]string{{"half"}}, ctx.Err()
	}), check("three", passes)}, func(r Result) error {
		got = append(got, fmt.Sprint(r.Name, len(r.Rows), errors.Is(r.Err, errNoTime)))
		return nil
	})
	if want := []string{"one1 false", "two1 true", "three0 true"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
