#!/bin/sh
# Makes the user that the service runs as.
set -eu

getent passwd lipsync >/dev/null ||
	useradd --system --user-group --home-dir /var/lib/lipsync --no-create-home --shell /usr/sbin/nologin lipsync
