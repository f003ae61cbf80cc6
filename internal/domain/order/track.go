package order

// AudioTrack is the number of a sound track in its file, from 1. 0 is the track that players take.
type AudioTrack = Whole[audioTrack]

type audioTrack struct{}

func (audioTrack) option() *Option { return &audioTrackOption }

// VideoTrack is the number of a track of pictures in its file, from 1. 0 is the track that players take.
type VideoTrack = Whole[videoTrack]

type videoTrack struct{}

func (videoTrack) option() *Option { return &videoTrackOption }

// mostTracks is the largest number of a track.
const mostTracks = 64
