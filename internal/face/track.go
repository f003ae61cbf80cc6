package face

import "image"

// Tracker follows the faces of one video.
type Tracker struct {
	detector *detector
	frames   int
	next     int // track number
	live     []*track
	cuts     cutter
}

// track is one person in the current shot.
type track struct {
	Face
	misses int // frames since the face was last seen
}

const (
	searchEvery   = 10  // frames between searches of the whole picture
	lookOutEvery  = 3   // the same while there is no face
	searchSide    = 480 // longest side of the picture that is searched, pixels
	smallestFace  = .09 // of the shorter side of the picture
	surelyAFace   = 12  // quality that starts a track
	stillAFace    = 2   // quality that goes on with one
	missesToLose  = 4   // frames
	landmarkScale = 180 // side of a face where its landmarks are searched, pixels
)

// NewTracker returns a tracker for one video.
func NewTracker() (*Tracker, error) {
	d, err := newDetector()
	if err != nil {
		return nil, err
	}
	return &Tracker{detector: d}, nil
}

// Add sees the video's next frame and returns the faces in it, and whether a
// new shot starts with it. The frame is not kept.
func (t *Tracker) Add(frame *image.YCbCr) (faces []Face, cut bool) {
	cut = t.cuts.add(frame)
	if cut {
		t.live = nil
	}
	t.follow(frame)
	every := searchEvery
	if len(t.live) == 0 {
		every = lookOutEvery
	}
	if t.frames%every == 0 || cut {
		t.search(frame)
	}
	t.frames++
	for _, k := range t.live {
		if k.misses == 0 {
			faces = append(faces, k.Face)
		}
	}
	return faces, cut
}

// follow looks for each known face near where it was.
func (t *Tracker) follow(frame *image.YCbCr) {
	live := t.live[:0]
	for _, k := range t.live {
		if f, ok := t.locate(frame, k.Box); ok && !taken(live, f.Box) {
			f.Track = k.Track
			k.Face, k.misses = f, 0
		} else {
			k.misses++
		}
		if k.misses < missesToLose {
			live = append(live, k)
		}
	}
	t.live = live
}

// search looks for new faces in the whole picture.
func (t *Tracker) search(frame *image.YCbCr) {
	bounds := frame.Bounds()
	factor := max(1, max(bounds.Dx(), bounds.Dy())/searchSide)
	p := shrink(frame, bounds, factor)
	smallest := smallestFace * float64(min(p.width, p.height))
	for _, s := range t.detector.find(p, int(smallest), max(p.width, p.height), .1) {
		b := s.box.scale(float32(factor), Point{})
		if s.quality < surelyAFace || taken(t.live, b) {
			continue
		}
		if f, ok := t.locate(frame, b); ok && !taken(t.live, f.Box) {
			f.Track = t.next
			t.next++
			t.live = append(t.live, &track{Face: f})
		}
	}
}

// taken tells whether one of the tracks is where the box is.
func taken(by []*track, b Box) bool {
	for _, k := range by {
		if Distance(Point{k.Box.X, k.Box.Y}, Point{b.X, b.Y}) < .5*max(k.Box.Size, b.Size) {
			return true
		}
	}
	return false
}

// locate finds the face that is near a box, and its landmarks.
func (t *Tracker) locate(frame *image.YCbCr, near Box) (Face, bool) {
	factor := max(1, int(near.Size/landmarkScale+.5))
	half := int(.8 * near.Size)
	area := image.Rect(int(near.X)-half, int(near.Y)-half, int(near.X)+half, int(near.Y)+half).Intersect(frame.Bounds())
	if area.Dx() < 2*factor || area.Dy() < 2*factor {
		return Face{}, false
	}
	p := shrink(frame, area, factor)
	origin := Point{float32(area.Min.X), float32(area.Min.Y)}
	size := near.Size / float32(factor)
	var best sighting
	for _, s := range t.detector.find(p, int(.85*size), int(1.2*size), .08) {
		b := s.box.scale(float32(factor), origin)
		if s.quality > best.quality && Distance(Point{b.X, b.Y}, Point{near.X, near.Y}) < .4*near.Size {
			best = s
		}
	}
	if best.quality < stillAFace {
		return Face{}, false
	}
	points, ok := t.detector.landmarks(p, best.box)
	if !ok {
		return Face{}, false
	}
	for i, q := range points {
		points[i] = q.scale(float32(factor), origin)
	}
	return Face{Box: best.box.scale(float32(factor), origin), Points: points}, true
}

// scale maps a point of a picture shrunk by the factor to the frame that it was
// cut from at the origin.
func (q Point) scale(factor float32, origin Point) Point {
	return Point{origin.X + (q.X+.5)*factor - .5, origin.Y + (q.Y+.5)*factor - .5}
}

func (b Box) scale(factor float32, origin Point) Box {
	q := Point{b.X, b.Y}.scale(factor, origin)
	return Box{q.X, q.Y, b.Size * factor}
}

// shrink returns the luma of an area of the frame, each pixel the mean of factor
// by factor.
func shrink(frame *image.YCbCr, area image.Rectangle, factor int) plane {
	p := plane{width: area.Dx() / factor, height: area.Dy() / factor}
	p.stride = p.width
	if factor == 1 {
		p.pix, p.stride = frame.Y[frame.YOffset(area.Min.X, area.Min.Y):], frame.YStride
		return p
	}
	p.pix = make([]uint8, p.width*p.height)
	sums := make([]int, p.width)
	for y := range p.height {
		clear(sums)
		for dy := range factor {
			row := frame.Y[frame.YOffset(area.Min.X, area.Min.Y+y*factor+dy):]
			for x := range sums {
				for _, v := range row[x*factor : (x+1)*factor] {
					sums[x] += int(v)
				}
			}
		}
		for x, s := range sums {
			p.pix[y*p.width+x] = uint8(s / (factor * factor))
		}
	}
	return p
}
