#!/bin/sh
# Install Chromium for the page tests (tests/browser) from the system's packages: Debian and its kin, as root.
# Does nothing where there is a browser already; fails, and says why, where it can do nothing.
set -eu
for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if ! command -v apt-get >/dev/null 2>&1; then
    echo "chromium: this system has no apt-get; install Chromium, or name a browser: CHROMIUM=/path/to/chrome" >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "chromium: only root can install packages; run: apt-get install chromium" >&2
    exit 1
fi
echo "chromium: installing it from the system's packages (about 100 MB)" >&2
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install --yes --no-install-recommends --quiet=2 chromium fonts-dejavu-core >/dev/null; }
install 2>/dev/null || { apt-get update --quiet=2 >/dev/null && install; }
