import type { Command } from "commander";
import { printLine } from "../run/print.ts";
import { EXIT } from "../run/run-command.ts";
import { type Completion, completionsOf, FILE } from "./completions.ts";

/** Prints the script of a shell. @returns the exit code */
export async function printCompletion(program: Command, shell: string): Promise<number> {
  const completions = completionsOf(program);
  await printLine((SCRIPTS[shell] as (all: readonly Completion[]) => string)(completions));
  return EXIT.done;
}

/**
 * What can follow, by a key: `<command>|` for its words, `<command>|--` for its flags, and
 * `<command>|<flag>` for the values of a flag. No command has a bar in its name.
 */
function tableOf(all: readonly Completion[]): readonly (readonly [string, readonly string[]])[] {
  return all.flatMap(({ path, words, flags, values }) => [
    [`${path}|`, words] as const,
    [`${path}|--`, flags] as const,
    ...[...values].map(([flag, known]) => [`${path}|${flag}`, known] as const),
  ]);
}

/**
 * The names, flags and values are ours: letters and dashes, which no shell interprets. The shells
 * keep their order, which is that of the help, in place of that of the alphabet.
 */
const SCRIPTS: Readonly<Record<string, (all: readonly Completion[]) => string>> = {
  bash: (all) => `_svc_iam() {
  local word path="" candidate kind="" found
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    candidate="\${path:+$path }$word"
    _svc_iam_words "$candidate|" > /dev/null && path="$candidate"
  done
  # The words of --flag=value are three.
  if [[ "$current" == "=" ]]; then current=""
  elif [[ "$before" == "=" ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  [[ "$current" == -* ]] && kind="--"
  found="$(_svc_iam_words "$path|$before" || _svc_iam_words "$path|$kind")"
  if [[ "$found" == "${FILE}" ]]; then
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$found" -- "$current"))
  fi
}
${wordsFunction(all)}
# Before version 4.4 of bash there is no nosort.
complete -o filenames -o nosort -F _svc_iam svc-iam 2>/dev/null || complete -o filenames -F _svc_iam svc-iam`,
  zsh: (all) => `#compdef svc-iam
_svc_iam() {
  local word path_="" candidate kind="" found
  local current="\${words[CURRENT]}" before="\${words[CURRENT-1]}"
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    candidate="\${path_:+$path_ }$word"
    _svc_iam_words "$candidate|" > /dev/null && path_="$candidate"
  done
  [[ "$current" == -* ]] && kind="--"
  found="$(_svc_iam_words "$path_|$before" || _svc_iam_words "$path_|$kind")"
  if [[ "$found" == "${FILE}" ]]; then _files
  elif [[ -n "$found" ]]; then compadd -V svc-iam -- \${=found}
  fi
}
${wordsFunction(all)}
if [[ "$funcstack[1]" = _svc-iam ]]; then _svc_iam "$@"; else
  # A shell without configuration has not loaded its completion.
  (( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }
  compdef _svc_iam svc-iam
fi`,
  fish: (all) => `function __svc_iam_words
  switch $argv[1]
${tableOf(all)
  .map(([key, words]) => `    case '${key}'\n      printf '%s\\n' ${words.map(inQuotes).join(" ")}`)
  .join("\n")}
    case '*'
      return 1
  end
end
function __svc_iam_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l path ""
  for word in $words[2..]
    set -l candidate (string trim "$path $word")
    if __svc_iam_words "$candidate|" > /dev/null
      set path $candidate
    end
  end
  set -l kind ""
  if string match -q -- "-*" "$current"
    set kind "--"
  end
  set -l found (__svc_iam_words "$path|$words[-1]"; or __svc_iam_words "$path|$kind")
  if test "$found" = "${FILE}"
    __fish_complete_path "$current"
  else
    for one in $found
      test -n "$one"; and echo $one
    end
  end
end
complete -c svc-iam -f -k -a '(__svc_iam_complete)'`,
};

function inQuotes(word: string): string {
  return `'${word}'`;
}

/** A function of bash and zsh that prints what can follow; it fails for a key that there is not. */
function wordsFunction(all: readonly Completion[]): string {
  const cases = tableOf(all).map(([key, words]) => `    "${key}") echo "${words.join(" ")}" ;;`);
  return `_svc_iam_words() {\n  case "$1" in\n${cases.join("\n")}\n    *) return 1 ;;\n  esac\n}`;
}
