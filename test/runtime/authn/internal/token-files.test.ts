import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TokenTable } from "../../../../src/runtime/authn/internal/internal-token.ts";
import { NO_EVENTS } from "../../../../src/runtime/events/runtime-events.ts";
import { countSecretFiles, secretFile } from "../../../../src/runtime/secret/followed-secret.ts";
import { startVault } from "../../support/vault-server.ts";
import { type SentHeaders, STRANGER } from "../calls.ts";
import { stagesOf } from "../stages.ts";

const WRONG = "401 UNAUTHORIZED: wrong internal token";
const OLD = "hub-token-old-0123456789";
const NEW = "hub-token-new-0123456789";
const GIT = "git-token-of-a-variable";
const SYSTEM = "system-token-in-a-file-1";
/** The time, in milliseconds, after which a replaced token is no longer accepted. */
const REMOVED_WITHIN = 60_000;

const call = (token: string, exposure: "INTERNAL" | "SYSTEM" = "INTERNAL") => ({
  headers: [["X-Svc-Internal-Token", token]] as SentHeaders,
  peer: STRANGER,
  exposure,
});

let folder: string;
let log: { level: string; message: string }[];
let ends: (() => void)[];
const at = (...names: string[]) => join(folder, ...names);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  folder = mkdtempSync(join(tmpdir(), "svc-access-token-files-"));
  log = [];
  ends = [];
});
afterEach(() => {
  for (const end of ends) end();
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

function open(internal: object) {
  const say = (level: string) => (_fields: object, message: string) =>
    void log.push({ level, message });
  const logger = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  const onClose = (end: () => void) => void ends.push(end);
  return stagesOf({ internal_call: { enabled: true, ...internal } }, {}, { logger, onClose });
}

/** Advances the time until a condition holds; a read that is still running is not started again. */
async function pass(ms: number, done: () => boolean): Promise<void> {
  for (let turn = 0; !done(); turn++) {
    if (turn % 100 === 0) vi.advanceTimersByTime(ms);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("a token in a file", () => {
  test("identifies its service, and another token is wrong", async () => {
    writeFileSync(at("hub"), `${OLD}\n`);
    writeFileSync(at("system"), SYSTEM);
    const stages = open({
      token: [
        { service: "hub", token_file: at("hub") },
        { service: "git", token: GIT },
      ],
      system_token_file: at("system"),
    });
    expect((await stages.passed(call(OLD))).principal?.subjectId).toBe("hub");
    expect((await stages.passed(call(GIT))).principal?.subjectId).toBe("git");
    expect((await stages.passed(call(SYSTEM, "SYSTEM"))).credential).toBe("system");
    for (const token of [NEW, `${OLD} `, "", at("hub")]) {
      expect(await stages.outcome(call(token))).toBe(WRONG);
    }
  });

  test.each<[what: string, internal: () => object]>([
    ["two files", () => ({ system_token_file: [at("system"), at("next")] })],
    ["a file beside a token", () => ({ system_token_file: at("next"), system_token: SYSTEM })],
    [
      "files beside tokens",
      () => ({ system_token_file: [at("next")], system_token: ["", SYSTEM] }),
    ],
    [
      "files beside tokens that are empty",
      () => ({ system_token_file: [at("next"), at("system")], system_token: [""] }),
    ],
  ])("that the system rotates has an overlap: %s", async (_, internal) => {
    writeFileSync(at("system"), SYSTEM);
    writeFileSync(at("next"), NEW);
    const stages = open(internal());
    for (const token of [SYSTEM, NEW]) {
      expect((await stages.passed(call(token, "SYSTEM"))).credential).toBe("system");
    }
    expect(await stages.outcome(call(OLD, "SYSTEM"))).toBe(WRONG);
  });

  test("of the system that is invalid is named by its position in the list", () => {
    writeFileSync(at("system"), SYSTEM);
    expect(() => open({ system_token_file: [at("system"), at("next")] })).toThrow(
      /next.* does not exist/,
    );
  });

  test("that changes is accepted from its first call, and the former one for less than a minute longer", async () => {
    writeFileSync(at("hub"), OLD);
    const stages = open({ token_file: at("hub") });
    vi.advanceTimersByTime(2000);
    writeFileSync(at("hub"), NEW);
    expect(await stages.outcome(call(NEW))).toBe("passed");
    // Callers read their files at different times.
    expect(await stages.outcome(call(OLD))).toBe("passed");
    vi.advanceTimersByTime(REMOVED_WITHIN);
    expect(await stages.outcome(call(OLD))).toBe(WRONG);
    expect(await stages.outcome(call(NEW))).toBe("passed");
  });

  test("that is replaced is refused within a minute, even without a call with the new one", async () => {
    writeFileSync(at("hub"), OLD);
    const stages = open({ token_file: at("hub") });
    writeFileSync(at("hub"), NEW);
    await pass(5000, () => stages.reported.includes("secretFile changed"));
    expect(log).toEqual([
      {
        level: "info",
        message: `the token file ${at("hub")} has changed, and the new one is valid`,
      },
    ]);
    vi.advanceTimersByTime(REMOVED_WITHIN - 5000);
    expect(await stages.outcome(call(OLD))).toBe(WRONG);
    expect(await stages.outcome(call(NEW))).toBe("passed");
  });

  test("is reread through the links of a mounted Kubernetes secret", async () => {
    mkdirSync(at("..1"));
    writeFileSync(at("..1", "hub"), OLD);
    symlinkSync("..1", at("..data"));
    symlinkSync(join("..data", "hub"), at("hub"));
    const stages = open({ token_file: at("hub") });
    mkdirSync(at("..2"));
    writeFileSync(at("..2", "hub"), NEW);
    symlinkSync("..2", at("..data_tmp"));
    renameSync(at("..data_tmp"), at("..data"));
    rmSync(at("..1"), { recursive: true });
    vi.advanceTimersByTime(1000);
    expect(await stages.outcome(call(NEW))).toBe("passed");
  });

  describe("that becomes invalid keeps the former one, with an error and a metric", () => {
    test.each<[string, () => void, RegExp]>([
      ["empty", () => writeFileSync(at("hub"), ""), /is empty; write the secret into it/],
      ["a line end", () => writeFileSync(at("hub"), "\n"), /is empty/],
      ["short", () => writeFileSync(at("hub"), "short"), /has 5 characters/],
      ["two lines", () => writeFileSync(at("hub"), `${NEW}\n${OLD}`), /has characters/],
      ["removed", () => rmSync(at("hub")), /does not exist; create it/],
      ["very long", () => writeFileSync(at("hub"), "x".repeat(1_000_000)), /is too long/],
      [
        "a folder",
        () => {
          rmSync(at("hub"));
          mkdirSync(at("hub"));
        },
        /is not a file/,
      ],
      ["that of another service", () => writeFileSync(at("hub"), GIT), /has the token of git/],
    ])("%s", async (_name, change, why) => {
      writeFileSync(at("hub"), OLD);
      const stages = open({
        token: [
          { service: "hub", token_file: at("hub") },
          { service: "git", token: GIT },
        ],
      });
      change();
      const failures = () =>
        stages.reported.filter((reported) => reported === "secretFile failed").length;
      await pass(5000, () => failures() >= 1);
      await pass(5000, () => failures() >= 2);
      expect(log).toEqual([{ level: "error", message: expect.stringMatching(why) }]);
      expect(log[0]?.message).toContain(at("hub"));
      expect(log[0]?.message).toMatch(/; the previous one stays valid$/);
      expect(log[0]?.message).not.toContain(NEW);
      // Waits for the end of one read, so that the next one sees another file.
      await pass(10 * REMOVED_WITHIN, () => failures() === 3);
      expect((await stages.passed(call(OLD))).principal?.subjectId).toBe("hub");
      expect((await stages.passed(call(GIT))).principal?.subjectId).toBe("git");
      // A valid file is accepted again.
      rmSync(at("hub"), { recursive: true, force: true });
      writeFileSync(at("hub"), NEW);
      await pass(5000, () => stages.reported.includes("secretFile changed"));
      expect((await stages.passed(call(NEW))).principal?.subjectId).toBe("hub");
    });

    test.skipIf(process.getuid?.() === 0)("without permission to read it", async () => {
      writeFileSync(at("hub"), OLD);
      const stages = open({ token_file: at("hub") });
      chmodSync(at("hub"), 0);
      await pass(5000, () => stages.reported.includes("secretFile failed"));
      expect(log[0]?.message).toContain("cannot be read");
      expect(await stages.outcome(call(OLD))).toBe("passed");
    });
  });

  test("wrong tokens cause at most one read of the file per second", async () => {
    writeFileSync(at("hub"), OLD);
    const stages = open({ token_file: at("hub") });
    expect(await stages.outcome(call("wrong"))).toBe(WRONG);
    writeFileSync(at("hub"), NEW);
    for (let count = 0; count < 10; count++) {
      expect(await stages.outcome(call(NEW))).toBe(WRONG);
    }
    vi.advanceTimersByTime(1000);
    expect(await stages.outcome(call(NEW))).toBe("passed");
  });

  test("that two callers share, or that is unreadable, prevents the start", () => {
    writeFileSync(at("hub"), OLD);
    const credential = "internal" as const;
    const hub = { path: ["token_file"], caller: "hub", credential, file: at("hub") };
    expect(() => new TokenTable([hub, { ...hub, caller: "git" }])).toThrow(
      "the internal tokens of git and hub are the same; each caller needs its own",
    );
    expect(() => new TokenTable([{ ...hub, file: at("nowhere") }])).toThrow(
      `the token file ${at("nowhere")} does not exist; create it, or name another file`,
    );
  });
});

describe("the secret file of a client", () => {
  test("returns the current secret, until it is closed", async () => {
    writeFileSync(at("hub"), `${OLD}\n`);
    const token = secretFile(at("hub"));
    expect(token()).toBe(OLD);
    writeFileSync(at("hub"), NEW);
    await pass(5000, () => token() === NEW);
    writeFileSync(at("hub"), "");
    vi.advanceTimersByTime(5000);
    token.close();
    expect(vi.getTimerCount()).toBe(0);
    expect(token()).toBe(NEW);
  });

  test("is counted by the server of its process while that runs", async () => {
    writeFileSync(at("hub"), OLD);
    const vault = await startVault();
    using token = secretFile(at("hub"));
    const changes = async () => {
      const text = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
      return /^svc_access_secret_files_total\{outcome="changed"[^}]*\} (\d+)$/m.exec(text)?.[1];
    };
    expect(await changes()).toBe("0");
    writeFileSync(at("hub"), NEW);
    await pass(5000, () => token() === NEW);
    expect(await changes()).toBe("1");
    await vault.stop();
    writeFileSync(at("hub"), OLD);
    await pass(5000, () => token() === OLD);
  });

  test("that becomes invalid is counted", async () => {
    writeFileSync(at("hub"), OLD);
    const outcomes: string[] = [];
    const end = countSecretFiles({ ...NO_EVENTS, secretFile: (one) => void outcomes.push(one) });
    using _token = secretFile(at("hub"));
    writeFileSync(at("hub"), "");
    await pass(5000, () => outcomes.length > 0);
    end();
    expect(outcomes[0]).toBe("failed");
  });

  test("must be valid at the start", () => {
    writeFileSync(at("hub"), "short");
    expect(() => secretFile(at("hub"))).toThrow(`the secret file ${at("hub")} has 5 characters`);
    expect(secretFile(at("hub"), { minLength: 5 })()).toBe("short");
  });
});
