-- Before this, finding the requests of one status took long where many had one reference id.
CREATE UNIQUE INDEX requests_by_reference_status ON requests (account, reference_id, status, seq) WHERE reference_id <> '';
