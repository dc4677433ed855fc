# bash completion of srcfind
_srcfind() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local options='--output --format --kappa --threshold --island --background --connectivity
        --min-pixels --beam --hdu --plane --device --cpu --gpu --device-memory --compare-cpu --bench --threads
        --files-from --skip-existing --fail-fast --progress --quiet --verbose --version --help'
    COMPREPLY=()
    case $previous in
    -f | --format) mapfile -t COMPREPLY < <(compgen -W 'csv json' -- "$current") ;;
    --background) mapfile -t COMPREPLY < <(compgen -W 'median zero' -- "$current") ;;
    --connectivity) mapfile -t COMPREPLY < <(compgen -W '4 8' -- "$current") ;;
    --device) mapfile -t COMPREPLY < <(compgen -W 'auto cpu all 0' -- "$current") ;;
    --progress) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current") ;;
    -k | --kappa | -n | --threshold | -i | --island | --min-pixels | --beam | --hdu | --plane | --device-memory | --threads) ;;
    *)
        if [[ $current == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
        ;;
    esac
}
complete -o filenames -F _srcfind srcfind
