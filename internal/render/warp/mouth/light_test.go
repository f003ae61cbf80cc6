package mouth

import "testing"

// TestRelights checks which lights count as another light, and that what is relit stays a possible picture of a face.
func TestRelights(t *testing.T) {
	usual := light{luma: 120, cheeks: 130, contrast: 20, blue: -10, red: 20}
	same := relighting{1, 0, 1}
	for name, c := range map[string]struct {
		to      light
		changes bool
	}{
		"the same":              {usual, false},
		"a little brighter":     {light{luma: 130, cheeks: 140, contrast: 25, blue: -12, red: 18}, false},
		"a little darker":       {light{luma: 108, cheeks: 116, contrast: 15, blue: -8, red: 25}, false},
		"darker":                {light{luma: 60, cheeks: 65, contrast: 9, blue: -5, red: 9}, true},
		"brighter":              {light{luma: 190, cheeks: 196, contrast: 12, blue: -5, red: 9}, true},
		"black":                 {light{luma: 16, cheeks: 16}, true},
		"white":                 {light{luma: 235, cheeks: 235}, true},
		"a hat's shadow":        {light{luma: 60, cheeks: 130, contrast: 9, blue: -5, red: 9}, false},
		"a hand on the cheeks":  {light{luma: 120, cheeks: 60, contrast: 20, blue: -10, red: 20}, false},
		"glasses that mirror":   {light{luma: 180, cheeks: 131, contrast: 50, blue: -5, red: 9}, false},
		"shadow above, sun low": {light{luma: 60, cheeks: 220, contrast: 9, blue: -5, red: 9}, false},
	} {
		r := relightingOf(usual, c.to)
		if (r != same) != c.changes {
			t.Errorf("%s: got %v, changes: want %t", name, r, c.changes)
		}
		for _, v := range []float32{usual.luma - 2*usual.contrast, usual.luma, usual.luma + 2*usual.contrast} {
			if got := r.luma(v); got < 16-1 || got > 235+1 {
				t.Errorf("%s: luma %v becomes %v", name, v, got)
			}
		}
		if got := r.luma(r.lumaBefore(90)); !(abs(got-90) < .1) {
			t.Errorf("%s: 90 becomes %v and back %v", name, r.lumaBefore(90), got)
		}
	}
}
