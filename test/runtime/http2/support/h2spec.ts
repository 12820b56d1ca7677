import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const VERSION = "2.2.1";

/** What h2spec is to test. */
export interface Tested {
  readonly port: number;
  /** What it asks for. */
  readonly path: string;
  readonly isTls: boolean;
}

/** What it found. */
export interface Findings {
  /** How many cases it tried, passed or not. */
  readonly cases: number;
  /** Those that failed, by section and title, and what came instead. */
  readonly failed: ReadonlyMap<string, string>;
}

/** The h2spec to test with: `H2SPEC`, on the PATH, or as scripts/build-h2spec.sh built it. */
function findH2spec(): string | undefined {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const candidates = [
    process.env["H2SPEC"] ?? "",
    ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "h2spec")),
    join(cache, "svc-access", `h2spec-${VERSION}`, "h2spec"),
  ];
  return candidates.find((file) => file !== "" && isExecutable(file));
}

/** Whether the tests with h2spec are skipped: loudly, and never in CI. */
export function h2specIsAbsent(): boolean {
  if (findH2spec() !== undefined) return false;
  const message = "there is no h2spec: set H2SPEC to its path, or run scripts/build-h2spec.sh";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests with h2spec: ${message}`);
  return true;
}

/** How long h2spec waits for an answer, in seconds; on a machine that is too slow for one, the next. */
const WAITS = [5, 30];

/** Runs all of its cases, also those of what a server should do. */
export async function runH2spec({ port, path, isTls }: Tested): Promise<Findings> {
  const program = findH2spec();
  if (program === undefined) throw new Error("there is no h2spec");
  const folder = await mkdtemp(join(tmpdir(), "svc-access-h2spec-"));
  const report = join(folder, "report.xml");
  const tls = isTls ? ["--tls", "--insecure"] : [];
  const args = ["--strict", "--port", `${port}`, "--path", path, "--junit-report", report, ...tls];
  let said = "";
  for (const seconds of WAITS) {
    // It exits with 1 where a case has failed; what counts is the report, which it does not write
    // where it has got no connection in time.
    said = await new Promise((resolve) =>
      execFile(program, [...args, "--timeout", `${seconds}`], (error, stdout, stderr) =>
        resolve([error?.message, stdout.slice(-1000), stderr.slice(-1000)].join("\n")),
      ),
    );
    if (existsSync(report)) break;
  }
  const text = await readFile(report, "utf8").catch(() => {
    throw new Error(`h2spec has written no report: ${said}`);
  });
  await rm(folder, { recursive: true });
  return findingsOf(text);
}

function findingsOf(report: string): Findings {
  const failed = new Map<string, string>();
  let cases = 0;
  const each =
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;
  for (const [, section, title, body = ""] of report.matchAll(each)) {
    cases++;
    if (/<(failure|error)/.test(body)) failed.set(`${section} ${plain(title)}`, plain(body));
  }
  return { cases, failed };
}

function plain(xml = ""): string {
  const text = xml.replaceAll(/<[^>]*>|<!\[CDATA\[|\]\]>/g, " ").replaceAll("&#xA;", "\n");
  return text.replaceAll("&#34;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&").trim();
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
