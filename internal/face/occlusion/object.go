package occlusion

import "slices"

// An object hides the lips in leastFrames frames, and is seen to reach the edge of the region in leastComing of them.
const leastFrames, leastComing = 4, 2

// covers returns the cover of each view, nil if nothing hides the mouth and there are no graphics in it.
func covers(views []view) []*Cover {
	u := usualOf(views)
	scene := make([][cells]degree, len(views))
	found := false
	for i := range views {
		switch {
		case views[i].seen:
			u.degrees(&views[i], &scene[i])
			found = found || slices.Contains(scene[i][:], alien)
		case i > 0:
			scene[i] = scene[i-1]
		}
	}
	var lips []int
	if found {
		lips = lipsOf(views)
	}
	var hidden [][cells]bool
	if len(lips) > 0 {
		hidden = objects(views, scene, shadeOf(u, lips), lips)
	}
	graphics := graphicsIn(views)
	if hidden == nil && graphics == nil {
		return nil
	}
	out := make([]*Cover, len(views))
	for i := range views {
		out[i] = newCover(views[i].to, hidden, graphics, i, lips)
	}
	return out
}

// objects returns the cells of each frame that are hidden by an object. lips are the cells of the lips.
func objects(views []view, scene [][cells]degree, colour shade, lips []int) (hidden [][cells]bool) {
	seen := colour.inAll(views, scene, lips)
	least := max(int(leastOfLips*float32(len(lips))+.5), byItself(scene, lips, seen)+1)
	fronts := make([]front, len(scene))
	for i := range scene {
		fronts[i] = frontOf(&scene[i], lips, least, seen[i])
	}
	hidden = make([][cells]bool, len(scene))
	for i := 0; i < len(fronts); i++ {
		if !fronts[i].hides {
			continue
		}
		first, last, isObject := stay(fronts, i)
		i = last
		if !isObject {
			continue
		}
		for ; first <= last; first++ {
			for _, c := range fronts[first].cells {
				hidden[first][c] = true
			}
			for _, c := range lips {
				hidden[first][c] = hidden[first][c] || fronts[first].unseen
			}
		}
	}
	return hidden
}

// stay returns the frames in which something is in front of the lips, and whether it is an object. start is the first frame in which it
// hides them. Then it may be out of sight for less than half a second.
func stay(fronts []front, start int) (first, last int, isObject bool) {
	first, last = start, start
	hides, comes := 0, 0
	for i := start; i < len(fronts) && i-last <= alone; i++ {
		if fronts[i].hides {
			hides++
		}
		if fronts[i].comes {
			comes++
		}
		if fronts[i].hides || fronts[i].unseen {
			last = i
		}
	}
	for first > 0 && fronts[first-1].touches {
		first--
	}
	for last+1 < len(fronts) && fronts[last+1].touches {
		last++
	}
	return first, last, hides >= leastFrames && comes >= leastComing
}
