/**
 * Judges a history of the service by the promises of its contract.
 */
export type { Broken } from "./Broken.ts"
export { check, type Verdict } from "./Check.ts"
export * as History from "./History.ts"
export { type ContractPromise, type PromiseName, promises } from "./Promises.ts"
