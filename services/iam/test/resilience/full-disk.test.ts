/**
 * The disk is full at each step of a creation or deletion: with a little more space each time, the next step fails.
 * What was acknowledged stays, what was refused can be repeated, and in the end nothing dangles.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { write } from "../rights/rights-engine.ts";
import { type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import { SYSTEM_TOKEN } from "./stopped-operations.ts";
import { testStops } from "./stops.ts";

const STEP = IS_THOROUGH ? 1 : 5;
/** More pages than any operation writes. */
const MOST_PAGES = 300;

const disk = mountSmallDisk(64);
afterAll(() => disk?.remove());
if (disk === undefined) test.skip("a full disk: only root can mount one", () => undefined);
else describe("a full disk", () => tests(disk));

function tests(disk: SmallDisk): void {
  let iam: IamService;
  beforeAll(async () => {
    writeFileSync(join(disk.folder, "encryption-key"), randomBytes(32).toString("base64"));
    iam = await startIam({
      folder: disk.folder,
      logLevel: "silent",

      authn: {
        internal_call: {
          enabled: true,
          token: [{ service: "hub", token: INTERNAL_TOKEN }],
          system_token: SYSTEM_TOKEN,
        },
      },
    });
    const { engine } = iam.options;
    await write(engine as NonNullable<typeof engine>, "zone:acme#owner@user:root");
  });
  afterAll(() => iam.stop());

  const stop = { begin: (pages: number) => disk.fill(pages), end: () => disk.free() };
  testStops(() => iam, stop, { step: STEP, most: MOST_PAGES });
}
