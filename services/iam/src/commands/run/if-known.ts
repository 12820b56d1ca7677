import { CommandError } from "./command-error.ts";

/** How long such a read may take. */
const LIMIT_MS = 5000;

/**
 * The answer to a read that only improves what a command says: undefined if it fails, or takes long. What the
 * command is for does not depend on it, so none of its errors may end the command.
 *
 * @param read ends when the signal aborts
 * @param failed is notified of the error
 */
export async function ifKnown<Answer>(
  read: (signal: AbortSignal) => Promise<Answer>,
  failed: (error: Error) => void = () => {},
): Promise<Answer | undefined> {
  const abort = new AbortController();
  const { signal } = abort;
  const late = new CommandError(`the server did not answer within ${LIMIT_MS / 1000} s`);
  const timer = setTimeout(() => abort.abort(late), LIMIT_MS);
  try {
    return await new Promise<Answer>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(late));
      read(signal).then(resolve, reject);
    });
  } catch (error) {
    failed(error as Error);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
