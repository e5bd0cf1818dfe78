#!/bin/bash
# fetch_protobuf.sh VERSION DIRECTORY: puts the source of Debian's protobuf VERSION, with Debian's security patches,
# into DIRECTORY. Needs no root: package lists and downloads stay beside DIRECTORY.
set -euo pipefail
version=$1 target=$2
[ -f "$target/src/google/protobuf/message.cc" ] && exit 0

for tool in apt-get dpkg-source patch; do
  command -v $tool >/dev/null || { echo "fetch_protobuf.sh: $tool is missing" >&2; exit 1; }
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
(cd "$work" && "${apt[@]}" source protobuf >source.log 2>&1) || { tail -5 "$work/source.log" >&2; exit 1; }
[ -d "$work/protobuf-$version" ] || {
  echo "fetch_protobuf.sh: protoc is version $version, but the package source is $(ls -d "$work"/protobuf-*/)" >&2
  exit 1
}
mv -T "$work/protobuf-$version" "$target" 2>/dev/null || [ -f "$target/src/google/protobuf/message.cc" ]
