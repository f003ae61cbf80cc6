-- Before this, nobody asked for the requests of one status.
CREATE UNIQUE INDEX requests_by_status ON requests (account, status, seq);
