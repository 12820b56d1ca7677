/** A process that holds a store: `node child-store.ts TARGET hold|write|revoke`. */
import { writeSync } from "node:fs";
import { openTarget, remove, type StoreTarget, touch } from "./store-target.ts";

const print = (line: string | number) => writeSync(1, `${line}\n`);
const [, , target = "", mode] = process.argv;
try {
  const { user, ...where } = JSON.parse(target) as StoreTarget & { user?: number };
  if (user !== undefined) process.setuid?.(user);
  const store = await openTarget(where);
  print(`open ${store.sequence}`);
  if (mode === "revoke") {
    await store.commit([[remove("doc", "left")]]);
    print("revoked");
  }
  while (mode === "write") {
    const next = store.sequence + 1;
    const sequence = await store.commit([[touch(`w${next}`, "left"), touch(`w${next}`, "right")]]);
    print(sequence);
  }
  setInterval(() => undefined, 1000);
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  print(`error ${code} ${message}`);
}
