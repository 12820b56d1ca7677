/** `svc-iam config` and `svc-iam migrate --dry-run`. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runIam } from "../support/run-program.ts";

const SERVICE = join(import.meta.dirname, "../../service.yaml");
const folder = mkdtempSync(join(tmpdir(), "svc-iam-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = "an-internal-token-that-nobody-may-see";
const env = { DATA: folder, INTERNAL_TOKEN: TOKEN };
const run = (...args: readonly string[]) => runIam(args, { env });

test("a configuration with problems is reported, each with its position [CMD-3]", async () => {
  const file = join(folder, "wrong.yaml");
  const text = readFileSync(SERVICE, "utf8");
  writeFileSync(file, text.replace("organization: $", "organisation: $").replace("port", "prot"));
  for (const command of ["check", "print"]) {
    const { status, stdout, stderr } = await run("config", command, file);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^svc-iam: the configuration .* problems?:\n/);
    expect(stderr).toMatch(/wrong\.yaml:\d+:\d+ iam/);
    expect(stderr).toContain("organisation");
  }
  expect((await run("config")).stderr).toMatch(/^Usage: svc-iam config/);
});

const KEY_FILE = "  encryption_key_file: ";
test.each([
  [
    "a key file that does not exist",
    (text: string) => `${text}${KEY_FILE}${join(folder, "absent")}\n`,
    /^iam\.encryption_key_file: .*absent cannot be read \(ENOENT\): create it/m,
  ],
  [
    "a file that is not a key",
    (text: string) => `${text}${KEY_FILE}${SERVICE}\n`,
    /^iam\.encryption_key_file: .* is not an encryption key/m,
  ],
  [
    "a type that the model does not have",
    (text: string) => text.replace("skill_space, skill]", "skil]"),
    /^iam\.services\.hub\.write_types: the model has no type skil$/m,
  ],
  [
    "a file that is not a model",
    (text: string) => text.replace(/model: .*/, `model: ${SERVICE}`),
    /^.*service\.yaml:\d+.*$/m,
  ],
  [
    "a logo that is not a picture",
    (text: string) => `${text}  pages: {logo_file: ${SERVICE}}\n`,
    /^iam\.pages\.logo_file, .*service\.yaml, is not a PNG/m,
  ],
])("the check refuses %s, as a start does [CMD-3]", async (_, changed, problem) => {
  const file = join(folder, "refused.yaml");
  const model = join(import.meta.dirname, "../../../../model/iam.zed");
  const text = readFileSync(SERVICE, "utf8").replace("../../model/iam.zed", model);
  writeFileSync(file, text);
  expect(await run("config", "check", file)).toMatchObject({ status: 0 });
  writeFileSync(file, changed(text));
  const { status, stdout, stderr } = await run("config", "check", file);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^svc-iam: the configuration .* has \d+ problems?:$/m);
  expect(stderr).toMatch(problem);
});

test("a valid configuration is printed with its defaults and without its secrets [CMD-6]", async () => {
  const checked = await run("config", "check", SERVICE);
  expect(checked).toMatchObject({ status: 0, stdout: `${SERVICE} is valid\n` });
  const { status, stdout, stderr } = await run("config", "print", SERVICE);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain(TOKEN);
  const { iam, database, security } = JSON.parse(stdout);
  expect(iam.sessions.idle_ns).toBe(259_200_000_000_000);
  expect(database.file).toBe(join(folder, "iam.db"));
  expect(security.authn.internal_call.token).toBe("***");
});

test("a dry run says which tables it would create, and creates none [CMD-6]", async () => {
  const planned = await run("migrate", SERVICE, "--dry-run");
  expect([planned.status, planned.stderr]).toEqual([1, ""]);
  expect(planned.stdout).toMatch(/^audit: create, version \d+\n/);
  expect(planned.stdout).toMatch(/^iam: create, version \d+$/m);
  expect(planned.stdout).toMatch(/^relationship: create, version \d+$/m);
  expect(existsSync(join(folder, "iam.db"))).toBe(false);

  expect((await run("migrate", SERVICE)).stdout).toBe("created the tables\n");
  expect(await run("migrate", SERVICE, "--dry-run")).toEqual({
    status: 0,
    stdout: "the tables already have this version\n",
    stderr: "",
  });
});
