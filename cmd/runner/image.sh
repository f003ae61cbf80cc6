#!/bin/sh
# The steps that make the runner's image of a plain Debian 12; see Dockerfile.
#
#   image.sh packages      install what the runner calls
#   image.sh user [ROOT]   make the user that it runs as, and its scratch folder
#   image.sh check         fail unless ffmpeg here can do all that is asked of it
#   image.sh check-nvidia  the same of what it does on an NVIDIA GPU
set -eu

# Debian drops a version from its mirrors when it has a newer one. Then these come from
# its archive, as of the day when they were tried.
archive=20261115T000000Z
packages='ffmpeg=7:5.1.9-0+deb12u1 ca-certificates=20230311+deb12u1'

# The user's id, which infra/stack and volumes for scratch name too.
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

# What is signed there is checked as ever, but is older than it says it may be.
use_archive() {
	rm -f /etc/apt/sources.list.d/*
	for part in "debian $archive bookworm" "debian $archive bookworm-updates" "debian-security $archive bookworm-security"; do
		# shellcheck disable=SC2086 # three words
		set -- $part
		echo "deb [check-valid-until=no] http://snapshot.debian.org/archive/$1/$2 $3 main"
	done > /etc/apt/sources.list
}

# The user has no password, no shell and nothing of its own but /scratch.
user() {
	echo "lipsync:x:$id:" >> "$1/etc/group"
	echo "lipsync:x:$id:$id::/scratch:/usr/sbin/nologin" >> "$1/etc/passwd"
	mkdir -m 700 "$1/scratch"
	chown "$id:$id" "$1/scratch"
}

# has KIND NAME...: ffmpeg -KIND lists each of the names, alone or after flags.
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

# The GPU itself is not there while an image is made: the runner tries it.
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
