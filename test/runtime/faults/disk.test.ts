/** A full disk under load: audited writes are refused, other calls are served, and it recovers once there is space. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { shareDocument, startVault } from "../support/vault-server.ts";
import { eventsOfAll, expectAudited } from "./support/audited.ts";
import { Load } from "./support/load.ts";
import { until } from "./support/until.ts";

/** An intent may fit where its outcome does not, and vice versa. */
const MAYBE = { write: [200, 503], "internal write": [200, 503] };

const folder = mkdtempSync(join(tmpdir(), "svc-access-disk-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const disk = join(folder, "disk");
mkdirSync(disk);
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "none", disk]).status === 0;
if (mounted) afterAll(() => void execFileSync("umount", [disk]));

const name = "a full disk: audited writes are refused, and no acknowledged write is lost";
if (!mounted) test.skip(`${name}: only root can mount a file system`, () => undefined);
else {
  test(name, async () => {
    const file = join(disk, "vault.db");
    const vault = await startVault({ config: { database: { driver: "sqlite", file } } });
    await shareDocument(vault.engine);
    const load = new Load(vault);
    await load.phase("healthy");
    const filler = join(disk, "filler");
    for (const round of [1, 2]) {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize)));
      const refused = () => load.audited((status) => status === 503).length;
      const before = refused();
      await until("writes are refused", () => refused() > before + 20);
      await load.phase(`full ${round}`);
      rmSync(filler);
      await until("writes are stored", async () => {
        const stored = load.audited((status) => status === 200).length;
        await load.phase(`recovering ${round}`, 5);
        return load.audited((status) => status === 200).length > stored + 10;
      });
      await load.phase(`space ${round}`);
    }
    await load.stop();
    load.expectPhase("healthy");
    for (const round of [1, 2]) {
      load.expectPhase(`full ${round}`, MAYBE);
      expect(load.statuses(`full ${round}`, "write")).toContain(503);
      load.expectPhase(`space ${round}`);
    }
    load.expectNoWrongAnswer([503]);
    expectAudited(load, await eventsOfAll(load, vault.server));
    await vault.stop();
  });
}
