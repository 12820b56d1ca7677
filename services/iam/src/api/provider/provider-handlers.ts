import { ServiceError, StartUpError } from "svc-access/runtime";
import type { ProviderClient } from "../../../gen/svc/iam/v1/provider_pb.ts";
import type { IAMProviderServiceHandlers } from "../../../gen/svc/iam/v1/provider_server.ts";
import type { ProviderManagement } from "../../identity/provider-management.ts";
import type { ClientDeclaration } from "../../provider/embedded/client-declaration.ts";
import { changeMessage, clientMessage, declarationIn } from "./client-messages.ts";

/** The most clients, as in a configuration. */
const MOST = 1024;

/**
 * The handlers of IAMProviderService. Callers have the system token.
 *
 * @param ownId the id of the client that the service is itself
 */
export function providerHandlers(
  management: ProviderManagement,
  ownId: string,
): IAMProviderServiceHandlers {
  return {
    async listClients() {
      const sorted = management
        .clients()
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
      return { clients: sorted.map(clientMessage) };
    },

    async planClients({ clients }) {
      const changes = await management.plan(declarationsIn(clients, ownId));
      return { changes: changes.map(changeMessage) };
    },

    async applyClients({ clients }) {
      const declared = declarationsIn(clients, ownId);
      const changes = await management.apply(declared).catch((error: unknown) => {
        if (!(error instanceof StartUpError)) throw error;
        throw new ServiceError("FAILED_PRECONDITION", error.problems.join("; "), { cause: error });
      });
      return { changes: changes.map(changeMessage) };
    },

    async rotateSigningKey({ urgent: isUrgent }) {
      const rotation = await management.rotateSigningKey({ isUrgent });
      if (rotation.outcome === "rotated") {
        return { keyId: rotation.current, retiredKeyId: rotation.retired ?? "" };
      }
      const until = new Date(rotation.until).toISOString();
      throw new ServiceError(
        "FAILED_PRECONDITION",
        `the next key is not published long enough: repeat after ${until}, or set urgent if the current key is no longer secret`,
      );
    },
  };
}

/** @throws ServiceError INVALID_ARGUMENT for what a configuration could not have */
function declarationsIn(
  clients: readonly ProviderClient[],
  ownId: string,
): readonly ClientDeclaration[] {
  if (clients.length > MOST) {
    throw new ServiceError("INVALID_ARGUMENT", `there are at most ${MOST} clients`);
  }
  const declared = clients.map(declarationIn);
  const ids = new Set([ownId.toLowerCase()]);
  for (const [index, { id }] of declared.entries()) {
    if (ids.has(id)) {
      throw new ServiceError(
        "INVALID_ARGUMENT",
        `clients[${index}].id is that of another client: ${id}`,
      );
    }
    ids.add(id);
  }
  return declared;
}
