#!/bin/sh
# Stops the service before its program goes. An upgrade only starts it again.
set -eu

[ "$1" = remove ] && [ -d /run/systemd/system ] || exit 0
deb-systemd-invoke stop lipsync.service
