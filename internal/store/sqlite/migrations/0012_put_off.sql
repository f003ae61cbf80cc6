-- Before this, a sweep looked at the oldest open requests only.
CREATE INDEX requests_put_off ON requests (lease_until) WHERE lease = '' AND lease_until > 0;
