_groupdesk() {
    local line=${COMP_LINE:0:COMP_POINT} words=() at word before cut
    # What bash has divided at : and = is put together again.
    for ((at = 0; at <= COMP_CWORD; at++)); do
        before=${line%%[![:space:]]*}
        line=${line#"$before"}
        word=${COMP_WORDS[at]}
        if ((at == COMP_CWORD)); then word=$line; fi
        line=${line#"$word"}
        if [[ at -eq 0 || -n $before ]]; then words+=("$word"); else words[${#words[@]}-1]+=$word; fi
    done
    cut=${words[${#words[@]}-1]%"$2"}
    mapfile -t COMPREPLY < <(GROUPDESK_COMPLETE=bash groupdesk -- "${words[@]}" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:/,] ]]; then compopt -o nospace; fi
}
complete -o bashdefault -F _groupdesk groupdesk
