module lipsync

go 1.26
