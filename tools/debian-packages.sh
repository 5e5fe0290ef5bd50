#!/usr/bin/env bash
# Usage: tools/debian-packages.sh PURPOSE PACKAGE...
#
# Installs those Debian packages that are missing, where apt-get exists and the user is root or has sudo without a password.
# Otherwise names what is missing in one line. Never fails: whoever needs a package checks for it.
set -euo pipefail

purpose=$1
shift

missing=()
for package in "$@"; do
    status=$(dpkg-query --show --showformat '${Status}' "$package" 2>/dev/null || true)
    [[ $status == "install ok installed" ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    as_root=(sudo -n)
fi

if command -v apt-get >/dev/null && { [[ $(id -u) -eq 0 ]] || sudo -n true 2>/dev/null; }; then
    apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
    echo "Installing ${missing[*]}"
    "${apt[@]}" update >/dev/null || true
    refused=()
    for package in "${missing[@]}"; do # one by one: a release that lacks one still gets the others
        "${apt[@]}" install --yes --no-install-recommends "$package" >/dev/null </dev/null || refused+=("$package")
    done
    missing=("${refused[@]}")
fi

if [[ ${#missing[@]} -gt 0 ]]; then
    echo "$purpose need packages that are not installed. On Debian: apt-get install ${missing[*]}"
fi
