/** Calls of `CheckPermission`: many at once, and one at a time. */
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { CheckPermissionRequestSchema } from "../../services/iam/gen/svc/iam/v1/permission_pb.ts";
import type { CheckRequest } from "../../src/authz/engine/requests.ts";
import { loadGrpc } from "../grpc-load.ts";
import { atMost, median, note } from "../verdict.ts";
import { HUB_TOKEN } from "./iam-service.ts";
import { CHECK } from "./platform-relationships.ts";

/** The RPC, as a path. */
export const CHECK_RPC = "/svc.iam.v1.IAMPermissionService/CheckPermission";

/** In how many rounds latencies are compared, and how many calls of each side a round has. */
const LATENCY_ROUNDS = 101;
const LATENCY_CALLS = 100;
const WARM_UP_CALLS = 2_000;

const MESSAGE = checkMessage(CHECK);

const HEADERS = {
  ":method": "POST",
  ":scheme": "http",
  ":path": CHECK_RPC,
  ":authority": "localhost",
  "content-type": "application/grpc+proto",
  "grpc-timeout": "5S",
  "user-agent": "bench",
  te: "trailers",
  "x-svc-internal-token": HUB_TOKEN,
};

/** Makes checks, many at once: the same one, or others. @returns how many were answered */
export function loadChecks(
  port: number,
  milliseconds: number,
  messages: readonly Uint8Array[] = [MESSAGE],
): Promise<number> {
  return loadGrpc(port, { headers: HEADERS, messages }, milliseconds);
}

/** A check as svc-iam is asked for it. */
export function checkMessage(check: CheckRequest): Uint8Array {
  return toBinary(CheckPermissionRequestSchema, create(CheckPermissionRequestSchema, check));
}

/**
 * One call at a time, some of each in turn, so that a load from elsewhere falls on both. Not one of each in turn: what
 * a server does after its response would fall on the call of the other one.
 */
export async function compareLatencies(own: number, peer: number, limit: number): Promise<void> {
  const [ours, theirs] = [new Caller(own), new Caller(peer)];
  for (let call = 0; call < WARM_UP_CALLS; call++) {
    await ours.time();
    await theirs.time();
  }
  const rounds: { readonly own: number; readonly peer: number }[] = [];
  for (let round = 0; round < LATENCY_ROUNDS; round++) {
    // Who comes first changes.
    const first = round % 2 === 0 ? await medianOf(theirs) : undefined;
    const own = await medianOf(ours);
    rounds.push({ own, peer: first ?? (await medianOf(theirs)) });
  }
  ours.close();
  theirs.close();
  const ratio = median(rounds.map(({ own, peer }) => own / peer));
  atMost("p50 of CheckPermission / of a grpc-js call", ratio, limit);
  const microseconds = (pick: (round: (typeof rounds)[number]) => number) =>
    (1000 * median(rounds.map(pick))).toFixed(0);
  note(`  ${microseconds(({ own }) => own)} us, the peer ${microseconds(({ peer }) => peer)} us`);
}

async function medianOf(caller: Caller): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < LATENCY_CALLS; call++) times.push(await caller.time());
  return median(times);
}

class Caller {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    this.#metadata.set("x-svc-internal-token", HUB_TOKEN);
  }

  /** How long a call takes, in milliseconds. */
  async time(): Promise<number> {
    const start = performance.now();
    await this.#call();
    return performance.now() - start;
  }

  #call(): Promise<void> {
    const asIs = (bytes: Buffer) => bytes;
    return new Promise((resolve, reject) => {
      const message = Buffer.from(MESSAGE);
      this.#client.makeUnaryRequest(CHECK_RPC, asIs, asIs, message, this.#metadata, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}
