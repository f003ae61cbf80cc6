package order

import "lipsync/internal/domain/failure"

// Advice returns what people can do about a failure, "" for no failure.
func Advice(code failure.Reason) string {
	switch code {
	case "":
		return ""
	case failure.Canceled:
		return "Start it again whenever you like."
	case failure.InternalFault:
		return "The fault is ours, and the service tried more than once. Try again later. If it fails again, tell the operator of this service."
	case failure.HostFailing:
		return "The service had a fault of its own, such as a full disk, no network, no ffmpeg or outputs that could not be signed, and tried for hours. Try again later. If it fails again, tell the operator of this service."
	case failure.MediaNotAccessible:
		return "Open the address in a private window: it has to load there without signing in. Or send the file itself."
	case failure.MediaPrivate:
		return "The address is of a private network. Send the file itself, or ask the operator of this service to allow such addresses."
	case failure.MediaHostMissing:
		return "The host doesn’t exist, or accepts no connections. Check the address, or send the file itself."
	case failure.MediaUnreachable:
		return "The server gave no usable answer for an hour or more. Try again when it works, or send the file itself."
	case failure.MediaTooSlow:
		return "The server sends the file too slowly. Send the file itself."
	case failure.MediaUnsupported:
		return "Videos may be " + VideoFormats + ", or the pictures " + PictureFormats + "; audio may be " + SoundFormats + ", or the sound track of a video."
	case failure.VideoIsPicture:
		return "Convert a photo, such as a HEIC, to JPEG or PNG, and a moving WebP to MP4."
	case failure.MediaTruncated:
		return "A part of the file is missing: perhaps it was not sent or saved completely. Play it to the end first, then send it again."
	case failure.NoFace:
		return "The face has to be large enough to see the lips, upright or tilted, and turned to the camera for some of the time."
	case failure.FaceMissing:
		return "Cut the part without a face, or choose that frames without a face stay as they are."
	case failure.SpeedOutOfRange:
		return "One is more than twice as long as the other. Cut the longer one, or choose another length."
	case failure.FaceNotThere:
		return "Numbers of frames begin at 0. The point is in pixels from the top left corner of the video as you see it, and is on the face."
	case failure.BoxesWithoutFace:
		return "The first box is for the first frame of the video. Boxes are in pixels from the top left corner of the video as you see it."
	case failure.FaceFrameUnused:
		return "The video is cut where the audio or the preview ends. Choose the face in an earlier frame."
	case failure.BoxInvalid:
		return "The file is a list in JSON, such as [[600, 200, 720, 340], null], with left, top, right and bottom of a box."
	case failure.PreviewAfterEnd:
		return "Choose a part that begins earlier."
	case failure.SegmentAfterEnd:
		return "Let each segment begin before the end of the video, and its part of the audio before the end of the audio."
	case failure.FacesOfPicture:
		return "A picture shows one moment, so one person speaks in all of it. Make a request for each person."
	case failure.TrackMissing:
		return "Choose a track that the file has, or none to take the one that players take."
	case failure.OutputTooWide:
		return "Choose a smaller width, or none to keep that of the video."
	case failure.OutputRateAbove:
		return "Choose fewer frames a second, or none to keep those of the video."
	case failure.CodecNotInstalled:
		return "The ffmpeg of this service can’t write this codec. Choose another one, or ask the operator of this service to install it."
	case failure.NotSignable:
		return "Since this request was made, the operator of this service requires a signed manifest in each output. Choose mp4 or mov."
	case failure.UploadRefused:
		return "The storage refused the output. Perhaps the signature of its address has expired, or is not for PUT with the type of the file."
	case failure.UploadPrivate:
		return "The address to send the output to is of a private network. Leave it out, or ask the operator of this service to allow such addresses."
	case failure.UploadHostMissing:
		return "The host to send the output to doesn’t exist, or accepts no connections. Check the address, or leave it out."
	case failure.UploadUnreachable:
		return "The storage failed or was too slow each time. Try again when it works, or leave out its address and download the output."
	case failure.NoPicture, failure.NoSoundTrack:
		return "Perhaps video and audio were exchanged, or the file is damaged: play it first."
	case failure.MediaLargerThan, failure.MediaLongerThan, failure.PictureLargerThan, failure.FrameRateAbove, failure.DiskTooSmall:
		return "Cut it, or make it smaller, and send it again."
	case failure.TooManyPixels:
		return "Cut it, make it smaller, or ask for fewer frames a second by fps, and send it again."
	case failure.ModelNotInstalled:
		return "This service no longer has the model. Choose another one, or none, or ask the operator of this service."
	case failure.ProcessingTooLong:
		return "Convert the video to H.264, with a smaller picture or fewer frames per second, and send it again."
	default:
		return "Play both files first. If they play well, try again."
	}
}
