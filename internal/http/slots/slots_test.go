package slots

import "testing"

// TestTake bounds the calls of all keys together, and forgets a key without calls.
func TestTake(t *testing.T) {
	s := New(1, 1, 0)
	leave, ok := s.Take(t.Context(), "bob")
	if !ok {
		t.Fatal("the first call got no slot")
	}
	for _, key := range []string{"bob", "alice"} {
		if _, ok := s.Take(t.Context(), key); ok {
			t.Errorf("%s got a second slot", key)
		}
	}
	leave()
	leave, ok = s.Take(t.Context(), "alice")
	if !ok {
		t.Fatal("the slot wasn't given back")
	}
	leave()
	if len(s.keys) > 0 {
		t.Errorf("keys without calls are kept: %v", s.keys)
	}
}
