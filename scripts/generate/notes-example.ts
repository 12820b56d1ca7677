import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).href;
const PROGRAM = `import { main } from ${JSON.stringify(MAIN)}; await main(["", "", "init", "--service", "notes"]);`;

/** `examples/notes`: the files that `svc-access init --service notes` writes into an empty folder. */
export function notesExample(): readonly (readonly [string, string])[] {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-notes-"));
  try {
    // `npm init` and `npm pkg set` make this file; it is not part of the example.
    writeFileSync(join(folder, "package.json"), '{"type": "module"}\n');
    const args = ["--input-type=module", "--eval", PROGRAM];
    execFileSync(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "package.json")
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [`examples/notes/${relative(folder, path)}`, readFileSync(path, "utf8")]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A page with the current text of each file of the example that it shows, in the block below a line with the
 * name of the file.
 */
export function withNotesExample(
  page: string,
  example: readonly (readonly [string, string])[],
): string {
  return example.reduce((text, [path, content]) => {
    const lead = `\n\`${path.replace("examples/notes/", "")}\`:\n\n\`\`\``;
    if (!text.includes(lead)) return text;
    const start = text.indexOf("\n", text.indexOf(lead) + lead.length) + 1;
    const end = text.indexOf("```\n", start);
    return `${text.slice(0, start)}${content}${text.slice(end)}`;
  }, page);
}
