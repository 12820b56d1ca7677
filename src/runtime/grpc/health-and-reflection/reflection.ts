import type { DescService } from "@bufbuild/protobuf";
import { type BuiltInLimits, CallQuota } from "./built-in-limits.ts";
import type { BuiltInExchange, BuiltInMethod, OngoingCall } from "./built-in-method.ts";
import { loadedOnce } from "./loaded-once.ts";
import type { ReflectionIndex } from "./reflection-index.ts";
import { ReflectionAnswers } from "./reflection-messages.ts";

/** Both versions have the same messages. */
const PATHS = [
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
] as const;

/**
 * Server reflection, of the bound services and the built-in ones. It does not use
 * `@grpc/reflection`, which decodes the descriptors with protobuf.js and encodes them again, so
 * that unknown options are lost, reads .proto files at run time, and takes long to load. The index
 * is created on the first request.
 */
export function reflectionMethods(
  services: readonly DescService[],
  limits: BuiltInLimits,
): readonly BuiltInMethod[] {
  const index = loadedOnce(async () => {
    const [{ ReflectionIndex }, { builtInServices }] = await Promise.all([
      import("./reflection-index.ts"),
      import("./built-in-services.ts"),
    ]);
    return new ReflectionIndex([...services, ...builtInServices()]);
  });
  const quota = new CallQuota({
    what: "reflection calls",
    most: limits.reflections,
    mostOfConnection: limits.reflectionsOfConnection,
    milliseconds: Math.min(limits.reflectionMs, limits.streamMs),
    silenceMs: limits.silenceMs,
  });
  const turns = new Turns(limits.answersAtOnce);
  return PATHS.map((path) => ({
    path,
    quota,
    serve: (exchange, call) => converse(exchange, call, turns, index),
  }));
}

/** One response to each request, in order. */
async function converse(
  exchange: BuiltInExchange,
  call: OngoingCall,
  turns: Turns,
  index: () => Promise<ReflectionIndex>,
): Promise<void> {
  const { signal } = call;
  const queries = exchange.reader().messages();
  let answers: ReflectionAnswers | undefined;
  let aborted: (reason: unknown) => void = () => undefined;
  signal.addEventListener("abort", () => aborted(signal.reason));
  for (;;) {
    const step = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      aborted = reject;
      if (signal.aborted) reject(signal.reason);
      else queries.next().then(resolve, reject);
    });
    if (step.done === true) break;
    call.received();
    answers ??= new ReflectionAnswers(await index());
    await turns.begin(signal);
    try {
      call.received();
      await exchange.send(answers.to(step.value), () => signal);
    } finally {
      turns.end();
    }
    call.received();
  }
  exchange.succeed();
}

/** Limits concurrent work; the others wait, in the order of arrival. */
class Turns {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Resolves when it is the caller's turn, which the caller must end.
   *
   * @throws the reason of a signal that aborts until then
   */
  async begin(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) {
      this.#taken++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.delete(begin);
        reject(signal.reason);
      };
      this.#waiting.add(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Ends a turn and begins the next one. */
  end(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next();
    }
    this.#taken--;
  }
}
