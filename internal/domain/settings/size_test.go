package settings

import "testing"

func TestSize(t *testing.T) {
	tests := []struct {
		text string
		want Size // -1: an error
	}{
		{"0", 0}, {"1048576", 1 << 20}, {"1KiB", 1 << 10}, {"500MiB", 500 << 20}, {"5GiB", 5 << 30},
		{"", -1}, {"GiB", -1}, {"-1", -1}, {"-1GiB", -1}, {"5GB", -1}, {"5 GiB", -1}, {"1.5GiB", -1},
		{"9223372036854775807", 1<<63 - 1}, {"9223372036854775808", -1}, {"9223372036854775807KiB", -1},
	}
	for _, test := range tests {
		got := Size(-1)
		if err := got.UnmarshalText([]byte(test.text)); (err != nil) != (test.want == -1) || err == nil && got != test.want {
			t.Errorf("%q: got %d, %v, want %d", test.text, got, err, test.want)
		}
	}
}
