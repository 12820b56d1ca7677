import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startIam } from "../../../services/iam/test/support/iam-service.ts";
import { openIamEngine } from "../../../services/iam/test/support/permissions.ts";
import type { SpicedbEngine } from "../../../src/authz/index.ts";
import { SCHEMA } from "./schema.ts";
import type { ContractTarget } from "./target.ts";

const IAM_MODEL = new URL("../../../model/iam.zed", import.meta.url).pathname;
const TOKEN = "the-internal-token-of-the-tester";

/**
 * The engine `iam` as a target of the contract: a whole svc-iam whose model contains that of the
 * contract, and a service that may write all types of the contract.
 *
 * @param start the engine of svc-iam, in its configuration
 */
export function iamTarget(
  name: string,
  differences: ContractTarget["differences"],
  start: () => Promise<{ authz?: Readonly<Record<string, unknown>>; stop(): Promise<void> }>,
): ContractTarget {
  return {
    name,
    differences,
    async open() {
      const folder = mkdtempSync(join(tmpdir(), "svc-iam-contract-"));
      const platform = join(folder, "platform.zed");
      const model = join(folder, "contract.zed");
      const own = SCHEMA.replace("definition user {}\n", "");
      const text = `${readFileSync(IAM_MODEL, "utf8")}\n${own}`;
      writeFileSync(platform, text);
      writeFileSync(model, SCHEMA);
      const backend = await start();
      const service = { read_types: ["*"], write_types: ["team", "folder", "document"] };
      const iam = await startIam({
        authz: { ...backend.authz, model: platform },
        authn: { internal_call: { enabled: true, token: [{ service: "tester", token: TOKEN }] } },
        iam: { services: { tester: service } },
      });
      const { engine: inner } = iam.options;
      if (inner?.kind === "spicedb") await (inner as SpicedbEngine).writeSchema(text);
      const openOther = () =>
        openIamEngine({ target: iam.grpcTarget, token: TOKEN, model, folder });
      const engine = await openOther();
      return {
        engine,
        openOther,
        async close() {
          await engine.close();
          await iam.stop();
          await backend.stop();
          rmSync(folder, { recursive: true });
        },
      };
    },
  };
}
