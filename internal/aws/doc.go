// Package aws groups the adapters of AWS services, and the wiring that Lambda functions and runners
// share.
//
// May import: domain, http for cloud, store for cloud.
//
// Inside: cloud → awsclient, emf, gateway; cloud/bus → cloud, eventbridge; cloud/jobs → batch,
// cloud, invoke; cloud/media → cloud; cloud/messages → cloud, sqs; cloud/pages → cloud; cloud/posts →
// cloud.
package aws
