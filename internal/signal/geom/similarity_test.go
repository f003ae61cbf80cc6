package geom

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFit(t *testing.T) {
	square := []Point{{0, 0}, {2, 0}, {2, 2}, {0, 2}}
	for _, c := range []struct {
		name     string
		from, to []Point
		want     Similarity
	}{
		{"itself", square, square, Similarity{A: 1}},
		{"a shift", square, []Point{{5, -3}, {7, -3}, {7, -1}, {5, -1}}, Similarity{A: 1, X: 5, Y: -3}},
		{"a scaling", square, []Point{{0, 0}, {6, 0}, {6, 6}, {0, 6}}, Similarity{A: 3}},
		{"a quarter turn", square, []Point{{0, 0}, {0, 2}, {-2, 2}, {-2, 0}}, Similarity{B: 1}},
		{"two points", square[:2], []Point{{1, 1}, {1, 5}}, Similarity{B: 2, X: 1, Y: 1}},
		{"errors that cancel out", square, []Point{{-1, -1}, {3, -1}, {3, 3}, {-1, 3}}, Similarity{A: 2, X: -1, Y: -1}},
	} {
		if got := Fit(c.from, c.to); !alike(got, c.want, 1e-5) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestFitIsTheBest checks that no similarity near the one found errs less.
func TestFitIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	from, to := points(r, 9), points(r, 9)
	best := Fit(from, to)
	for range 200 {
		other := best
		other.A += .02 * float32(r.NormFloat64())
		other.B += .02 * float32(r.NormFloat64())
		other.X += float32(r.NormFloat64())
		other.Y += float32(r.NormFloat64())
		if got, least := misfit(other, from, to), misfit(best, from, to); got < least {
			t.Fatalf("%+v errs by %g, %+v by %g", other, got, best, least)
		}
	}
}

func TestSimilarities(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		s, u, p := similarity(r), similarity(r), points(r, 1)[0]
		if got := s.Inverse().Apply(s.Apply(p)); Distance(got, p) > .01 {
			t.Errorf("%+v and its inverse bring %v to %v", s, p, got)
		}
		if got, want := s.Then(u).Apply(p), u.Apply(s.Apply(p)); Distance(got, want) > .01 {
			t.Errorf("%+v then %+v brings %v to %v, want %v", s, u, p, got, want)
		}
		want := Point{.75*s.Apply(p).X + .25*u.Apply(p).X, .75*s.Apply(p).Y + .25*u.Apply(p).Y}
		if got := s.Lerp(u, .25).Apply(p); Distance(got, want) > .01 {
			t.Errorf("a quarter of the way from %+v to %+v brings %v to %v, want %v", s, u, p, got, want)
		}
		if got := Fit([]Point{{0, 0}, {100, 0}, p}, []Point{s.Apply(Point{}), s.Apply(Point{100, 0}), s.Apply(p)}); !alike(got, s, .01) {
			t.Errorf("fit finds %+v, want %+v", got, s)
		}
	}
}

func points(r *rand.Rand, n int) []Point {
	p := make([]Point, n)
	for i := range p {
		p[i] = Point{200 * r.Float32(), 200 * r.Float32()}
	}
	return p
}

// similarity returns one of scale .5 to 2 and any turn.
func similarity(r *rand.Rand) Similarity {
	sin, cos := math.Sincos(2 * math.Pi * r.Float64())
	scale := math.Exp2(2*r.Float64() - 1)
	return Similarity{float32(scale * cos), float32(scale * sin), 100 * r.Float32(), 100 * r.Float32()}
}

func misfit(s Similarity, from, to []Point) (sum float64) {
	for i, p := range from {
		sum += math.Pow(float64(Distance(s.Apply(p), to[i])), 2)
	}
	return sum
}

func alike(a, b Similarity, most float32) bool {
	return max(magnitude(a.A-b.A), magnitude(a.B-b.B), magnitude(a.X-b.X), magnitude(a.Y-b.Y)) <= most
}

func magnitude(x float32) float32 { return max(x, -x) }
