#!/bin/sh
# Tells systemd that the service is gone. The data and their user stay, also after a
# purge: only the administrator knows who still needs them.
set -eu

[ "$1" != purge ] || deb-systemd-helper purge lipsync.service
[ ! -d /run/systemd/system ] || systemctl daemon-reload
