import type { DocumentProblem } from "../../config/config-document.ts";

/**
 * What is wrong with the text, without the words of the file that YAML quotes
 * behind a colon, or a reference does: they may be a secret.
 */
export function withoutSource({ rule, message }: DocumentProblem): string {
  if (rule === "CONFIG_VARIABLE") {
    return message
      .replace(/^"\$\{.*" is no reference/s, "there is a malformed reference")
      .replace(
        /; set it, or write \$\{.*$/s,
        "; set it, or, unless it is a secret, give it a default: ${NAME:-default}",
      );
  }
  if (message.startsWith("the file is empty")) return "the file is empty";
  const [said = message] = message.split(/:| \(| \*/, 1);
  if (/^unresolved alias/.test(said)) return `${said}; text that starts with * must be quoted`;
  if (/^unresolved tag/.test(said)) return `${said}; text that starts with ! must be quoted`;
  if (/^unexpected flow-map-start/.test(said)) {
    return `${said}; inside { } and [ ] a reference stands in quotes, as in "\${VAR}"`;
  }
  if (/call stack/.test(said)) return "the file is nested too deeply";
  return said;
}
