export * as MemoryStorage from "./MemoryStorage.ts"
