//go:build !race

package conv

const raced = false
