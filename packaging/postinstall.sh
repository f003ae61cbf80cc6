#!/bin/sh
# Enables the service, unless the administrator has disabled it, and starts it; after an
# upgrade it starts again. These are debhelper's steps.
set -eu

[ "$1" = configure ] || exit 0
unit=lipsync.service
if deb-systemd-helper --quiet was-enabled $unit; then
	deb-systemd-helper enable $unit
else
	deb-systemd-helper update-state $unit
fi
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
# A service that doesn't start is no reason to leave the package half installed.
deb-systemd-invoke "$([ -n "${2-}" ] && echo restart || echo start)" $unit || true
