// Package store groups the adapters that keep records and files: SQLite and a disk on one machine,
// DynamoDB and S3 on AWS, and the archive of a backup.
//
// May import: domain.
//
// Inside: dynamodb → dynamodb/callers, dynamodb/queue, dynamodb/table; dynamodb/callers → dynamodb/table; dynamodb/queue → dynamodb/table.
package store
