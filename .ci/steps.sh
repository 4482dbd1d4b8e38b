# Steps with times and results, for .ci/run and tests/interop/run. Source it.

step_names=() step_seconds=() step_results=()

# step NAME COMMAND [ARGUMENT...]: runs it, keeps how long it took and how it ended, and goes on.
step() {
    local name=$1 start=$SECONDS status=0
    shift
    printf '\n== %s\n' "$name"
    # Not in a condition, where bash ignores -e inside functions.
    set +e
    (
        set -euo pipefail
        "$@"
    )
    status=$?
    set -e
    step_names+=("$name")
    step_seconds+=($((SECONDS - start)))
    if [[ $status == 0 ]]; then
        step_results+=("passed")
    else
        step_results+=("FAILED ($status)")
        printf '== %s: FAILED with %s\n' "$name" "$status"
    fi
}

# The table of all steps; `failed` and `passed` hold the counts afterwards.
step_table() {
    local i
    passed=0 failed=0
    printf '\n%-44s %7s  %s\n' step seconds result
    for i in "${!step_names[@]}"; do
        printf '%-44s %7s  %s\n' "${step_names[i]}" "${step_seconds[i]}" "${step_results[i]}"
        if [[ ${step_results[i]} == passed ]]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
    done
}
