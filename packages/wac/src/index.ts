/**
 * The service inside your own application: promises, a fetch handler and typed errors, without Effect.
 */
export * from "@wac/effect/promises"
