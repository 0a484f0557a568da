/**
 * The storage in PostgreSQL, on a server or embedded in the process. It implements every storage port of the core.
 */
export * as Inspection from "./Inspection.ts"
export * as Migrations from "./Migrations.ts"
export { OpenError } from "./OpenError.ts"
export * as PostgresClient from "./PostgresClient.ts"
export * as PostgresStorage from "./PostgresStorage.ts"
export * as Schema from "./Schema.ts"
