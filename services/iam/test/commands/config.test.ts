/** `svc-iam config` and `svc-iam migrate --dry-run`. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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

test("a configuration that cannot be read is not a finding: exit code 2 [CMD-3]", async () => {
  const binary = join(folder, "binary.yaml");
  writeFileSync(binary, Buffer.from([0xff, 0xfe, 0x00, 0x80]));
  for (const command of ["check", "print"]) {
    for (const [file, problem] of [
      ["none.yaml", `none.yaml does not exist in ${process.cwd()}; name the configuration file`],
      [folder, `${folder} cannot be read (EISDIR); it is a folder: name the file in it`],
      [binary, `${binary} is not UTF-8 text; name the configuration file, or save it as UTF-8`],
      [
        join(binary, "x"),
        `${binary}/x cannot be read (ENOTDIR); a part of its path is a file: name the configuration file`,
      ],
    ] as const) {
      const stderr = `svc-iam: ${problem}\n`;
      expect(await run("config", command, file)).toEqual({ status: 2, stdout: "", stderr });
    }
  }
});

test("a single problem is one line, which names the file [CMD-3]", async () => {
  const file = join(folder, "single.yaml");
  const text = readFileSync(SERVICE, "utf8");
  for (const [content, problem] of [
    ["", "1:1 the file is empty; write the configuration into it, or name another file"],
    ["- a\n", "1:1 the file must contain keys and values"],
    [text.replace("service: iam", "service: Iam"), "5:1 service must be a name of "],
  ] as const) {
    writeFileSync(file, content);
    for (const command of ["check", "print"]) {
      const { status, stdout, stderr } = await run("config", command, file);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr.startsWith(`svc-iam: ${file}:${problem}`), stderr).toBe(true);
      expect(stderr).toMatch(/^[^\n]+\n$/);
    }
  }
});

const KEY_FILE = "  encryption_key_file: ";
test.each([
  [
    "a key file that does not exist",
    (text: string) => `${text}${KEY_FILE}${join(folder, "absent")}\n`,
    /refused\.yaml:\d+:3 iam\.encryption_key_file: .*absent cannot be read \(ENOENT\): create it/m,
  ],
  [
    "a file that is not a key",
    (text: string) => `${text}${KEY_FILE}${SERVICE}\n`,
    /refused\.yaml:\d+:3 iam\.encryption_key_file: .* is not an encryption key/m,
  ],
  [
    "a type that the model does not have",
    (text: string) => text.replace("[organization, project, skill_space, skill]", "[skil]"),
    /refused\.yaml:\d+:\d+ iam\.services\.hub\.write_types: the model has no type skil; did you mean "skill"\?$/m,
  ],
  [
    "a file that is not a model",
    (text: string) => text.replace(/model: .*/, `model: ${SERVICE}`),
    /refused\.yaml:\d+:5 security\.authz\.model: .*service\.yaml:\d+.*$/m,
  ],
  [
    "a logo that is not a picture",
    (text: string) => `${text}  pages: {logo_file: ${SERVICE}}\n`,
    /refused\.yaml:\d+:11 iam\.pages\.logo_file \(.*service\.yaml\) is not a PNG/m,
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
  expect(stderr).toMatch(problem);
});

test("files that only a server uses are checked for a server, and not for other commands", async () => {
  const file = join(folder, "files.yaml");
  const model = join(import.meta.dirname, "../../../../model/iam.zed");
  const absent = join(folder, "absent");
  const text = readFileSync(SERVICE, "utf8")
    .replace("../../model/iam.zed", model)
    .replace("/iam.db", "/files.db")
    .replace(
      /(address: \$\{HTTP_ADDRESS.*)/,
      `$1\n    tls: {certificate_file: ${absent}, key_file: ${absent}}`,
    )
    .replace(
      "          token: ${INTERNAL_TOKEN:-an-internal-token-of-development-only}",
      () => `          token_file: ${absent}\n      system_token_file: ${absent}`,
    );
  writeFileSync(file, `${text}  pages: {logo_file: ${absent}}\n`);
  for (const command of [["config", "check"], ["config", "print"], ["serve"]]) {
    const { status, stderr } = await run(...command, file);
    expect([command, status]).not.toEqual([command, 0]);
    for (const key of ["server.http.tls.certificate_file", "iam.pages.logo_file"]) {
      expect(stderr).toMatch(new RegExp(`files\\.yaml:\\d+:\\d+ ${key} .*cannot be read`));
    }
    for (const key of ["token[0].token_file", "system_token_file"]) {
      expect(stderr).toContain(` security.authn.internal_call.${key} (${absent}) does not exist`);
    }
  }
  for (const command of ["migrate", "end-sessions", "bootstrap"]) {
    const { status } = await run(command, file);
    expect([command, status]).toEqual([command, 0]);
  }
  // What a command itself uses, it reports.
  const rewrapped = await run("rewrap", file);
  expect(rewrapped.stderr).toMatch(/^svc-iam: iam\.encryption_key_file is missing: [^\n]*\n$/);
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
  expect(security.authn.internal_call).toMatchObject({
    token: [{ service: "hub", token: "***" }],
    system_token: "***",
  });
});

test("each of several internal tokens is masked, and the names beside them are read [CMD-6]", async () => {
  const file = join(folder, "tokens.yaml");
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, `${TOKEN}-in-a-file`);
  const model = join(import.meta.dirname, "../../../../model/iam.zed");
  const text = readFileSync(SERVICE, "utf8").replace("../../model/iam.zed", model);
  const entries = `        - { service: notes, token_file: ${tokenFile} }\n        - { service: git, token: "" }\n`;
  const systemTokens = `      system_token: [${TOKEN}-system, "", ${TOKEN}-next]\n`;
  const changed = text.replace(/ +system_token: .*\n/, `${entries}${systemTokens}`);
  writeFileSync(file, changed);
  const { status, stdout, stderr } = await run("config", "print", file);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain(TOKEN);
  const { token, system_token } = JSON.parse(stdout).security.authn.internal_call;
  expect(token).toEqual([
    { service: "hub", token: "***" },
    { service: "notes", token_file: tokenFile },
    { service: "git", token: "" },
  ]);
  expect(system_token).toEqual(["***", "", "***"]);
});

test("findings, plans and results are JSON with --format json [CMD-6]", async () => {
  const json = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await run(...args, "--format", "json");
    expect([stderr, stdout.match(/\n/g)]).toEqual(["", ["\n"]]);
    return [status, JSON.parse(stdout)];
  };
  const valid = { valid: true, problems: [], warnings: [] };
  expect(await json("config", "check", SERVICE)).toEqual([0, expect.objectContaining(valid)]);
  expect(await json("config", "check", "none.yaml")).toEqual([
    2,
    { valid: false, problems: [expect.stringContaining("does not exist")], warnings: [] },
  ]);
  const file = join(folder, "json.yaml");
  const text = readFileSync(SERVICE, "utf8").replace(
    "../../model/iam.zed",
    join(dirname(SERVICE), "../../model/iam.zed"),
  );
  writeFileSync(file, text.replace("/iam.db", "/json.db"));
  const [status, plan] = await json("migrate", file, "--dry-run");
  expect([status, plan.writesModel]).toEqual([1, false]);
  expect(plan.pending).toContainEqual({ component: "iam", from: 0, to: expect.any(Number) });
  expect(await json("migrate", file)).toEqual([0, { tables: "created", modelWritten: false }]);
  expect(await json("migrate", file, "--dry-run")).toEqual([
    0,
    { pending: [], writesModel: false },
  ]);
  expect(await json("end-sessions", file)).toEqual([0, { ended: 0 }]);
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
