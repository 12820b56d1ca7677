/** docs/rotation.md: its configurations are valid outside development, and its steps refuse no call. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { parseServiceConfig } from "../../../../src/runtime/configuration/load-service-config.ts";
import { type SentHeaders, STRANGER } from "../calls.ts";
import { stagesOf } from "../stages.ts";

const PAGE = readFileSync(new URL("../../../../docs/rotation.md", import.meta.url), "utf8");
const [BY_VARIABLES = "", BY_FILES = "", ...OTHERS] = [
  ...PAGE.matchAll(/^```yaml\n([\s\S]*?)^```$/gm),
].map(([, text = ""]) => text);
const SERVICE =
  "service: notes\nenvironment: staging\nserver: {http: {address: '127.0.0.1:18001'}}\n";
const OLD = "0123456789abcdef-old";
const NEW = "0123456789abcdef-new";
const SYSTEM = "0123456789abcdef-system";
const WRONG = "401 UNAUTHORIZED: wrong internal token";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Starts with the configuration of a block of the page; returns the outcome of a call with a token. */
function start(block: string, variables: Readonly<Record<string, string>> = {}) {
  const { config } = parseServiceConfig(SERVICE + block, "/etc/notes.yaml", { variables });
  const { internal_call } = config.security.authn;
  const { outcome } = stagesOf({ internal_call }, {}, { onClose: (end) => void ends.push(end) });
  return (token: string, exposure: "INTERNAL" | "SYSTEM" = "INTERNAL") => {
    const headers: SentHeaders = [["X-Svc-Internal-Token", token]];
    return outcome({ headers, peer: STRANGER, exposure });
  };
}

test("the page has one configuration with variables and one with files", () => {
  expect(BY_VARIABLES).toContain("HUB_TOKEN_NEXT");
  expect(BY_FILES).toContain("token_file");
  expect(OTHERS).toEqual([]);
});

test.each([
  ["before", { HUB_TOKEN: OLD }, ["passed", WRONG]],
  ["both are accepted", { HUB_TOKEN: OLD, HUB_TOKEN_NEXT: NEW }, ["passed", "passed"]],
  ["the next one only", { HUB_TOKEN: NEW, HUB_TOKEN_NEXT: "" }, [WRONG, "passed"]],
])("with variables and a restart for each step: %s", async (_, variables, expected) => {
  const outcome = start(BY_VARIABLES, variables);
  expect([await outcome(OLD), await outcome(NEW)]).toEqual(expected);
});

test("with files and no restart: both are accepted once the second file has the next one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-rotation-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, token: string) => {
    writeFileSync(join(folder, `${name}.new`), `${token}\n`);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  };
  for (const name of ["hub-token", "hub-token-next"]) write(name, OLD);
  for (const name of ["system-token", "system-token-next"]) write(name, SYSTEM);
  const outcome = start(BY_FILES.replaceAll("/run/secrets", folder));
  expect([await outcome(OLD), await outcome(NEW)]).toEqual(["passed", WRONG]);
  expect(await outcome(SYSTEM, "SYSTEM")).toBe("passed");
  write("hub-token-next", NEW);
  await expect.poll(() => outcome(NEW), { message: "the next token is accepted" }).toBe("passed");
  expect(await outcome(OLD)).toBe("passed");
});
