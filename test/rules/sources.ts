/** An RPC `Get`-like by its name, from `Request` to `Response`, with its options one a line. */
export function rpc(name: string, ...options: readonly string[]): string {
  return method(`${name}(Request) returns (Response)`, options);
}

/** An RPC `Stream`; each side is a message, or `stream` and a message. */
export function streamRpc(
  request: string,
  response: string,
  ...options: readonly string[]
): string {
  return method(`Stream(${request}) returns (${response})`, options);
}

function method(signature: string, options: readonly string[]): string {
  return `rpc ${signature} {\n${options.map((option) => `    ${option}\n`).join("")}  }\n`;
}

/** The annotation, as an aggregate of this content; `mark` stands where buf places the whole option. */
export function policy(content: string, mark = ""): string {
  return `option ${mark}(svc.access.v1.policy) = {${content}};`;
}

/** `google.api.http`, as an aggregate of this content; `mark` stands where buf places the whole option. */
export function http(content: string, mark = ""): string {
  return `option ${mark}(google.api.http) = {${content}};`;
}
