import type { Call } from "../call/call.ts";
import { HeadersWithout } from "../call/headers-without.ts";
import { ServiceError } from "../error/service-error.ts";
import type { RuntimeEvents } from "../operation/runtime-events.ts";
import { decodeHeaderText, isPrintableAscii } from "./header-text.ts";
import type { IdentityHeaderNames } from "./identity-header-names.ts";

/** Longer values are no identity. */
const MAX_VALUE_LENGTH = 8192;

/** What the metadata stage needs. */
export interface IdentityHygieneOptions {
  readonly names: IdentityHeaderNames;
  /** The header of internal tokens, in lower case, where they are accepted: a secret speaks for itself, from any peer. */
  readonly internalHeader: string | undefined;
  readonly events: RuntimeEvents;
}

/**
 * The stage "metadata": identity headers are unambiguous or the call is refused,
 * whoever sent them; those of a peer that is not trusted are seen by nobody.
 */
export function identityHygieneStage(options: IdentityHygieneOptions): (call: Call) => void {
  const { names, internalHeader, events } = options;
  const hidden = new Set(names.names);
  if (internalHeader !== undefined) hidden.delete(internalHeader);

  return (call) => {
    const { headers } = call;
    let drop = false;
    for (const name of headers.names()) {
      const kind = names.kindOf(name);
      if (kind === "other") continue;
      if (kind === "variant") throw refused(name, "is another spelling of an identity header");
      checkValues(name, headers.all(name), kind === "display");
      drop ||= hidden.has(name);
    }
    checkConnection(headers.all("connection"), names);
    if (drop && !call.peerIsTrusted) {
      call.headers = new HeadersWithout(headers, hidden);
      events.identityHeadersDropped();
    }
  };
}

function checkValues(name: string, values: readonly string[], isDisplay: boolean): void {
  if (values.length !== 1) throw refused(name, "must occur once");
  const value = values[0] as string;
  if (value.length > MAX_VALUE_LENGTH) throw refused(name, "is too long");
  if (isPrintableAscii(value)) return;
  if (!isDisplay) throw refused(name, "must be printable ASCII");
  if (decodeHeaderText(value) === undefined) throw refused(name, "must be printable UTF-8");
}

/** A proxy on the way removes the headers that `Connection` names, also those that the gateway set (CVE-2024-45410). */
function checkConnection(values: readonly string[], names: IdentityHeaderNames): void {
  for (const value of values) {
    if (value === "keep-alive" || value === "close") continue;
    for (const option of value.split(",")) {
      if (names.means(option.trim())) {
        throw new ServiceError(
          "INVALID_ARGUMENT",
          "the Connection header names an identity header",
        );
      }
    }
  }
}

/** Names are known ones or spellings of them, so they are safe to show; values are not. */
function refused(name: string, why: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the header ${name} ${why}`);
}
