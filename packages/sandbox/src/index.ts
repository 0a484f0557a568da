/**
 * The provider that needs no account.
 */
export * as Behaviour from "./Behaviour.ts"
export * as SandboxProvider from "./SandboxProvider.ts"
