package medium

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// display returns the side data that say how the pictures of a stream are turned, if there are any.
func (s stream) display() sideData {
	i := slices.IndexFunc(s.SideData, func(d sideData) bool { return d.Rotation != 0 || d.Display != "" })
	if i < 0 {
		return sideData{}
	}
	return s.SideData[i]
}

// quarter reports whether pictures are turned by a quarter.
func (d sideData) quarter() bool {
	return math.Abs(math.Abs(math.Remainder(d.Rotation, 180))-90) < 1
}

// turn returns the filters that show pictures as the display matrix says, nil if it changes nothing. They are those that ffmpeg would choose
// by itself, which begins its whole graph again when pictures change.
func (d sideData) turn() []string {
	a, c, e, known := d.matrix()
	clockwise := -d.Rotation
	clockwise -= 360 * math.Floor(clockwise/360+.9/360)
	near := func(angle float64) bool { return math.Abs(clockwise-angle) < 1 }
	var turned []string
	switch {
	case near(90) && c > 0:
		return []string{"transpose=cclock_flip"}
	case near(90):
		return []string{"transpose=clock"}
	case near(270) && c < 0:
		return []string{"transpose=clock_flip"}
	case near(270):
		return []string{"transpose=cclock"}
	case near(180) && !known:
		return []string{"hflip", "vflip"}
	case near(180) && a < 0:
		turned = []string{"hflip"}
	case !near(180) && !near(0):
		return []string{fmt.Sprintf("rotate=%g*PI/180", clockwise)}
	}
	if e < 0 {
		turned = append(turned, "vflip")
	}
	return turned
}

// matrix returns the first number of the first row of the display matrix, and the first two of the second.
func (d sideData) matrix() (a, c, e int64, known bool) {
	var numbers []int64
	for _, field := range strings.Fields(d.Display) {
		if n, err := strconv.ParseInt(field, 10, 64); err == nil {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) != 9 {
		return 0, 0, 0, false
	}
	return numbers[0], numbers[3], numbers[4], true
}
