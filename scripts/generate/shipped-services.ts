import { readdirSync } from "node:fs";
import type { GenFile } from "@bufbuild/protobuf/codegenv2";

const FOLDER = new URL("../../src/gen/proto/svc/iam/v1/", import.meta.url);

/** The files of the IAM API, as `scripts/generate-code.ts` has generated them; each module exports its file. */
export async function readShippedFiles(): Promise<readonly GenFile[]> {
  const files: GenFile[] = [];
  for (const name of readdirSync(FOLDER).sort()) {
    if (!name.endsWith("_pb.ts")) continue;
    const exported = (await import(new URL(name, FOLDER).href)) as Record<string, unknown>;
    const file = exported[`file_svc_iam_v1_${name.slice(0, -"_pb.ts".length)}`];
    if (file === undefined) throw new Error(`${name} does not export its file`);
    files.push(file as GenFile);
  }
  return files;
}

/** The services of the protos that this package ships as data, so that programs need not load their descriptors. */
export function shippedServicesSource(files: readonly GenFile[]): string {
  const services = files.flatMap(({ services }) => services);
  const rpcs = Object.fromEntries(
    services
      .map(({ typeName, methods }) => [typeName, methods.map(({ name }) => name)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return `// Generated from proto/svc/iam/v1 by npm run generate. DO NOT EDIT.

/** The services whose protos this package ships, by their full names, each with its RPCs. */
export const SHIPPED_RPCS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(rpcs, undefined, 2)};

/** Their packages. */
export const SHIPPED_PACKAGES: readonly string[] = ${JSON.stringify(packagesOf(files))};
`;
}

function packagesOf(files: readonly GenFile[]): string[] {
  return [...new Set(files.map(({ proto }) => proto.package))].sort();
}
