// Package domain groups what the product is, without HTTP, stores or media: failures, the order of a
// client, records and their rules with the ports to everything outside, what the parts of the service share, what doubts a clock, what bounds
// transfers by space and speed, the service that keeps the rules, the table of settings, what an operator sets,
// and the version.
//
// May import: nothing.
//
// Inside: failure/page → failure, order; order → failure; order/page → order; lipsync → failure, order;
// base → failure, order, lipsync; clock → lipsync; requests → failure, order, lipsync, base, transfer;
// webhooks → failure, order, lipsync, base; batches → failure, order, lipsync, base, requests; service → failure, order, lipsync,
// base, transfer, requests, webhooks, batches; operator → lipsync, base, settings; operator/limits → failure, lipsync, transfer, settings;
// settings → order, lipsync; settings/page → settings.
package domain
