package order_test

import (
	"reflect"
	"testing"

	"lipsync/internal/domain/order"
)

// TestUnsynced checks what is told of gaps: which count as one, which of too many, what is stored and what people read.
func TestUnsynced(t *testing.T) {
	gap := func(start, end float64, reason order.Cause) order.Gap {
		return order.Gap{Start: start, End: end, Reason: reason}
	}
	var many, odd []order.Gap
	for i := range 120 {
		at := float64(2 * i)
		many = append(many, gap(at, at+.2+float64(i%2)/2, order.MouthHidden))
		if i%2 == 1 && len(odd) < 50 {
			odd = append(odd, many[i])
		}
	}
	for _, c := range []struct {
		name  string
		given []order.Gap
		want  order.Unsynced
		says  string
	}{
		{"none", nil, order.Unsynced{}, ""},
		{"near ones of one reason", []order.Gap{gap(0, 1, order.TurnedAway), gap(1.4, 2, order.TurnedAway), gap(2, 2.1, order.NoFaceSeen), gap(2.1, 3, order.MouthHidden), gap(3.6, 4, order.MouthHidden)},
			order.Unsynced{Gaps: []order.Gap{gap(0, 2.1, order.TurnedAway), gap(2.1, 3, order.MouthHidden), gap(3.6, 4, order.MouthHidden)}},
			"Not synced: 0.0–2.1 s, the face is turned away or covered; 2.1–3.0 s, something is in front of the mouth; 3.6–4.0 s, something is in front of the mouth."},
		{"too many", many, order.Unsynced{Gaps: odd, LeftOut: 70},
			"Not synced: 2.0–2.7 s, something is in front of the mouth; 6.0–6.7 s, something is in front of the mouth; 10.0–10.7 s, something is in front of the mouth; " +
				"14.0–14.7 s, something is in front of the mouth; 18.0–18.7 s, something is in front of the mouth; and 115 more."},
		{"of a newer version", []order.Gap{gap(0, 1, "asleep")}, order.Unsynced{Gaps: []order.Gap{gap(0, 1, "asleep")}}, "Not synced: 0.0–1.0 s, asleep."},
	} {
		got := order.NewUnsynced(c.given)
		if !reflect.DeepEqual(got, c.want) || got.Says() != c.says {
			t.Errorf("%s: got %v, %q, want %v, %q", c.name, got, got.Says(), c.want, c.says)
		}
		if read, err := order.ParseUnsynced(got.Text()); err != nil || !reflect.DeepEqual(read, got) {
			t.Errorf("%s: read %v (%v), want %v", c.name, read, err, got)
		}
	}
	if _, err := order.ParseUnsynced("{"); err == nil {
		t.Error("read what isn't JSON")
	}
}
