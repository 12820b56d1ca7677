import type { Command } from "commander";
import { printLine } from "../run/print.ts";
import { EXIT } from "../run/run-command.ts";

/** What can follow a command. */
export interface Completion {
  /** The names of the command, such as `service-account key`; empty for the program itself. */
  readonly path: string;
  /** Its commands and flags. */
  readonly words: readonly string[];
}

/** Prints the script of a shell. @returns the exit code */
export async function printCompletion(program: Command, shell: string): Promise<number> {
  const completions = completionsOf(program);
  await printLine((SCRIPTS[shell] as (all: readonly Completion[]) => string)(completions));
  return EXIT.done;
}

/** What can follow each command of a program. */
export function completionsOf(command: Command, above: readonly string[] = []): Completion[] {
  const flags = command.options.flatMap(({ long }) => (long == null ? [] : [long]));
  const names = command.commands.map((child) => child.name());
  const words = [...names, ...flags, "--help"];
  return [
    { path: above.join(" "), words },
    ...command.commands.flatMap((child) => completionsOf(child, [...above, child.name()])),
  ];
}

/** The names and flags are ours: letters and dashes, which no shell interprets. */
const SCRIPTS: Readonly<Record<string, (all: readonly Completion[]) => string>> = {
  bash: (all) => `_svc_iam() {
  local word path="" candidate
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    candidate="\${path:+$path }$word"
    [[ -n "$(_svc_iam_words "$candidate")" ]] && path="$candidate"
  done
  COMPREPLY=($(compgen -W "$(_svc_iam_words "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
${wordsFunction(all)}
complete -o default -F _svc_iam svc-iam`,
  zsh: (all) => `#compdef svc-iam
_svc_iam() {
  local word path_="" candidate
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    candidate="\${path_:+$path_ }$word"
    [[ -n "$(_svc_iam_words "$candidate")" ]] && path_="$candidate"
  done
  compadd -- \${=$(_svc_iam_words "$path_")} || _files
}
${wordsFunction(all)}
if [[ "$funcstack[1]" = _svc-iam ]]; then _svc_iam "$@"; else compdef _svc_iam svc-iam; fi`,
  fish: (all) => `function __svc_iam_path
  set -l path
  for word in (commandline -opc)[2..]
    if contains -- (string join " " $path $word) ${all.map(({ path }) => `"${path}"`).join(" ")}
      set path $path $word
    end
  end
  string join " " $path
end
complete -c svc-iam -f
${all
  .map(
    ({ path, words }) =>
      `complete -c svc-iam -n 'test (__svc_iam_path | string collect; or echo) = "${path}"' -a '${words.join(" ")}'`,
  )
  .join("\n")}`,
};

/** A function of bash and zsh that prints what can follow a command; nothing for what is not a command. */
function wordsFunction(all: readonly Completion[]): string {
  const cases = all.map(({ path, words }) => `    "${path}") echo "${words.join(" ")}" ;;`);
  return `_svc_iam_words() {\n  case "$1" in\n${cases.join("\n")}\n  esac\n}`;
}
