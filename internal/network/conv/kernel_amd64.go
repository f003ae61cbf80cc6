package conv

import "golang.org/x/sys/cpu"

// vectors tells whether the processor has the instructions of the kernels in assembly.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA
