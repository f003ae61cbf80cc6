// Package domain groups what the product is, without HTTP, stores or media: failures, the order of a
// client, records and their rules with the ports to everything outside, what doubts a clock, what bounds
// transfers by space and speed, the service that keeps the rules, the table of settings, what an operator sets,
// and the version.
//
// May import: nothing.
//
// Inside: failure/page → failure, order; order → failure; order/page → order; lipsync → failure, order;
// clock → lipsync; requests → failure, order, lipsync, transfer; webhooks → failure, order, lipsync;
// batches → failure, order, lipsync, requests; service → failure, order, lipsync, transfer, requests, webhooks,
// batches; operator → lipsync, settings; operator/limits → failure, lipsync, transfer, settings;
// settings → order, lipsync; settings/page → settings.
package domain
