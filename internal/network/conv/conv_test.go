package conv

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"lipsync/internal/network/half"
)

// drawn is a network in the making: its layers as JSON, and random weights.
type drawn struct {
	side    int
	layers  []string
	weights []float32
	random  *rand.Rand
}

func draw(side int) *drawn { return &drawn{side: side, random: rand.New(rand.NewPCG(1, 2))} }

// add adds a layer, and returns the weights that it gets: n random ones.
func (d *drawn) add(n int, layer string) []float32 {
	d.layers = append(d.layers, layer)
	numbers, halves := make([]float32, n), make([]byte, 2*n)
	for i := range numbers {
		numbers[i] = d.random.Float32() - .5
	}
	half.Encode(halves, numbers)
	half.Decode(numbers, halves)
	d.weights = append(d.weights, numbers...)
	return numbers
}

// file returns the network's file. Its outputs are tensors.
func (d *drawn) file(outputs ...int) []byte {
	var of []string
	for _, o := range outputs {
		of = append(of, fmt.Sprintf(`{"of":%d,"by":1}`, o))
	}
	list := fmt.Sprintf(`{"input":%d,"layers":[%s],"outputs":[%s]}`, d.side, strings.Join(d.layers, ","), strings.Join(of, ","))
	halves := make([]byte, 2*len(d.weights))
	half.Encode(halves, d.weights)
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(list))), list...), halves...)
}

// run reads the network, and runs it on an input.
func (d *drawn) run(t *testing.T, input []float32, outputs ...int) [][]float32 {
	t.Helper()
	n, err := Read(d.file(outputs...))
	if err != nil {
		t.Fatal(err)
	}
	got, again := runTwice(n, input)
	if !slices.EqualFunc(got, again, slices.Equal[[]float32]) {
		t.Error("on three cores the result differs")
	}
	return again
}

// runTwice runs a network on one core, and then on three in memory with numbers in it.
func runTwice(n *Network, input []float32) (first, second [][]float32) {
	_, sizes := n.Sizes()
	for _, size := range sizes {
		first, second = append(first, make([]float32, size)), append(second, make([]float32, size))
	}
	n.Run(1, input, first...)
	n.Run(3, input, second...)
	return first, second
}

// input returns random planes, and the same numbers as an image.
func (d *drawn) input() ([]float32, image) {
	p := newImage(d.side, d.side, colours)
	planes := make([]float32, len(p.numbers))
	for i := range planes {
		planes[i] = d.random.Float32()
		plane := d.side * d.side
		p.numbers[i%plane*colours+i/plane] = float64(planes[i])
	}
	return planes, p
}

// image is a picture whose pixels have their channels side by side.
type image struct {
	height, width, channels int
	numbers                 []float64
}

func newImage(height, width, channels int) image {
	return image{height, width, channels, make([]float64, height*width*channels)}
}

// at returns a number. Beyond the border all are 0.
func (p image) at(y, x, c int) float64 {
	if y < 0 || y >= p.height || x < 0 || x >= p.width || c >= p.channels {
		return 0
	}
	return p.numbers[(y*p.width+x)*p.channels+c]
}

func (p image) set(f func(y, x, c int) float64) image {
	for i := range p.numbers {
		p.numbers[i] = f(i/p.channels/p.width, i/p.channels%p.width, i%p.channels)
	}
	return p
}

// windowsOf is a convolution of each channel by the definition.
func windowsOf(p image, weights []float32, stride, before int) image {
	return newImage(p.height/stride, p.width/stride, p.channels).set(func(y, x, c int) float64 {
		sum := float64(weights[9*p.channels+c])
		for i := range 9 {
			sum += p.at(y*stride-before+i/3, x*stride-before+i%3, c) * float64(weights[i*p.channels+c])
		}
		return sum
	})
}

// productOf is a product by the definition, where numbers returns number k of the pixel.
func productOf(height, width, inputs, outputs int, weights []float32, add image, numbers func(y, x, k int) float64) image {
	return newImage(height, width, outputs).set(func(y, x, c int) float64 {
		sum := float64(weights[inputs*outputs+c]) + add.at(y, x, c)
		for k := range inputs {
			sum += numbers(y, x, k) * float64(weights[k*outputs+c])
		}
		if sum < 0 {
			sum *= float64(weights[(inputs+1)*outputs+c])
		}
		return sum
	})
}

func compare(t *testing.T, of string, got []float32, want image) {
	t.Helper()
	if len(got) != len(want.numbers) {
		t.Fatalf("%s: got %d numbers, want %d", of, len(got), len(want.numbers))
	}
	for i, w := range want.numbers {
		if d := math.Abs(float64(got[i]) - w); !(d < 1e-5*max(1, math.Abs(w))) {
			t.Fatalf("%s: number %d is %v, want %v", of, i, got[i], w)
		}
	}
}

// TestConvolutions compares convolutions of pictures of several sizes with sums by the definition.
func TestConvolutions(t *testing.T) {
	for _, side := range []int{2, 4, 6, 10, 16, 24, 34, 48} {
		for _, before := range []int{0, 1} {
			d := draw(side)
			planes, rgb := d.input()
			first := productOf(side, side, 27, 12, d.add(29*12, `{"op":"patches","from":[0],"channels":12,"stride":1,"before":1}`), image{},
				func(y, x, k int) float64 { return rgb.at(y-1+k/9, x-1+k/3%3, k%3) })
			halved := productOf(side/2, side/2, 27, 5, d.add(29*5, fmt.Sprintf(`{"op":"patches","from":[0],"channels":5,"stride":2,"before":%d}`, before)), image{},
				func(y, x, k int) float64 { return rgb.at(2*y-before+k/9, 2*x-before+k/3%3, k%3) })
			weights := d.add(10*12+14*20, `{"op":"separable","from":[1,1],"channels":20,"stride":1,"before":1}`)
			deep := windowsOf(first, weights[:120], 1, 1)
			same := productOf(side, side, 12, 20, weights[120:], first, deep.at)
			weights = d.add(10*20+22*9, fmt.Sprintf(`{"op":"separable","from":[3,2],"channels":9,"stride":2,"before":%d}`, before))
			deep = windowsOf(same, weights[:200], 2, before)
			small := productOf(side/2, side/2, 20, 9, weights[200:], halved, deep.at)
			alone := windowsOf(same, d.add(10*20, fmt.Sprintf(`{"op":"depthwise","from":[3],"stride":2,"before":%d}`, before)), 2, before)
			point := productOf(side/2, side/2, 20, 8, d.add(22*8, `{"op":"product","from":[5],"channels":8}`), image{}, alone.at)
			all := productOf(1, 1, 9*side*side/4, 3, d.add((9*side*side/4+2)*3, `{"op":"whole","from":[4],"channels":3}`), image{},
				func(_, _, k int) float64 { return small.numbers[k] })
			outputs := d.run(t, planes, 1, 2, 3, 4, 5, 6, 7)
			for i, want := range []image{first, halved, same, small, alone, point, all} {
				compare(t, fmt.Sprintf("side %d, %d before: tensor %d", side, before, i+1), outputs[i], want)
			}
			// Without them as outputs, tensors take the places of others.
			compare(t, fmt.Sprintf("side %d, %d before: the last tensor alone", side, before), d.run(t, planes, 7)[0], all)
		}
	}
}

// numbers returns random numbers around 0.
func numbers(random *rand.Rand, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = random.Float32() - .5
	}
	return list
}

// TestMatrix compares rows with products by the definition, and with a slope below 0.
func TestMatrix(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, size := range [][2]int{{1, 1}, {7, 6}, {40, 24}} {
		inputs, outputs := size[0], size[1]
		weights, biases := numbers(random, inputs*outputs), numbers(random, outputs)
		m := NewMatrix(weights, biases, .25)
		pitchIn, pitchOut := m.Pitches()
		in, out := numbers(random, Block*pitchIn), make([]float32, Block*pitchOut)
		m.Multiply(out, in)
		compare(t, fmt.Sprint(size), out, newImage(1, Block, pitchOut).set(func(_, y, c int) float64 {
			if c >= outputs {
				return 0
			}
			sum := float64(biases[c])
			for k := range inputs {
				sum += float64(in[y*pitchIn+k]) * float64(weights[k*outputs+c])
			}
			return max(sum, 0) + .25*min(sum, 0)
		}))
	}
}

// TestSizes compares layers that change the size of a picture with the definition.
func TestSizes(t *testing.T) {
	d := draw(8)
	planes, rgb := d.input()
	first := productOf(8, 8, 27, 12, d.add(29*12, `{"op":"patches","from":[0],"channels":12,"stride":1,"before":1}`), image{},
		func(y, x, k int) float64 { return rgb.at(y-1+k/9, x-1+k/3%3, k%3) })
	d.add(0, `{"op":"pool","from":[1]}`)
	d.add(0, `{"op":"double","from":[2,1]}`)
	d.add(0, `{"op":"spread","from":[1]}`)
	pooled := newImage(4, 4, 12).set(func(y, x, c int) float64 {
		return max(first.at(2*y, 2*x, c), first.at(2*y, 2*x+1, c), first.at(2*y+1, 2*x, c), first.at(2*y+1, 2*x+1, c))
	})
	doubled := newImage(8, 8, 12).set(func(y, x, c int) float64 {
		sum := first.at(y, x, c)
		for i := range 4 { // pixels are of half the size, and those beyond the border are like the nearest
			v, u := (float64(y)+.5)/2-.5, (float64(x)+.5)/2-.5
			row, column := math.Floor(v)+float64(i/2), math.Floor(u)+float64(i%2)
			share := (1 - math.Abs(v-row)) * (1 - math.Abs(u-column))
			sum += share * pooled.at(int(min(max(row, 0), 3)), int(min(max(column, 0), 3)), c)
		}
		return sum
	})
	spread := newImage(16, 16, 3).set(func(y, x, c int) float64 { return first.at(y/2, x/2, y%2*6+x%2*3+c) })
	outputs := d.run(t, planes, 2, 3, 4)
	compare(t, "pool", outputs[0], pooled)
	compare(t, "double", outputs[1], doubled)
	compare(t, "spread", outputs[2], spread)
}

// TestPart compares the layers of a part of a face with the definition: in the part's picture the face is upright.
func TestPart(t *testing.T) {
	d := draw(16)
	planes, rgb := d.input()
	first := productOf(16, 16, 27, 8, d.add(29*8, `{"op":"patches","from":[0],"channels":8,"stride":1,"before":1}`), image{},
		func(y, x, k int) float64 { return rgb.at(y-1+k/9, x-1+k/3%3, k%3) })
	d.add(0, `{"op":"pool","from":[1]}`)
	halfway := len(d.weights)
	d.add((16*16*8+2)*12, `{"op":"whole","from":[1],"channels":12}`)
	clear(d.weights[halfway:])
	// The points are the biases: pixels of a picture that is twice as large. A point's third number doesn't count.
	points := []float32{8, 8, 9, 24, 20, 9, 12, 22, 9, 18, 8, 9}
	copy(d.weights[halfway+16*16*8*12:], points)
	d.add(0, `{"op":"frame","from":[3],"size":8,"scale":1.5,"share":0.5,"level":[0,1],"points":[0,1,2,3]}`)
	d.add(0, `{"op":"crop","from":[1,4],"size":8}`)
	halfway = len(d.weights)
	d.add((16*16*8+2)*4, `{"op":"whole","from":[1],"channels":4}`)
	clear(d.weights[halfway:])
	copy(d.weights[halfway+16*16*8*4:], []float32{4, 4, 8, 2}) // the middle, and a point that is 4 to the right of it and 2 above
	d.add(0, `{"op":"place","from":[6,4],"share":0.5}`)

	angle := math.Atan2(12, 16)
	cos, sin := math.Cos(angle), math.Sin(angle)
	low, high := [2]float64{99, 99}, [2]float64{-99, -99}
	for i := range 4 {
		x, y := float64(points[3*i])/2, float64(points[3*i+1])/2
		for k, v := range []float64{cos*x + sin*y, cos*y - sin*x} {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	to := func(x, y float64) (float64, float64) { // from pixels of the part's picture
		u := (low[0]+high[0])/2 + (x/8-.5)*1.5*(high[0]-low[0])
		v := (low[1]+high[1])/2 + (y/8-.5)*1.5*(high[1]-low[1])
		return cos*u - sin*v, sin*u + cos*v
	}
	cropped := newImage(8, 8, 8).set(func(y, x, c int) (sum float64) {
		u, v := to(float64(x)+.5, float64(y)+.5)
		u, v = u-.5, v-.5
		for i := range 4 {
			row, column := math.Floor(v)+float64(i/2), math.Floor(u)+float64(i%2)
			sum += (1 - math.Abs(v-row)) * (1 - math.Abs(u-column)) * first.at(int(row), int(column), c)
		}
		return sum
	})
	x0, y0 := to(0, 0)
	moved := newImage(1, 1, 4).set(func(_, _, c int) float64 {
		x, y := to([]float64{4, 8}[c/2], []float64{4, 2}[c/2])
		// The shift is in pixels of the larger picture; the rest isn't.
		return []float64{x + x0, y + y0}[c%2]
	})
	outputs := d.run(t, planes, 5, 7)
	compare(t, "crop", outputs[0], cropped)
	compare(t, "place", outputs[1], moved)
}

// TestAtOnce runs a network by many goroutines. Each must get its own result, and runs on one core must not allocate memory.
func TestAtOnce(t *testing.T) {
	d := draw(24)
	d.add(29*16, `{"op":"patches","from":[0],"channels":16,"stride":2,"before":1}`)
	d.add(10*16+18*16, `{"op":"separable","from":[1,1],"channels":16,"stride":1,"before":1}`)
	n, err := Read(d.file(2))
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		planes, _ := d.input()
		_, want := runTwice(n, planes)
		wait.Go(func() {
			for range 50 {
				if _, got := runTwice(n, planes); !slices.Equal(got[0], want[0]) {
					t.Error("another goroutine changed the result")
				}
			}
		})
	}
	wait.Wait()
	planes, _ := d.input()
	out := make([]float32, 12*12*16)
	if got := testing.AllocsPerRun(100, func() { n.Run(1, planes, out) }); got > 0 && !raced {
		t.Errorf("a run allocates %v times", got)
	}
}
