#!/bin/sh
# The steps that build the runner's image from a plain Debian 12; see Dockerfile.
#
#   image.sh packages      install the programs that the runner calls
#   image.sh user [ROOT]   create the user that it runs as, and its scratch folder
#   image.sh check         fail unless ffmpeg has all features that the runner needs
#   image.sh check-nvidia  the same for features of an NVIDIA GPU
set -eu

# Debian removes a version from its mirrors when it has a newer one. Then these packages
# come from its archive, as of the day when they were tested.
archive=20261115T000000Z
packages='ffmpeg=7:5.1.9-0+deb12u1 ca-certificates=20230311+deb12u1'

# The user's id. infra/stack and scratch volumes use the same.
id=65532

packages() {
	install_packages || { use_archive; install_packages; }
	rm -rf /var/lib/apt/lists/*
}

install_packages() {
	apt-get update -q &&
		# shellcheck disable=SC2086 # a list of words
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages
}

# Signatures of the archive are checked as usual, but its indexes have expired.
use_archive() {
	rm -f /etc/apt/sources.list.d/*
	for part in "debian $archive bookworm" "debian $archive bookworm-updates" "debian-security $archive bookworm-security"; do
		# shellcheck disable=SC2086 # three words
		set -- $part
		echo "deb [check-valid-until=no] http://snapshot.debian.org/archive/$1/$2 $3 main"
	done > /etc/apt/sources.list
}

# The user has no password and no shell, and owns only /scratch.
user() {
	echo "lipsync:x:$id:" >> "$1/etc/group"
	echo "lipsync:x:$id:$id::/scratch:/usr/sbin/nologin" >> "$1/etc/passwd"
	mkdir -m 700 "$1/scratch"
	chown "$id:$id" "$1/scratch"
}

# has KIND NAME...: succeeds if ffmpeg -KIND lists each of the names.
has() {
	kind=$1
	shift
	list=$(ffmpeg -hide_banner "-$kind") || { echo "ffmpeg -$kind failed" >&2; exit 1; }
	for name; do
		echo "$list" | awk -v name="$name" '$1 == name || $2 == name { found = 1 } END { exit !found }' ||
			{ echo "ffmpeg has no $name among its $kind" >&2; exit 1; }
	done
}

check() {
	command -v ffprobe > /dev/null || { echo "there is no ffprobe" >&2; exit 1; }
	has demuxers mov,mp4,m4a,3gp,3g2,mj2 matroska,webm avi wav mp3 aac flac ogg rawvideo
	has muxers mp4 rawvideo s16le
	has decoders h264 hevc vp8 libvpx-vp9 libdav1d mpeg4 aac mp3float flac vorbis opus pcm_s16le
	has encoders libx264 aac pcm_s16le
	has filters fps setpts scale crop format premultiply transpose hflip vflip zscale tonemap setparams aresample asetpts
}

# No GPU is available while an image is built. The runner tests it when it starts.
check_nvidia() {
	has hwaccels cuda
	has encoders h264_nvenc
}

case "${1-}" in
packages) packages ;;
user) user "${2-}" ;;
check) check ;;
check-nvidia) check_nvidia ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
