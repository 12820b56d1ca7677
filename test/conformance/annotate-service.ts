/**
 * Adds our annotations to the service of the conformance suite: `node annotate-service.ts FILE`.
 * Everybody may call it; IdempotentUnary is bound to GET, which is what lets it be called by GET
 * in the Connect protocol, too.
 */
import { readFileSync, writeFileSync } from "node:fs";

const IMPORTS = ["google/api/annotations.proto", "svc/access/v1/policy.proto"];
const POLICY = "option (svc.access.v1.policy) = {exposure: PUBLIC};";
const BINDINGS: Readonly<Record<string, string>> = {
  IdempotentUnary: 'option (google.api.http) = {get: "/v1/idempotent-unary"};',
};

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("say which file: node annotate-service.ts FILE");
writeFileSync(file, annotated(readFileSync(file, "utf8")));

function annotated(source: string): string {
  let count = 0;
  const rpcs = /^( *)rpc (\w+)(\(.*\) returns \(.*\))(;| \{)$/gm;
  const bound = source.replace(rpcs, (_rpc, indent, name, types, end) => {
    count++;
    const options = [POLICY, BINDINGS[name] ?? ""].filter((option) => option !== "");
    const lines = options.map((option) => `${indent}  ${option}\n`).join("");
    // One that has options of its own keeps them.
    return `${indent}rpc ${name}${types} {\n${lines}${end === ";" ? `${indent}}` : ""}`;
  });
  // A new version of the suite may be written in another way.
  const all = [...source.matchAll(/^\s*rpc\s/gm)].length;
  if (count === 0 || count !== all) {
    throw new Error(`${file} has ${all} RPCs, and ${count} were annotated: adapt the expression`);
  }
  const imports = IMPORTS.map((path) => `import "${path}";\n`).join("");
  return bound.replace(/^import .*;\n/m, (first) => imports + first);
}
