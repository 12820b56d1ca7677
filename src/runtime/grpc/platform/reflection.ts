import type { DescService } from "@bufbuild/protobuf";
import type { ServiceError } from "../../error/service-error.ts";
import { shuttingDown } from "../../server/shutting-down.ts";
import type { GrpcExchange } from "../grpc-exchange.ts";
import type { PlatformMethod } from "./platform-method.ts";
import type { ReflectionIndex } from "./reflection-index.ts";
import { decodeQuery, encodeAnswer } from "./reflection-messages.ts";

/** Both versions have the same messages. */
const PATHS = [
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
] as const;

/**
 * Server reflection, of the services and of the platform's own. Not by `@grpc/reflection`: that one decodes the descriptors with
 * protobuf.js and encodes them again, by which options that it does not know are lost,
 * reads .proto files at run time, and takes long to load. The index is made when
 * somebody first asks.
 */
export function reflectionMethods(services: readonly DescService[]): readonly PlatformMethod[] {
  let index: Promise<ReflectionIndex> | undefined;
  const load = async () => {
    const [{ ReflectionIndex }, { platformServices }] = await Promise.all([
      import("./reflection-index.ts"),
      import("./platform-services.ts"),
    ]);
    return new ReflectionIndex([...services, ...platformServices()]);
  };
  return PATHS.map((path) => ({
    path,
    async serve(exchange, signal) {
      index ??= load();
      await converse(exchange, signal, await index);
    },
  }));
}

/** One answer to each query, in turn. */
async function converse(
  exchange: GrpcExchange,
  signal: AbortSignal,
  index: ReflectionIndex,
): Promise<void> {
  const queries = exchange.reader().messages();
  let drained: (error: ServiceError) => void = () => undefined;
  signal.addEventListener("abort", () => drained(shuttingDown()));
  for (;;) {
    const step = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      drained = reject;
      if (signal.aborted) reject(shuttingDown());
      else queries.next().then(resolve, reject);
    });
    if (step.done === true) break;
    const answer = encodeAnswer(step.value, decodeQuery(step.value), index);
    await exchange.send(answer, () => signal);
  }
  exchange.succeed();
}
