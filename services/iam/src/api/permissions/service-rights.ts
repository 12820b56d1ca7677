import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import { ALL_TYPES, NEVER_WRITTEN, type ServicesConfig } from "../../config/services-config.ts";

/** The lists of types that a service has. */
type TypeList = "read_types" | "write_types";

/** What one service may do. */
interface Rights {
  readonly read_types: ReadonlySet<string>;
  readonly write_types: ReadonlySet<string>;
  readonly mayExchangeTokens: boolean;
}

/**
 * What services may do with their internal tokens, by `iam.services` of the configuration. What is
 * not listed is refused; the message names the key to set.
 */
export class ServiceRights {
  readonly #services: ReadonlyMap<string, Rights>;

  constructor(services: ServicesConfig) {
    this.#services = new Map(
      Object.entries(services).map(([name, { read_types, write_types, may_exchange_tokens }]) => [
        name,
        {
          read_types: new Set(read_types),
          write_types: new Set(write_types),
          mayExchangeTokens: may_exchange_tokens,
        },
      ]),
    );
  }

  /** @throws ServiceError FORBIDDEN if the service has no entry */
  assertKnown(call: CallContext): void {
    this.#rightsOf(call);
  }

  /** @throws ServiceError FORBIDDEN unless the service reads a type */
  assertMayRead(type: string, call: CallContext): void {
    if (!reads(this.#rightsOf(call), type)) throw missing(call, "read_types", type);
  }

  /** @throws ServiceError FORBIDDEN if the service reads no type */
  assertReads(call: CallContext): void {
    if (this.#rightsOf(call).read_types.size > 0) return;
    const key = `iam.services.${nameOf(call)}.read_types`;
    throw forbidden(`${key} is empty: list there the types whose changes this service watches`);
  }

  /** @throws ServiceError FORBIDDEN unless the service reads all types */
  assertMayReadAll(call: CallContext): void {
    this.assertMayRead(ALL_TYPES, call);
  }

  /** @throws ServiceError FORBIDDEN unless the service writes a type */
  assertMayWrite(type: string, call: CallContext): void {
    const { write_types: types } = this.#rightsOf(call);
    // The configuration has none of them: a service cannot be allowed to.
    if (NEVER_WRITTEN.has(type)) {
      throw forbidden(
        `services never write relationships of ${type}: users do, with IAMAuthorizationService`,
      );
    }
    if (!types.has(type)) throw missing(call, "write_types", type);
  }

  /** Which types a service reads. */
  readTypes(call: CallContext): (type: string) => boolean {
    const rights = this.#rightsOf(call);
    return (type) => reads(rights, type);
  }

  /** Which types a service writes. */
  writeTypes(call: CallContext): (type: string) => boolean {
    const { write_types: types } = this.#rightsOf(call);
    return (type) => types.has(type);
  }

  /** @throws ServiceError FORBIDDEN unless the service exchanges and refreshes tokens of people */
  assertMayExchangeTokens(call: CallContext): void {
    if (this.#rightsOf(call).mayExchangeTokens) return;
    const key = `iam.services.${nameOf(call)}.may_exchange_tokens`;
    throw forbidden(`${key} is not true: set it if this service exchanges and refreshes tokens`);
  }

  #rightsOf(call: CallContext): Rights {
    const name = nameOf(call);
    const rights = this.#services.get(name);
    if (rights !== undefined) return rights;
    throw forbidden(
      `iam.services.${name} is missing: list there what this service reads and writes`,
    );
  }
}

function reads({ read_types: types }: Rights, type: string): boolean {
  return types.has(ALL_TYPES) || types.has(type);
}

/** The name that the configuration gives the service whose token the call has. */
function nameOf(call: CallContext): string {
  const { source, subjectId } = requirePrincipal(call);
  // No other caller reaches an INTERNAL RPC.
  if (source !== "internal") throw new ServiceError("FORBIDDEN", "the caller is not a service");
  return subjectId;
}

const MAX_SHOWN = 64;

function missing(call: CallContext, list: TypeList, type: string): ServiceError {
  const shown = type === ALL_TYPES ? '"*"' : type.slice(0, MAX_SHOWN);
  const key = `iam.services.${nameOf(call)}.${list}`;
  return forbidden(`${key} does not have ${shown}: add it if this service needs it`);
}

function forbidden(message: string): ServiceError {
  return new ServiceError("FORBIDDEN", message);
}
