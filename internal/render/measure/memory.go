package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory returns the proportional set size of a process and its descendants, in bytes:
// memory that they share counts once. A process that has ended counts as nothing.
func Memory(pid int) int64 {
	rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	var total int64
	for line := range strings.Lines(string(rollup)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "Pss:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			total = kilobytes << 10
		}
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				total += Memory(n)
			}
		}
	}
	return total
}
