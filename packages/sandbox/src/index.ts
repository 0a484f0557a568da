/**
 * The sandbox: a provider that simulates sends and replies and needs no account.
 */
export * as Behaviour from "./Behaviour.ts"
export * as SandboxProvider from "./SandboxProvider.ts"
