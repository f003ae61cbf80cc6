package conv

// vectors tells whether the kernels in assembly run: each such processor has their instructions.
var vectors = true
