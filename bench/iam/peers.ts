/** What svc-iam is compared with, each a process of its own: its first argument names it. */
import { argon2, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import {
  CheckPermissionRequestSchema,
  type CheckPermissionResponse,
  CheckPermissionResponseSchema,
} from "../../services/iam/gen/svc/iam/v1/permission_pb.ts";
import type { PasswordHash } from "../../services/iam/src/people/accounts/passwords/hash-text.ts";
import { placeOf, userNameAt } from "./many-users.ts";

/** A response to repeat. */
export interface FixedResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Bare `node:http`, which sends the same bytes for each request. */
async function serveFixed({ headers, body }: FixedResponse): Promise<void> {
  const server = createServer((_, response) => {
    response.writeHead(200, headers);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.send?.((server.address() as AddressInfo).port);
}

/** A bare handler of grpc-js, which decodes each check, and allows it. */
async function serveChecks(path: string): Promise<void> {
  const server = new Server({ "grpc.enable_channelz": 0 });
  const revision = "MTplbWJlZGRlZDoxMDAwOjAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMA";
  const definition = {
    Check: {
      path,
      requestStream: false,
      responseStream: false,
      requestDeserialize: (bytes: Buffer) => fromBinary(CheckPermissionRequestSchema, bytes),
      responseSerialize: (value: CheckPermissionResponse) =>
        Buffer.from(toBinary(CheckPermissionResponseSchema, value)),
    },
  } as unknown as ServiceDefinition;
  server.addService(definition, {
    Check: (_: unknown, callback: (error: null, value: unknown) => void) =>
      callback(null, create(CheckPermissionResponseSchema, { allowed: true, revision })),
  });
  const credentials = ServerCredentials.createInsecure();
  server.bindAsync("127.0.0.1:0", credentials, (error, port) => {
    if (error !== null) throw error;
    process.send?.(port);
  });
}

/** A page of the users by the bare query, at places all over the table. */
function queryUsers(file: string, size: number, users: number): void {
  const database = new DatabaseSync(file, { readOnly: true });
  const page = database.prepare(
    `select * from iam_users where username_key > ? and deleted_time is null
      order by username_key limit ${size + 1}`,
  );
  process.on("message", (pages: number) => {
    for (let done = 0; done < pages; done++) {
      const rows = page.all(userNameAt(placeOf(done, users)));
      if (rows.length !== size + 1) throw new Error(`the page has ${rows.length} users`);
    }
    process.send?.("done");
  });
  process.send?.("ready");
}

/** As many hashes as are asked for, of argon2id alone; one for each processor at once. */
async function hashOnly(
  cost: PasswordHash["cost"] & { readonly length: number },
  message: string,
): Promise<void> {
  const derive = promisify(argon2);
  const { length: tagLength, ...parameters } = cost;
  process.on("message", async (hashes: number) => {
    let left = hashes;
    await Promise.all(
      Array.from({ length: availableParallelism() }, async () => {
        while (left-- > 0) {
          await derive("argon2id", { message, nonce: randomBytes(16), tagLength, ...parameters });
        }
      }),
    );
    process.send?.("done");
  });
  process.send?.("ready");
}

if (import.meta.main) {
  const [kind = "", ...values] = process.argv.slice(2);
  const [first, second, third] = values.map((value) => JSON.parse(value));
  if (kind === "node:http") await serveFixed(first);
  else if (kind === "grpc-js") await serveChecks(first);
  else if (kind === "node:sqlite") queryUsers(first, second, third);
  else await hashOnly(first, second);
}
