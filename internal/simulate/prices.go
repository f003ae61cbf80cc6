package simulate

// Prices are dollars in us-east-1, without taxes and free tiers, as infra/README.md has them
// with their sources (2024 to June 2026); Spot's changes all the time, and is taken for 40 % of the
// price on demand.
const (
	readUnit     = .125e-6
	writeUnit    = .625e-6
	gatewayCall  = 3.5e-6
	functionCall = .2e-6
	functionGBs  = .0000133334
	functionGB   = .5
	queueCall    = .4e-6
	objectPut    = 5e-6
	objectGet    = .4e-6
	instanceHour = .192 * .4          // m6i.xlarge, Spot
	extrasHour   = .011 + .007 + .005 // disk, its speed, public address
	onDemandHour = .192
)

// cost is what a service costs.
type cost struct {
	service string
	what    string // calls or other units
	dollars float64
}
