/**
 * A vault in a separate process whose code fails outside of its calls:
 * `node child-mishap.ts JSON`. The notice is an instruction to the handler.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readRouteDocument, runServer, secretFile } from "../../../../src/runtime/index.ts";
import { bindVaultService } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";
import { FIXTURE, vaultConfiguration } from "../../support/vault-server.ts";
import type { ChildOptions } from "./child.ts";

/** The options of a vault with faults. */
export interface MishapOptions extends ChildOptions {
  /** The fault before the server exists. */
  readonly atStart?: "hangs" | "rejects" | "lacks a secret";
  /** The fault when everything is closed. */
  readonly atEnd?: "hangs";
}

const SECRET = "password=hunter2";
const options = JSON.parse(process.argv[2] ?? "") as MishapOptions;
const { folder, security = {}, config = {} } = options;
const usual = vaultHandlers();
const routes = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));

const stray = () =>
  void Promise.reject(new Error(`a stray rejection, ${SECRET}\n::stop-commands::\u001b[2J`));

await runServer(async () => {
  console.log(JSON.stringify({ message: "loading" }));
  if (options.atStart === "rejects") stray();
  if (options.atStart === "lacks a secret") secretFile(join(folder, "no-token"));
  if (options.atStart !== undefined) await sleep(60_000);
  return {
    configuration: vaultConfiguration(folder, security, config),
    bindings: [
      bindVaultService({
        ...usual,
        async getNotice(request, context) {
          const [what, milliseconds] = request.noticeId.split("-");
          console.log(JSON.stringify({ message: `begun ${request.noticeId}` }));
          if (what === "reject") stray();
          if (what === "throw") {
            setTimeout(() => {
              throw new Error(`thrown in a timer, ${SECRET}`);
            });
          }
          // This blocks the whole process.
          if (what === "block") {
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(milliseconds));
          }
          if (what === "sleep") await sleep(Number(milliseconds));
          if (what === "never") await new Promise(() => undefined);
          return usual.getNotice(request, context);
        },
      }),
    ],
    ...("registry" in config ? { routes } : {}),
    after: [
      (call, next) => {
        if (call.headers.all("x-mishap").length > 0) stray();
        return next();
      },
    ],
    onClose: () => (options.atEnd === "hangs" ? new Promise(() => undefined) : undefined),
  };
});
