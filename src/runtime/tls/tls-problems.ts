import type { ServerConfig } from "../configuration/server-config.ts";
import { judgeTls } from "./judge-tls.ts";
import { readTlsFiles } from "./tls-files.ts";

/** What keeps the servers of a process from serving with the certificates of its configuration: all of it. */
export function tlsProblems({ http, grpc }: Pick<ServerConfig, "http" | "grpc">): string[] {
  const configured = [
    ["server.http.tls", http?.tls],
    ["server.grpc.tls", grpc?.tls],
  ] as const;
  return configured.flatMap(([at, tls]) =>
    tls === undefined ? [] : judgeTls(at, tls, readTlsFiles(at, tls)).problems,
  );
}
