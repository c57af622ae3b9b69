# Prints the tables of `make screens`. Fails when a screen is not read right, a mutated one is read wrong, or nothing ran.
function cell(agent, state,    key) {
    key = agent SUBSEP state
    return (key in total) ? right[key] "/" total[key] : "-"
}
BEGIN { FS = "\t"; states = split("busy waiting idle exited", state, " ") }
$1 == "screen" {
    if (!($2 in seen)) { seen[$2] = 1; name[++agents] = $2 }
    right[$2 SUBSEP $3] = $4; total[$2 SUBSEP $3] = $5
    sumRight[$3] += $4; sumTotal[$3] += $5; allRight += $4; all += $5
}
$1 == "rules" { rules[++ruled] = $2 }
$1 == "moving" { moving = $2 }
$1 == "mutation" { mutation[++mutations] = $2; good[mutations] = $3; unknown[mutations] = $4; bad[mutations] = $5 }
$1 == "wrong" { wrong[++wrongs] = $2 ": " $3 }
END {
    if (all == 0 || mutations == 0) { print "no screen was read"; exit 1 }
    for (i = 2; i <= agents; i++) {
        for (j = i; j > 1 && name[j - 1] > name[j]; j--) { swap = name[j]; name[j] = name[j - 1]; name[j - 1] = swap }
    }
    print "screens as captured: right/total"
    printf "%-14s", "agent"
    for (i = 1; i <= states; i++) printf "%9s", state[i]
    print ""
    for (k = 1; k <= agents; k++) {
        printf "%-14s", name[k]
        for (i = 1; i <= states; i++) printf "%9s", cell(name[k], state[i])
        print ""
    }
    printf "%-14s", "all"
    for (i = 1; i <= states; i++) printf "%9s", sumRight[state[i]] + 0 "/" sumTotal[state[i]] + 0
    printf "\n%d of %d screens are read right (%.0f %%)", allRight, all, 100 * allRight / all
    if (moving > 0) printf "; %d of them by the second look, which sees that the screen moves", moving
    print ""
    none = ""
    for (i = 1; i <= ruled; i++) if (!(rules[i] in seen)) none = none " " rules[i]
    if (none != "") print "rules without a captured screen:" none
    printf "\n%-24s%9s%9s%9s%9s\n", "mutation", "right", "unknown", "wrong", "total"
    for (i = 1; i <= mutations; i++) {
        printf "%-24s%9d%9d%9d%9d\n", mutation[i], good[i], unknown[i], bad[i], good[i] + unknown[i] + bad[i]
        failed += bad[i]
    }
    for (i = 1; i <= wrongs && i <= 40; i++) print "WRONG " wrong[i]
    if (wrongs > 40) print "and " wrongs - 40 " more"
    exit (failed > 0 || allRight != all)
}
