package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// checkMemory returns an error, a sentence for operators, if there is too little memory to load
// a large model. Without it the system would end the process.
func (m *Model) checkMemory(p Provider) error {
	if m.folder == "" || p != CPU {
		return nil
	}
	return enough(loading(m.size, m.halves), "/")
}

// loading returns the memory that the CPU provider takes to load a file of the size, in which halves bytes are weights of
// 16 bits. It copies weights into another order. Those of 16 bits become ones of 32, and for a while both are there.
func loading(size, halves int64) int64 { return size*2 + halves*3/2 }

// lacking returns the sentence about too little memory on the CPU, and what the provider before it said, if there was one.
func lacking(short error, before Provider, said error) error {
	if said == nil {
		return short
	}
	return fmt.Errorf("%w; with %s ONNX Runtime says %q", short, before, firstLine(said))
}

// firstLine returns the first line of an error. Those of ONNX Runtime can have many.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// enough returns an error if less memory is free than is wanted, as the files of the system in
// root tell.
func enough(wanted int64, root string) error {
	if free, ok := freeMemory(root); ok && free < wanted {
		return fmt.Errorf("loading it takes %.1f GB of memory, and %.1f GB are free", float64(wanted)/1e9, float64(free)/1e9)
	}
	return nil
}

// freeMemory returns the memory in bytes that this process can still take: that of the machine,
// or of the container, if that has less. It is not known everywhere.
func freeMemory(root string) (free int64, ok bool) {
	free, ok = number(filepath.Join(root, "proc/meminfo"), "MemAvailable:")
	free *= 1024
	group := filepath.Join(root, "sys/fs/cgroup")
	most, bounded := number(filepath.Join(group, "memory.max"), "")
	used, known := number(filepath.Join(group, "memory.current"), "")
	stat := filepath.Join(group, "memory.stat")
	inactive, _ := number(stat, "inactive_file") // the system takes files back when somebody needs memory
	active, _ := number(stat, "active_file")
	if left := most - used + inactive + active; bounded && known && (!ok || left < free) {
		return left, true
	}
	return free, ok
}

// number returns the number behind a name in a file of the system. Without a name it is the file's first.
func number(path, name string) (int64, bool) {
	text, _ := os.ReadFile(path) // it is empty where there is none
	words := strings.Fields(string(text))
	i := 0
	if name != "" {
		i = slices.Index(words, name) + 1
	}
	if i >= len(words) || name != "" && i == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(words[i], 10, 64)
	return n, err == nil
}
