// Package work groups what does the work of a service: the worker that claims and renders requests, and, of
// one machine, the schedule and the metrics.
//
// May import: domain, render for worker, store for worker.
//
// Inside: local → worker.
package work
