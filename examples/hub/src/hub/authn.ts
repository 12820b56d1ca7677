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
      const { subjectType, subjectId } = requirePrincipal(context);
      // A service may have the name of a user, and does not log in.
      if (subjectType !== "user") return {};
      const { items, nextPageToken } = page(request, { otherwise: 20, most: 100 }, (after, limit) =>
        // The newest are first, so those that are too old are at the end.
        logins
          .list({ parent: subjectId, after, limit })
          .filter(([, login]) => timeOf(login) >= since),
      );
      return { logins: items, nextPageToken };
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
      let purgedCount = 0n;
      store.transaction(() => {
        for (const [key, login] of logins.all()) {
          if (timeOf(login) < timestampMs(before) && logins.delete(key)) purgedCount++;
        }
      });
      return { purgedCount };
    },
  };
}

function timeOf({ loginTime }: Login): number {
  return loginTime === undefined ? 0 : timestampMs(loginTime);
}

/** The newest first: keys count down. The same login has the same key. */
function keyOf(login: Login): string {
  const digest = createHash("sha256").update(toBinary(LoginSchema, login)).digest("hex");
  return `${login.userId}/${Number.MAX_SAFE_INTEGER - timeOf(login)}/${digest.slice(0, 16)}`;
}
