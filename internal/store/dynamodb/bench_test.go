package dynamodb_test

import "testing"

// BenchmarkTogether creates 100 requests of one account at once. The emulator's time says little
// about the time on AWS; the number of tries of each create says more.
func BenchmarkTogether(b *testing.B) {
	const n = 100
	tries := 0
	for b.Loop() {
		w := new(wire)
		createAll(b, openWire(b, w), n)
		for _, operation := range w.take() {
			if operation == "TransactWriteItems" {
				tries++
			}
		}
	}
	b.ReportMetric(float64(tries)/float64(b.N)/n, "tries/create")
}
