import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InstalledRepository } from "../../support/installed-repository.ts";
import { ROOT } from "../../support/workspace.ts";

const HEAD = `syntax = "proto3";
package acme.items.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
`;
const MESSAGES = `message CreateItemRequest { string text = 1; }
message CreateItemResponse { string item_id = 1; }
`;

test("docs/annotation.md shows how to write an RPC that creates objects without findings", () => {
  const text = readFileSync(join(ROOT, "docs/annotation.md"), "utf8");
  const part = text.slice(text.indexOf("### What does not exist yet"), text.indexOf("## audit"));
  const [, model = ""] = /^```text\n([\s\S]*?)^```$/m.exec(part) ?? [];
  const [, service = ""] = /^```protobuf\n([\s\S]*?)^```$/m.exec(part) ?? [];
  using repo = new InstalledRepository({
    "model.zed": `definition user {}\n\n${model}`,
    "proto/acme/items/v1/items.proto": `${HEAD}${service}${MESSAGES}`,
  });
  repo.must("svc-access", "init");
  repo.write("svc-access.yaml", "environment: development\nmodel: model.zed\n");
  const bufYaml = readFileSync(join(repo.folder, "buf.yaml"), "utf8");
  repo.write("buf.yaml", bufYaml.replace("- ACCESS\n", "- ACCESS\n    - ACCESS_RECOMMENDED\n"));
  expect(repo.run("buf", "lint")).toMatchObject({ status: 0, stdout: "" });
  const open = service
    .replace(/authz: \{[^}]*\{[^}]*\}[^}]*\}/, "")
    .replace("AUTHORIZED", "AUTHENTICATED");
  repo.write("proto/acme/items/v1/items.proto", `${HEAD}${open}${MESSAGES}`);
  expect(repo.run("buf", "lint").stdout).toContain(
    "on the parent if the object does not exist yet",
  );
  const meant = open.replace(
    "  rpc Create",
    "  // buf:lint:ignore ACCESS_AUTHZ_WRITE\n  rpc Create",
  );
  repo.write("proto/acme/items/v1/items.proto", `${HEAD}${meant}${MESSAGES}`);
  expect(repo.run("buf", "lint")).toMatchObject({ status: 0, stdout: "" });
});
