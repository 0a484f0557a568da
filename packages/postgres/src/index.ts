/**
 * Storage in PostgreSQL: on a server, or in the process.
 */
export * as Migrations from "./Migrations.ts"
export { OpenError } from "./OpenError.ts"
export * as PostgresStorage from "./PostgresStorage.ts"
