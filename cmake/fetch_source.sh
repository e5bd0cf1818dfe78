#!/bin/bash
# fetch_source.sh PACKAGE VERSION FILE DIRECTORY: puts the source of Debian's PACKAGE, with Debian's security patches, into
# DIRECTORY, where FILE says that it is complete. VERSION: what it must begin with, or empty. Needs no root: package
# lists and downloads stay beside DIRECTORY.
set -euo pipefail
package=$1 version=$2 file=$3 target=$4
[ -f "$target/$file" ] && exit 0

for tool in apt-get dpkg-source patch; do
  command -v $tool >/dev/null || { echo "fetch_source.sh: $tool is missing" >&2; exit 1; }
done
mkdir -p "$(dirname "$target")"
work=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,archives/partial,parts}

# The machine's own sources, turned from binary into source packages.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  case $list in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" > "$work/parts/$(basename "$list")" ;;
    *.list) [ -f "$list" ] && sed -n 's/^deb \(.*\)/deb-src \1/p' "$list" > "$work/parts/$(basename "$list")" ;;
  esac
done
apt=(apt-get -qq -o APT::Sandbox::User= -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts"
     -o "Dir::State::lists=$work/lists" -o "Dir::Cache::archives=$work/archives"
     -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
"${apt[@]}" update
(cd "$work" && "${apt[@]}" source "$package" >source.log 2>&1) || { tail -5 "$work/source.log" >&2; exit 1; }
found=$(cd "$work" && ls -d "$package-$version"*/ 2>/dev/null | head -1)
[ -n "$found" ] || {
  echo "fetch_source.sh: $package $version is wanted, but the package source is $(cd "$work" && ls -d "$package"-*/)" >&2
  exit 1
}
mv -T "$work/$found" "$target" 2>/dev/null || [ -f "$target/$file" ]
