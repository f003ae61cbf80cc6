package simulate

// Prices are in dollars, in us-east-1, without taxes and free tiers, from infra/README.md, which
// has the sources (2024 to June 2026). The Spot price always changes; it is assumed to be 40 % of
// the price on demand.
const (
	readUnit     = .125e-6
	writeUnit    = .625e-6
	gatewayCall  = 3.5e-6
	functionCall = .2e-6
	functionGBs  = .0000133334
	functionGB   = .5
	callGB       = 3008. / 1024 // of the function of small requests
	queueCall    = .4e-6
	objectPut    = 5e-6
	objectGet    = .4e-6
	instanceHour = .192 * .4          // m6i.xlarge, Spot
	extrasHour   = .011 + .007 + .005 // disk, its throughput, and a public address
	onDemandHour = .192
	g6Hour       = .805 * .4 // g6.xlarge, Spot
)

// cost is the cost of one service.
type cost struct {
	service string
	what    string // such as calls
	dollars float64
}
