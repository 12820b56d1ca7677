import { PlatformError } from "./platform-error.ts";
import type { PlatformProcess } from "./platform-process.ts";
import { type Ports, refusedPort } from "./ports.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const LOOK_MS = 500;

/**
 * When the platform ends: at a signal, or when one of its processes has ended. Whatever is waited for
 * takes `signal`, so an end in the middle of the start ends that, too.
 */
export class Ending {
  readonly #controller = new AbortController();
  readonly #processes: PlatformProcess[] = [];

  /** Takes the signals of this process. npm sends SIGINT a second time, which changes nothing. */
  constructor() {
    for (const name of SIGNALS) process.on(name, () => this.#controller.abort(name));
    if (process.env["npm_lifecycle_event"] !== undefined) this.#endWithNpm(process.ppid);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What went wrong; undefined after a signal. */
  get problem(): PlatformError | undefined {
    const { reason } = this.#controller.signal;
    return reason instanceof PlatformError ? reason : undefined;
  }

  /** From now on the platform ends with this process, and the process with the platform. */
  watch(child: PlatformProcess, ports: Ports): void {
    this.#processes.push(child);
    void child.ended.then((how) => {
      const isForPerson = child.exitCode === 2;
      const port = isForPerson && child.refused ? refusedPort(ports, child.refused) : undefined;
      // What a person must fix has the same exit code here.
      this.#controller.abort(port ?? new PlatformError(how, isForPerson ? 2 : 1));
    });
  }

  /**
   * Waits until a watched process listens on its ports: before, another one may answer there, which
   * must get no secret.
   *
   * @throws the reason of the end, at the end
   */
  async untilListening(child: PlatformProcess): Promise<void> {
    await Promise.race([child.listening, this.begun()]);
    this.signal.throwIfAborted();
  }

  /** Resolves at the end. */
  async begun(): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise((resolve) => this.signal.addEventListener("abort", resolve, { once: true }));
  }

  /** A killed npm cannot send a signal. Nobody would end the platform, and its ports stay taken. */
  #endWithNpm(npm: number): void {
    const look = () => process.ppid !== npm && this.#controller.abort("SIGHUP");
    setInterval(look, LOOK_MS).unref();
  }

  /** Ends all processes. */
  async stopAll(): Promise<void> {
    await Promise.all(this.#processes.map((child) => child.stop()));
  }
}
