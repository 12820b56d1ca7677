/** An engine whose disk is full: it still reads, and writes again once there is space. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openSqliteStore } from "../../src/authz/store/sqlite/open-sqlite-store.ts";
import { documentEngine, touchOf, viewersOf, views } from "./document-engine.ts";
import { viewer } from "./documents.ts";

const USERS = Array.from({ length: 50 }, (_, user) => `user-${user}`);

const folder = mkdtempSync(join(tmpdir(), "svc-access-full-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const disk = join(folder, "disk");
mkdirSync(disk);
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "none", disk]).status === 0;
if (mounted) afterAll(() => void execFileSync("umount", [disk]));

const name =
  "while the disk is full, writes fail and reads work; writes work again once there is space [STORE-3]";
if (!mounted) test.skip(`${name}: only root can mount a file system`, () => undefined);
else {
  test(name, async () => {
    const filler = join(disk, "filler");
    writeFileSync(filler, Buffer.alloc(7_300_000));
    const file = join(disk, "store.db");
    const engine = await documentEngine(await openSqliteStore({ file }));
    const acknowledged: string[] = [];
    const refused: unknown[] = [];
    let next = 0;
    const write = async (document: string) => {
      const updates = USERS.map((user) => touchOf(viewer(document, user)));
      await engine.writeRelationships({ updates });
      acknowledged.push(document);
    };
    const load = Array.from({ length: 8 }, async () => {
      while (refused.length < 20) {
        await write(`d${next++}`).catch((error: unknown) => refused.push(error));
      }
    });
    await Promise.all(load);
    for (const error of refused) {
      expect((error as { code: string }).code).toBeOneOf(["UNAVAILABLE", "RESOURCE_EXHAUSTED"]);
    }
    const expectAcknowledged = async (of: typeof engine) => {
      const all = acknowledged.flatMap((document) => USERS.map((user) => `${document}@${user}`));
      expect(await viewersOf(of)).toEqual(new Set(all));
      for (const document of acknowledged) expect(await views(of, document, "user-0")).toBe(true);
      expect(await views(of, `d${next}`, "user-0")).toBe(false);
    };
    await expectAcknowledged(engine);
    rmSync(filler);
    const before = acknowledged.length;
    for (let more = 0; more < 5; more++) await write(`more-${more}`);
    expect(acknowledged).toHaveLength(before + 5);
    expect(await engine.ready()).toEqual({ ready: true });
    await expectAcknowledged(engine);
    await engine.close();
    const again = await documentEngine(await openSqliteStore({ file }));
    await expectAcknowledged(again);
    await again.close();
  });
}
