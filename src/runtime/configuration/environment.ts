const FOR_DEVELOPMENT: ReadonlySet<string> = new Set(["development", "test"]);

/** Whether what is for development only is taken (design.md, "Trust"). */
export function isForDevelopment({ environment }: { readonly environment: string }): boolean {
  return FOR_DEVELOPMENT.has(environment);
}

/** Why something is refused outside development, as said after what it is. */
export function refusedIn({ environment }: { readonly environment: string }): string {
  return `refused in environment ${environment}: only development and test take it`;
}
