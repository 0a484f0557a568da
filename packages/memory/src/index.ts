/**
 * The storage in memory. It implements every storage port of the core; its data is lost when the process ends.
 */
export * as MemoryStorage from "./MemoryStorage.ts"
