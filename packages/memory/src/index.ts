/**
 * Storage that is lost with the process.
 */
export * as MemoryStorage from "./MemoryStorage.ts"
