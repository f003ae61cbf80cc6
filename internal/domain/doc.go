// Package domain groups what the product is, without HTTP, stores or media: failures, the order of a
// client, requests and their rules with the ports to everything outside, the table of settings, what an operator
// sets, and the version.
//
// May import: nothing.
//
// Inside: order → failure; order/page → order; lipsync → failure, order; operator → lipsync, settings; settings/page → settings.
package domain
