package worker

// Config is what the worker works with, for tests that change it.
func (w *Worker) Config() *Config { return &w.c }
