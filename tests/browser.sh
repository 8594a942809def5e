#!/bin/sh
# Chromium for the tests that need a browser. HONEYGUIDE_BROWSER=required: no tests without it.
has_browser() {
    for program in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$program" >/dev/null 2>&1 && return 0
    done
    return 1
}

install_browser() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    export DEBIAN_FRONTEND=noninteractive
    quietly="-qq -o Acquire::Retries=3 -o Acquire::http::Timeout=60 -o DPkg::Lock::Timeout=120"
    # an old list is better than none, so a failed update is no end
    timeout 300 apt-get $quietly update
    timeout 900 apt-get $quietly install -y --no-install-recommends chromium fonts-liberation \
        >/dev/null
}

has_browser && exit 0
echo "no Chromium here: trying to install Debian's"
install_browser
has_browser && exit 0
cat >&2 <<'SAID'
*******************************************************************************
*  NO CHROMIUM: tests that need a browser cannot run.                         *
*  On Debian, as root: apt-get install chromium                               *
*******************************************************************************
SAID
[ "${HONEYGUIDE_BROWSER:-}" != required ]
