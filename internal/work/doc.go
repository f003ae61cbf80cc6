// Package work groups what does the work of a service: the worker that claims and renders requests, and
// the metrics of one machine.
//
// May import: domain, render for worker, store for worker.
//
// Inside: nothing.
package work
