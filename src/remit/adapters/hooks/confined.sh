# Sourced by a host's shell (bash or zsh) in the place of a command that Remit confines: `. confined.sh TICKET`.
#
# The ticket is a private folder: `start` has the words that begin a confined program and its environment, `command` the
# command. It is good for one use. The shell inside gets this shell's functions, aliases and options; afterwards this
# shell stands where that one stood, and has its exit code. All that is unusual here is against what a user's own
# functions and aliases could change.

remit_confined() {
  \builtin local remit_ticket="$1" remit_mark='' remit_there='' remit_name='' remit_value='' remit_watch='' remit_code=0
  \builtin local remit_until=0 remit_kept='' remit_clobber='' remit_filter='' remit_first='' remit_root=''
  \builtin local -a remit_words remit_set remit_pass remit_names remit_shell
  if ! \builtin test -r "$remit_ticket/start"; then
    remit_refuse 'its ticket is gone'
    \builtin return 126
  fi
  \builtin . "$remit_ticket/start"
  if \builtin test -n "${ZSH_VERSION:-}"; then \builtin zmodload zsh/datetime; fi
  if ! \builtin test "${EPOCHSECONDS:-99999999999}" -lt "$remit_until"; then
    remit_refuse 'its ticket has expired; make the same call again'
    \builtin return 126
  fi
  { IFS= \builtin read -r remit_value < "/proc/$$/stat"; } 2> /dev/null
  if \builtin test -z "$remit_value"; then
    remit_refuse 'nobody could tell when it has ended: there is no /proc'
    \builtin return 126
  fi
  case $- in *C*) ;; *) remit_clobber=1 ;; esac
  \builtin set -C
  { \builtin printf '%s %s\n%s\n' "$$" "$PPID" "$remit_value" > "$remit_ticket/pid"; } 2> /dev/null || remit_mark=used
  if \builtin test -n "$remit_clobber"; then \builtin set +C; fi
  if \builtin test -n "$remit_mark"; then
    remit_refuse 'its ticket was used before; make the same call again'
    \builtin return 126
  fi
  for remit_name in ${remit_pass[@]+"${remit_pass[@]}"}; do
    case $remit_name in
      *'*')
        if \builtin test -n "${ZSH_VERSION:-}"; then remit_value="\${(k)parameters[(I)$remit_name]}"
        else remit_value="\${!${remit_name%?}@}"; fi
        \builtin eval "remit_names+=($remit_value)" ;;
      *) remit_names+=("$remit_name") ;;
    esac
  done
  for remit_name in ${remit_names[@]+"${remit_names[@]}"}; do
    \builtin eval "remit_mark=\${$remit_name+x} remit_value=\${$remit_name-}"
    if \builtin test -n "$remit_mark"; then remit_set+=("$remit_name=$remit_value"); fi
  done
  # Nothing outlives the host, not even if it is killed: the session's keeper sees to that, or else a watch, with which
  # this shell ends, and with this shell what runs confined.
  if \builtin test -n "$remit_kept"; then
    \builtin printf '%s\n' "$PPID" >| "$remit_kept/host"
  else
    (
      while \builtin kill -0 "$$"; do
        \builtin kill -0 "$PPID" || { \builtin kill -9 "$$"; \builtin exit; }
        \builtin command -p sleep 1
      done
    ) < /dev/null > /dev/null 2>&1 &
    remit_watch=$!
    \builtin disown "$remit_watch" 2> /dev/null
  fi
  if \builtin test -n "${ZSH_VERSION:-}"; then remit_shell=(zsh -f); else remit_shell=("$BASH" --norc --noprofile); fi
  remit_own "$remit_ticket" >| "$remit_ticket/own"
  # The command gets no handle of `said`: whether it began is not for it to say. `stood` it could write to. Nor any that
  # this shell has open: through a folder it would come to all that lies there, wherever that is.
  \builtin command -p env -i "${remit_set[@]}" "${remit_words[@]}" "${remit_shell[@]}" -c '
    IFS= \builtin read -r -d "" remit_own <&3
    IFS= \builtin read -r -d "" remit_command <&4
    \builtin printf "started\n" >&5 || exit 126
    for remit_handle in /proc/$$/fd/*; do
      remit_handle=${remit_handle##*/}
      case $remit_handle in [0126]) ;; *) { exec {remit_handle}>&-; } 2> /dev/null ;; esac
    done
    \builtin eval "$remit_own" 2> /dev/null
    \builtin unset -f remit_confined remit_refuse remit_own remit_go
    \eval "$remit_command" 6>&- && \builtin pwd -P >&6' \
    3< "$remit_ticket/own" 4< "$remit_ticket/command" 5>| "$remit_ticket/said" 6>| "$remit_ticket/stood" 8< "$remit_filter" 9>| "$remit_first" && remit_code=0 || remit_code=$?
  if \builtin test -n "$remit_watch"; then \builtin kill "$remit_watch" 2> /dev/null; fi
  \builtin : >| "$remit_ticket/ended"
  IFS= \builtin read -r remit_mark < "$remit_ticket/said"
  if \builtin test "$remit_mark" != started; then
    remit_refuse "it could not be confined (exit code $remit_code)"
    \builtin return 126
  fi
  # The command could have written anything there. Outside of the project no confined command can stand, and whatever a
  # host does where its shell stands, it is not to do where a command has led it.
  IFS= \builtin read -r remit_there < "$remit_ticket/stood"
  remit_value=$PWD
  case $remit_there in
    *[[:cntrl:]]*) ;;
    "$remit_root" | "$remit_root"/*)
      remit_go "$remit_there"
      case $PWD in "$remit_root" | "$remit_root"/*) ;; *) remit_go "$remit_value" ;; esac ;;
  esac
  \builtin return "$remit_code"
}

remit_go() {
  if \builtin test -n "${ZSH_VERSION:-}"; then \builtin cd -q -P "$1"; else \builtin cd -P -- "$1"; fi 2> /dev/null
}

remit_refuse() {
  \builtin printf 'Remit: the command did not run: %s.\n' "$1" >&2
  if \builtin test -n "${SANDBOX_RUNTIME:-}"; then
    \builtin printf 'Remit: the host runs commands in a sandbox of its own, and there Remit cannot confine them; a person turns that sandbox off.\n' >&2
  fi
}

# Functions, options and aliases, in an order in which no alias changes how a function is read.
remit_own() {
  if \builtin test -n "${ZSH_VERSION:-}"; then
    \builtin typeset -f
    \builtin setopt >| "$1/options"
    while IFS= \builtin read -r remit_name; do
      \builtin print -r -- "\\builtin setopt $remit_name"
    done < "$1/options"
    \builtin alias -L
  else
    \builtin declare -f
    \builtin set +o
    \builtin shopt -p
    \builtin alias -p
  fi
}

remit_confined "$1"
