/**
 * A process in which several callers write through an engine, until it is killed a moment
 * later: `node child-engine.ts TARGET RUN`. It prints each acknowledgement at once.
 */
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import type { AuthzError } from "../../src/authz/engine/authz-error.ts";
import { createOf, documentEngine, touchOf } from "./document-engine.ts";
import { nested, viewer } from "./documents.ts";
import { CALLERS, updatesOf } from "./kill-load.ts";
import { openTarget, type StoreTarget } from "./store/store-target.ts";

const print = (line: string) => writeSync(1, `${line}\n`);
const [, , target = "", run = "0"] = process.argv;
const engine = await documentEngine(await openTarget(JSON.parse(target) as StoreTarget));
let isDoomed = false;
await Promise.all(Array.from({ length: CALLERS }, (_, caller) => write(caller)));

async function write(caller: number): Promise<void> {
  for (let number = 0; ; number++) {
    await engine.writeRelationships({ updates: updatesOf(run, caller, number) });
    print(`${caller} ${number}`);
    if (!isDoomed) killSoon();
    if (number % 3 === 0) await tryRefused(`refused-${run}-${caller}-${number}`, caller);
  }
}

/** Lets another process kill this one: that process is on time even if the test is busy. */
function killSoon(): void {
  isDoomed = true;
  const seconds = (0.02 + Math.random() * 0.1).toFixed(3);
  spawn("sh", ["-c", `sleep ${seconds}; kill -9 ${process.pid}`], { stdio: "ignore" });
}

/** Two writes that must be refused entirely: a CREATE of what exists, and a cycle. */
async function tryRefused(document: string, caller: number): Promise<void> {
  const exists = viewer("shared", "someone");
  await engine.writeRelationships({ updates: [touchOf(exists)] });
  await expectRefusal("ALREADY_EXISTS", [
    touchOf(viewer(document, "left")),
    createOf(exists),
    touchOf(viewer(document, "right")),
  ]);
  const groups = [`a${caller}`, `b${caller}`] as const;
  await expectRefusal("FAILED_PRECONDITION", [
    touchOf(viewer(document, "left")),
    touchOf(nested(groups[0], groups[1])),
    touchOf(nested(groups[1], groups[0])),
  ]);
}

async function expectRefusal(code: string, updates: ReturnType<typeof touchOf>[]): Promise<void> {
  const error = await engine.writeRelationships({ updates }).then(
    () => undefined,
    (error: AuthzError) => error,
  );
  if (error?.code !== code) print(`wrong ${code} ${error?.code} ${error?.message}`);
}
