/** Measures what messages take in memory; needs --expose-gc. */
import type { DescMethod } from "@bufbuild/protobuf";
import { jsonCodec } from "../../../../src/runtime/rpc/serve-call.ts";
import { binaryCodec } from "../../../../src/runtime/wire/message-codec.ts";
import { registry, WEIGHED, type WeighedMessage } from "./weighed-messages.ts";

/** What a message takes, and what it is taken to take, in bytes. */
export interface Measured {
  readonly name: string;
  readonly isUsual: boolean;
  readonly weighed: number;
  readonly taken: number;
}

/** So much is kept of each, that what the process itself does does not count. */
const LEAST_BYTES = 4_000_000;

const LIMITS = { maxBytes: 1e8, maxElements: 1e6, maxResponseBytes: 1e8 };

function measure({ name, type, data, isUsual }: WeighedMessage): Measured {
  const method = { input: type, output: type } as DescMethod;
  const isJson = typeof data === "string";
  const codec = isJson ? jsonCodec(method, registry, LIMITS) : binaryCodec(method, LIMITS);
  let weighed = 0;
  const decode = (): unknown => {
    weighed = 0;
    const bytes = isJson ? Buffer.from(data) : data.slice();
    return codec.decode(bytes, { take: (taken) => (weighed += taken) });
  };
  decode();
  const kept = new Array<unknown>(Math.ceil(LEAST_BYTES / weighed)).fill(undefined);
  const before = usedBytes();
  for (let index = 0; index < kept.length; index++) kept[index] = decode();
  const taken = Math.round((usedBytes() - before) / kept.length);
  return { name, isUsual, weighed, taken };
}

function usedBytes(): number {
  // Only the next collection shows what one frees of buffers.
  for (let times = 0; times < 3; times++) global.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

console.log(JSON.stringify(WEIGHED.map(measure)));
