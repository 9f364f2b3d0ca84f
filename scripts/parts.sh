# shellcheck shell=bash
# Sourced by ./test and .ci/run: work in parts, each with its minutes, and a count of tests at the end.
passed=0 failed=0 skipped=0 minutes='' broken='' figures=''

# part NAME COMMAND…
part() {
  local name=$1 start=$SECONDS outcome=''
  shift
  "$@" || outcome=' FAILED' broken+="${broken:+, }$name"
  minutes+=$(printf '%3d:%02d min  %s%s' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)) "$name" "$outcome")$'\n'
}

# Prints what the parts came to, leaves the last line in build/outcome too, and ends.
finish() {
  [[ ! $broken ]] || failed=$((failed ? failed : 1))
  printf '\n%s' "$minutes"
  [[ ! $figures ]] || printf '%s\n' "$figures"
  [[ ! $broken ]] || printf 'failed: %s\n' "$broken"
  printf '%d passed, %d failed%s\n' $passed $failed "$( ((skipped == 0)) || printf ', %d skipped' $skipped)" | tee build/outcome
  [[ ! $broken ]]
  exit
}
