# shellcheck shell=bash
# Sourced by ./test: a key that every test has in its environment, and that no test's output and no command line on the
# machine may show, plain, base64 or URL-encoded, for as long as tests run.

# canary_begin FOLDER: makes the key, writes its spellings down there, and looks at command lines from then on.
canary_begin() {
  local hex before skip text
  canary_spellings=$1/canary canary_found=$1/canary.found
  hex=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  export CANARY_API_KEY="+/?$hex=&"
  {
    printf '%s\n%%2B%%2F%%3F%s%%3D%%26\n' "$CANARY_API_KEY" "$hex"
    for before in '' x xx; do # whatever stands before it in an encoded text; only whole characters of its own
      text=$(printf '%s' "$before$CANARY_API_KEY" | base64 -w 0)
      skip=$(((${#before} * 8 + 5) / 6))
      printf '%s\n' "${text:skip:(${#before} + ${#CANARY_API_KEY}) * 8 / 6 - skip}"
    done
  } >"$canary_spellings"
  : >"$canary_found"
  while sleep 0.5; do
    grep -alsFf "$canary_spellings" /proc/[0-9]*/cmdline || true
  done >>"$canary_found" 2>/dev/null &
  canary_sampler=$!
  trap 'kill "$canary_sampler" 2>/dev/null || true' EXIT # whoever stops the tests stops it too
}

# canary_spares FILE…: whether all of them are there and none has it; says which.
canary_spares() {
  local file spared=0
  for file in "$@"; do
    [[ -s $file ]] || { printf '%s is not there to be searched for the key\n' "$file" && spared=1 && continue; }
    ! grep -aqFf "$canary_spellings" "$file" || { printf '%s shows the key that no test may show\n' "$file" && spared=1; }
  done
  return $spared
}

# canary_end: a search that finds nothing must be able to find something.
canary_end() {
  kill "$canary_sampler" || return 1
  sed 's/.*/before & after/' "$canary_spellings" | grep -acFf "$canary_spellings" | grep -qx 5 || return 1
  [[ ! -s $canary_found ]] || { printf 'on a command line: %s\n' "$(sort -u "$canary_found")" && return 1; }
}
