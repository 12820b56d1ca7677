import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import { type Login, LoginSchema } from "../../gen/hub/authn/v1/authn_pb.ts";
import type { AuthnServiceHandlers } from "../../gen/hub/authn/v1/authn_server.ts";
import { page } from "../pages.ts";
import type { Store } from "../store.ts";

/** The handlers of AuthnService: who calls, and the logins that the gateway service has seen. */
export function authnHandlers(store: Store): AuthnServiceHandlers {
  const logins = store.collection("login", LoginSchema);
  return {
    async listLoginProviders() {
      return {
        providers: [
          { providerId: "corporate", displayName: "Corporate account", loginPath: "/v1/authn/me" },
        ],
      };
    },

    async getMe(_request, context) {
      const { subjectId, username, name, email, organizationId } = requirePrincipal(context);
      return {
        me: { userId: subjectId, username, displayName: name, email, organizationId },
      };
    },

    async listMyLogins(request, context) {
      const since = request.since === undefined ? 0 : timestampMs(request.since);
      const { items, nextPageToken } = page(
        request,
        { otherwise: 20, most: 100 },
        (after, limit) =>
          logins
            .list({ parent: requirePrincipal(context).subjectId, after, limit })
            .filter(({ loginTime }) => loginTime !== undefined && timestampMs(loginTime) >= since),
        keyOf,
      );
      return { logins: [...items], nextPageToken };
    },

    async recordLogin({ login }) {
      if (login === undefined || login.userId === "") {
        throw new ServiceError("INVALID_ARGUMENT", "login.user_id is required");
      }
      const recorded = create(LoginSchema, {
        ...login,
        userAgent: login.userAgent.slice(0, 256),
        loginTime: login.loginTime ?? timestampNow(),
      });
      logins.put(keyOf(recorded), recorded, recorded.userId);
      return {};
    },

    async purgeLogins({ before }) {
      if (before === undefined) throw new ServiceError("INVALID_ARGUMENT", "before is required");
      let purged = 0n;
      for (const login of logins.list({ limit: 1_000_000 })) {
        if (login.loginTime === undefined || timestampMs(login.loginTime) >= timestampMs(before)) {
          continue;
        }
        if (logins.delete(keyOf(login))) purged++;
      }
      return { purgedCount: purged };
    },
  };
}

/** The newest first: keys count down. */
function keyOf(login: Login): string {
  const time = login.loginTime === undefined ? 0 : timestampMs(login.loginTime);
  const digest = createHash("sha256").update(toBinary(LoginSchema, login)).digest("hex");
  return `${login.userId}/${String(Number.MAX_SAFE_INTEGER - time)}/${digest.slice(0, 8)}`;
}
