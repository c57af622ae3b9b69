# Prints the table of `make faults`: the last line of each row counts. Fails when a row failed or is missing.
BEGIN { FS = "\t" }
{
    if (!($1 in name)) number[++rows] = $1 + 0
    name[$1] = $2; bound[$1] = $3; seen[$1] = $4; verdict[$1] = $5
    if (length($2) > nameWidth) nameWidth = length($2)
    if (length($3) > boundWidth) boundWidth = length($3)
}
END {
    if (rows == 0) { print "no row has run"; exit 1 }
    for (i = 2; i <= rows; i++) {
        for (j = i; j > 1 && number[j - 1] > number[j]; j--) {
            swap = number[j]; number[j] = number[j - 1]; number[j - 1] = swap
        }
    }
    format = "%3s  %-" nameWidth "s  %-" boundWidth "s  %-8s  %s\n"
    printf format, "row", "fault", "bound", "verdict", "seen"
    for (i = 1; i <= rows; i++) {
        row = number[i]
        word = verdict[row]; sub(/:.*/, "", word)
        reason = verdict[row]; if (!sub(/^[^:]*: /, "", reason)) reason = ""
        printf format, row, name[row], bound[row], word, seen[row] (reason == "" ? "" : " | " reason)
        count[word]++
    }
    printf "%d rows: %d ok, %d known, %d failed, %d missing\n", rows, count["ok"], count["known"], \
        count["FAILED"], count["MISSING"]
    exit count["ok"] + count["known"] != rows
}
