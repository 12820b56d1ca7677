/** Whether what is for development only must be refused (design.md, "Trust"). */
export function isProduction({ environment }: { readonly environment: string }): boolean {
  return environment === "production" || environment === "prod";
}
